"""Numbers are compared by code: by value, whatever their form, and never by a model alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithbot.judge.number_guard import LIKELIHOOD_RATIOS, check_numbers, weigh_numbers

CONTEXTS = [
    "Returns are accepted within 30 days of delivery.",
    "The lease costs 1,000 dollars a month, 30 % less than last year. The drive takes 2 h. "
    "The basic fee is 40 dollars and the service fee is 25 dollars.",
]


@pytest.mark.parametrize(
    ("claim", "numbers"),
    [
        ("Returns are accepted within 30 days.", "agree"),
        ("Returns are accepted within thirty days.", "agree"),
        ("The lease costs 1000 dollars a month.", "agree"),
        ("The lease costs one thousand dollars a month.", "agree"),
        ("The drive takes 120 minutes.", "agree"),
        ("The lease is less by a share of 0.3 than last year.", "agree"),
        ("The basic fee and the service fee are 65 dollars together.", "agree"),
        ("Returns are accepted within 60 days of delivery.", "conflict"),
        ("The lease costs 1,200 dollars a month.", "conflict"),
        ("It is open to 14 members.", "missing"),
        ("Zebras: 7.", "missing"),
        ("Returns are accepted.", None),
    ],
)
def test_numbers_agree_by_value(claim: str, numbers: str | None) -> None:
    assert check_numbers(claim, CONTEXTS) == numbers


@pytest.mark.parametrize(
    ("claim", "numbers"),
    [
        ("The warranty lasts 5 years.", "conflict"),
        ("It lasts five years.", "conflict"),
        ("The warranty is 60 months.", "conflict"),
        ("The warranty of the Trail stove lasts 24 months.", "agree"),
        ("The warranty lasts 5 kilometres.", "missing"),
        ("Batteries charge within 5 years.", "missing"),
    ],
)
def test_a_short_claim_conflicts_where_all_but_its_number_is_the_passage_s(claim: str, numbers: str) -> None:
    assert check_numbers(claim, ["The warranty of the Trail stove lasts 2 years."]) == numbers


def test_without_passages_no_number_is_stated() -> None:
    assert check_numbers("It takes 5 days.", []) == "missing"


@given(st.floats(0, 1))
def test_the_comparison_moves_the_probability_to_its_side(supported: float) -> None:
    assert weigh_numbers(supported, None) == supported
    agree, missing, conflict = (weigh_numbers(supported, check) for check in LIKELIHOOD_RATIOS)
    assert 0 <= conflict <= missing <= supported <= agree <= 1


def test_the_odds_are_multiplied() -> None:
    assert weigh_numbers(0.5, "missing") == pytest.approx(0.18 / 1.18)
