"""What one passage denies and another states: a claim is contradicted only where no passage as near says the same."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from faithbot.judge.evidence import EvidenceJudge

if TYPE_CHECKING:
    from faithbot.judge.protocol import Claim

DEDUCTIBLE = [
    "For in-network services: the calendar year deductible for in-network services is $1,500 for individuals.",
    "For out-of-network services: the plan does not have a calendar year deductible for out-of-network services.",
]
COINSURANCE = [
    "Coinsurance may apply to all services, including hospitalization, emergency room visits and preventive care.",
    "However, coinsurance does not apply to some services, such as preventive care services.",
]
DEER = [
    "White tails, as the name implies, don't have a black tip on the tail. The top of the tail is of the same color "
    "as the rest of the body.",
    "Mule deer have a black tip on the tail and this is quite noticeable against the white rump patch.",
]
WASHING = [
    "The sleeping bag can be machine washed on a gentle cycle.",
    "Do not machine wash the rain jacket, and do not dry clean it.",
]


def check(claim: str, contexts: list[str]) -> Claim:
    return asyncio.run(EvidenceJudge().check(claim, contexts))


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize(
    ("claim", "contexts", "quoted"),
    [
        ("The policy for out-of-network services does not have a calendar year deductible.", DEDUCTIBLE, "does not"),
        ("However, coinsurance does not apply to preventive care services.", COINSURANCE, "does not"),
        ("Mule deer have a black-tipped tail, and the rest of the body has the same color.", DEER, "Mule deer have"),
        ("Fire damage is not covered.", ["Covered is fire damage.", "Not covered: fire damage."], "Not"),
    ],
)
def test_a_claim_is_supported_by_the_passage_that_agrees_with_it_not_denied_by_one_about_something_else(
    claim: str, contexts: list[str], quoted: str, order: int
) -> None:
    found = check(claim, contexts[::order])
    assert found.support == "supported"
    assert found.evidence is not None
    assert quoted in found.evidence.quote


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize(
    ("claim", "contexts"),
    [
        ("The calendar year deductible for in-network services is not $1,500 for individuals.", DEDUCTIBLE),
        ("The sleeping bag can not be machine washed on a gentle cycle.", WASHING),
        ("Machine wash the rain jacket and dry clean it.", WASHING),
        # A passage that agrees, but about something else: it lacks the word that matters.
        (
            "The warranty of the Trail tent covers accidental water damage.",
            [
                "The warranty of the Trail tent does not cover accidental water damage.",
                "The warranty of the Trail tent covers accidental fire damage.",
            ],
        ),
        (
            "Members do not pay a late fee of 20 dollars.",
            ["Members pay a late fee of 20 dollars.", "Members do not pay a late fee of 5 dollars."],
        ),
    ],
)
def test_what_no_passage_as_near_agrees_with_stays_contradicted(claim: str, contexts: list[str], order: int) -> None:
    assert check(claim, contexts[::order]).support == "contradicted"
