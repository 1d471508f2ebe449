"""Supports by a model: read from the first token where it is told, and from a constrained reply where it is not."""

from __future__ import annotations

import asyncio
import json
import math
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithbot.errors import CallError
from faithbot.judge.claim_support import BARE_LABEL, SupportAsker, label_probabilities, parse_supports
from faithbot.judge.prompts import Prompts
from faithbot.models.kept import KeptReplies
from faithbot.models.protocol import TokenLogprob
from scripted_model import ScriptedModel

if TYPE_CHECKING:
    from pathlib import Path

    from faithbot.judge.windows import SupportProbabilities

CONTEXTS = ["Returns are accepted within 30 days of delivery.", "The stove burns gas."]
CLAIM = "The stove burns gas."


def token(alternatives: dict[str, float]) -> TokenLogprob:
    logprobs = {text: math.log(probability) for text, probability in alternatives.items()}
    first = next(iter(logprobs))
    return TokenLogprob(token=first, logprob=logprobs[first], alternatives=logprobs)


def ask(*replies: str | Exception | dict[str, float]) -> tuple[str, float]:
    model = ScriptedModel(replies)
    found = asyncio.run(SupportAsker(model, Prompts()).ask(CLAIM, CONTEXTS))
    asyncio.run(model.aclose())
    return found.support, found.supported


def test_one_token_decides_by_its_probabilities() -> None:
    assert ask({"supported": 0.6, "contradicted": 0.1, "unknown": 0.3}) == ("supported", pytest.approx(0.6))


@pytest.mark.parametrize(
    ("alternatives", "supported"),
    [
        ({"supp": 0.2, " Supported": 0.2, '"s': 0.2, "contr": 0.3, "unk": 0.1}, 0.6),  # spellings count together
        ({"supported": 0.3, "un": 0.05, "contra": 0.05, "The": 0.6}, 0.75),  # other words are no label
        ({"supported": 0.9, "The": 0.05}, 0.9),  # what is not told is at most as likely as the last that is
        ({"unknown": 0.5, "Supposedly": 0.4, "c": 0.3, "s": 0.2}, 0.2),  # a word that only begins alike
    ],
)
def test_spellings_of_a_label_count_together(alternatives: dict[str, float], supported: float) -> None:
    found = label_probabilities(token(alternatives))
    assert found is not None
    assert found.supported == pytest.approx(supported)
    assert sum(found) == pytest.approx(1)


def test_without_the_beginning_of_a_label_the_model_is_held_to_one() -> None:
    assert ask({"The": 0.9, "Yes": 0.1}, '{"1": "contradicted"}') == ("contradicted", pytest.approx(0.115))


@pytest.mark.parametrize("first", ["supported", CallError("this server has no logprobs")])
def test_without_probabilities_the_model_is_held_to_a_label(first: str | Exception) -> None:
    assert ask(first, '{"1": "supported"}') == ("supported", BARE_LABEL)


def test_a_backend_without_probabilities_is_asked_for_them_once() -> None:
    model = ScriptedModel(["supported", '{"1": "supported"}', '{"1": "unknown"}'])
    asker = SupportAsker(model, Prompts())
    asyncio.run(asker.ask("The stove burns gas.", CONTEXTS))
    assert asyncio.run(asker.ask("The stove is red.", CONTEXTS)).support == "not_found"


def test_a_reply_without_any_support_is_an_error() -> None:
    with pytest.raises(CallError, match="holds no support"):
        ask({"The": 1.0}, "I would rather not say.")


def test_what_a_prompt_holds_depends_on_contexts_and_claim_alone() -> None:
    """So that every answer, run, side and pull request that makes the claim shares the call."""
    model = ScriptedModel([{"supported": 1.0}] * 2)
    for _ in range(2):
        asyncio.run(SupportAsker(model, Prompts()).ask(CLAIM, CONTEXTS))
    assert model.requests[0] == model.requests[1]
    assert model.requests[0].options.max_tokens == 1


def test_contexts_come_first_and_the_claim_last() -> None:
    model = ScriptedModel([{"supported": 1.0}] * 2)
    asker = SupportAsker(model, Prompts())
    for claim in ("Ants are red.", "Bees are blue."):
        asyncio.run(asker.ask(claim, CONTEXTS))
    first, second = (request.messages[0].content for request in model.requests)
    shared = next(i for i, (a, b) in enumerate(zip(first, second, strict=False)) if a != b)
    assert first[shared:].startswith("Ants")
    assert len(first) - shared < 200
    assert all(context in first[:shared] for context in CONTEXTS)


def test_a_claim_that_one_call_for_all_answered_is_never_asked_again(tmp_path: Path) -> None:
    """In other company, by another process: the cache of calls would not know it."""
    model = ScriptedModel(['{"1": "supported", "2": "unknown"}', '{"1": "contradicted"}'])

    def ask_all(*claims: str) -> dict[int, SupportProbabilities]:
        return asyncio.run(SupportAsker(model, Prompts(), KeptReplies(tmp_path)).ask_all(claims, CONTEXTS))

    ask_all("A is red.", "B is blue.")
    found = ask_all("B is blue.", "C is green.", "A is red.")
    assert [found[number].support for number in (1, 2, 3)] == ["not_found", "contradicted", "supported"]
    assert model.requests[1].messages[0].content.count("<claim number=") == 1


@pytest.mark.parametrize(
    ("reply", "supports"),
    [
        ('{"1": "supported", "2": "unknown"}', {1: "supported", 2: "not_found"}),
        ('{"2": "unknown", "1": "supported"}', {1: "supported", 2: "not_found"}),
        ('{"verdicts": {"1": "Supported", "2": "NOT_FOUND"}}', {1: "supported", 2: "not_found"}),
        ('{"2": "contradicted"}', {2: "contradicted"}),  # fewer than claims: none shifts
        ('{"0": "supported", "3": "supported", "1": "unknown"}', {1: "not_found"}),  # more than claims: none shifts
        ('{"1": "unknown"} or rather {"1": "supported"}', {1: "supported"}),
        ('{"1": "supported", "2": "unkn', {1: "supported"}),  # cut off
        ('{"1": "maybe"}', {}),
        ("1. Yes, supported. 2. unknown", {}),
    ],
)
def test_supports_belong_to_the_number_of_their_claim(reply: str, supports: dict[int, str]) -> None:
    assert parse_supports(reply, 2) == supports


words = st.sampled_from(["supported", "contradicted", "unknown"])


@given(st.dictionaries(st.integers(1, 30), words), st.text(alphabet="{}[]:,\n abc"))
def test_what_stands_around_the_supports_changes_nothing(given_words: dict[int, str], around: str) -> None:
    found = parse_supports(around + json.dumps(given_words) + around, 30)
    assert found == {number: word.replace("unknown", "not_found") for number, word in given_words.items()}


@given(st.text(), st.integers(0, 5))
def test_any_reply_can_be_read(reply: str, n_claims: int) -> None:
    assert set(parse_supports(reply, n_claims)) <= set(range(1, n_claims + 1))


@given(st.dictionaries(st.text(min_size=1), st.floats(-30, 0), min_size=1))
def test_probabilities_sum_to_one(logprobs: dict[str, float]) -> None:
    first = next(iter(logprobs))
    found = label_probabilities(TokenLogprob(token=first, logprob=logprobs[first], alternatives=logprobs))
    assert found is None or sum(found) == pytest.approx(1)
