"""The judge without a model: supports, evidence, abstentions, odd input."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from judging_data import test_claims as labelled_test_claims
from sklearn.metrics import balanced_accuracy_score

from faithbot.judge.evidence import EvidenceJudge, nearest_passage, packaged_weights
from faithbot.judge.evidence_features import DIRECTIONS
from shared_examples import SHARED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faithbot.judge.protocol import Claim, Judgement

TENT = (
    "The Alpine Explorer Tent sleeps up to 8 people. It weighs 3.5 kg and comes with a two-year warranty. "
    "The warranty does not cover water damage."
)
RETURNS = "Orders can be returned within 30 days of delivery. Refunds take 5 business days. Shipping costs 20 dollars."
CONTEXTS = [TENT, RETURNS]


def judge(answer: str, contexts: Sequence[str] = CONTEXTS) -> Judgement:
    return asyncio.run(EvidenceJudge().judge("What about the tent?", answer, contexts))


def check(claim: str, contexts: Sequence[str] = CONTEXTS) -> Claim:
    return asyncio.run(EvidenceJudge().check(claim, contexts))


def only_claim(answer: str, contexts: Sequence[str] = CONTEXTS) -> Claim:
    (claim,) = judge(answer, contexts).claims
    return claim


@pytest.mark.parametrize(
    "claim",
    [
        "The Alpine Explorer Tent sleeps up to 8 people.",
        "The Alpine Explorer Tent sleeps up to eight people.",
        "It weighs 3500 g.",
        "You can return orders within 30 days of delivery.",
        "Water damage is not covered by the warranty.",
        "The warranty lasts 24 months.",
    ],
)
def test_what_a_passage_states_is_supported(claim: str) -> None:
    assert only_claim(claim).support == "supported"


@pytest.mark.parametrize(
    "claim",
    [
        "The Alpine Explorer Tent sleeps up to 6 people.",
        "It weighs 4.5 kg and comes with a two-year warranty.",
        "Orders can be returned within 60 days of delivery.",
        "The warranty covers water damage.",
        "Orders cannot be returned within 30 days of delivery.",
    ],
)
def test_another_number_or_polarity_is_contradicted(claim: str) -> None:
    assert only_claim(claim).support == "contradicted"


def test_an_opposite_is_contradicted() -> None:
    assert only_claim("Prices increased in 2020.", ["Prices decreased in 2020."]).support == "contradicted"


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("All guests pay the deposit by card.", "Some guests pay the deposit by card."),
        ("Staff must close the gate at dusk.", "Staff may close the gate at dusk."),
        ("The river always floods the lower meadow.", "The river sometimes floods the lower meadow."),
    ],
)
def test_a_word_that_claims_more_than_is_stated_is_contradicted_and_one_that_claims_less_is_not(
    claim: str, passage: str
) -> None:
    assert only_claim(claim, [passage]).support == "contradicted"
    assert only_claim(passage, [claim]).support == "supported"


@pytest.mark.parametrize(("name", "lowest"), [("dialfact_small", 0.66), ("q2", 0.64)])
def test_it_agrees_with_people_on_sets_that_it_was_not_fitted_on(name: str, lowest: float) -> None:
    claims = labelled_test_claims(SHARED.parent / "judging")[name]
    judged = [check(row.claim, row.contexts).support == "supported" for row in claims]
    assert balanced_accuracy_score([row.supported for row in claims], judged) > lowest


def test_more_coverage_never_lowers_the_probability() -> None:
    trees = packaged_weights().trees
    values = np.random.default_rng(1).random((300, len(DIRECTIONS)))
    for place, direction in enumerate(DIRECTIONS.values()):
        more = values.copy()
        more[:, place] = 1.0
        changes = [direction * (trees.probability(b) - trees.probability(a)) for a, b in zip(values, more, strict=True)]
        assert min(changes) > -0.001  # leaves are rounded


def test_a_sentence_is_better_evidence_than_the_heading_above_it() -> None:
    context = "## Refund of shipping costs\n\nShipping costs are part of every refund."
    claim = only_claim("The refund covers the shipping costs.", [context])
    assert claim.evidence is not None
    assert claim.evidence.quote == "Shipping costs are part of every refund."


@pytest.mark.parametrize("claim", ["The tent is made in Portugal by hand.", "Napoleon lost the battle of Waterloo."])
def test_what_no_passage_states_is_not_found(claim: str) -> None:
    assert only_claim(claim).support == "not_found"


def test_faithfulness_is_the_supported_share_of_the_claims() -> None:
    judgement = judge(
        "Sure! The Alpine Explorer Tent sleeps up to 8 people. Napoleon Bonaparte designed it. I hope this helps!"
    )
    assert [claim.support for claim in judgement.claims] == ["supported", "not_found"]
    assert judgement.faithfulness == 0.5


@pytest.mark.parametrize(("minutes", "support"), [(9, "supported"), (17, "contradicted")])
def test_numbers_between_its_words_do_not_hide_that_a_claim_is_a_passage_word_for_word(
    minutes: int, support: str
) -> None:
    passage = "Boil for {} minutes a medium egg, 12 minutes a large egg, and 15 minutes an extra-large egg."
    contexts = [passage.format(9), "Wait 17 minutes before you open the shop."]
    assert only_claim(passage.format(minutes), contexts).support == support


def test_a_sum_of_stated_numbers_is_no_other_number() -> None:
    context = ["The tent costs 200 dollars. Shipping of the tent costs 20 dollars."]
    assert only_claim("The tent with shipping costs 220 dollars.", context).support == "supported"
    assert only_claim("The tent with shipping costs 240 dollars.", context).support != "supported"


def test_evidence_is_the_nearest_passage_word_for_word() -> None:
    claim = only_claim("The refunds take 5 business days.")
    assert claim.evidence is not None
    assert claim.evidence.context == 1
    assert claim.evidence.quote == "Refunds take 5 business days."
    assert RETURNS[claim.evidence.start : claim.evidence.end] == claim.evidence.quote


def test_evidence_spans_two_sentences_where_a_claim_needs_both() -> None:
    found = nearest_passage("The Alpine Explorer Tent weighs 3.5 kg and has a warranty.", CONTEXTS)
    assert found is not None
    evidence, coverage = found
    assert evidence.quote == TENT[: TENT.index(" The warranty")]
    assert 0.8 < coverage <= 1


def test_without_overlap_there_is_no_nearest_passage() -> None:
    assert nearest_passage("Napoleon lost Waterloo.", CONTEXTS) is None
    assert nearest_passage("The tent weighs 3.5 kg.", []) is None
    assert check("Napoleon lost Waterloo.", CONTEXTS).probability == 0


@pytest.mark.parametrize("contexts", [[], [""], ["\n\n"]])
def test_an_invented_answer_without_contexts_scores_zero(contexts: list[str]) -> None:
    judgement = judge("The tent weighs 3 kg. It sleeps four.", contexts)
    assert [claim.support for claim in judgement.claims] == ["not_found", "not_found"]
    assert judgement.faithfulness == 0.0
    assert all(claim.evidence is None for claim in judgement.claims)


@pytest.mark.parametrize("contexts", [[], CONTEXTS])
def test_a_refusal_abstains_whatever_the_contexts(contexts: list[str]) -> None:
    judgement = judge("I'm sorry, the documents do not say. Can I help with anything else?", contexts)
    assert judgement.abstained
    assert judgement.claims == ()
    assert judgement.faithfulness is None
    assert judgement.unscored is None


def test_a_partial_refusal_is_judged_on_what_it_states() -> None:
    judgement = judge("I do not know the colour, but the Alpine Explorer Tent sleeps up to 8 people.")
    assert not judgement.abstained
    assert [claim.text for claim in judgement.claims] == ["The Alpine Explorer Tent sleeps up to 8 people."]
    assert judgement.faithfulness == 1.0


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("", "the answer is empty"),
        (" \n\t", "the answer is empty"),
        ("Sure! I hope this helps.", "the answer states no fact"),
        ("Would you like to know more?", "the answer states no fact"),
        ("🎉", "the answer states no fact"),
    ],
)
def test_what_states_nothing_is_unscored_with_its_reason(answer: str, reason: str) -> None:
    judgement = judge(answer)
    assert judgement.unscored == reason
    assert judgement.faithfulness is None
    assert not judgement.abstained


def test_unspaced_scripts_are_judged_by_character_pairs() -> None:
    context = ["阿尔卑斯帐篷可容纳八人。保修期为2年，不包括水损坏。"]
    judgement = judge("保修期为2年。帐篷由拿破仑设计于巴黎。", context)
    assert [claim.support for claim in judgement.claims] == ["supported", "not_found"]
    assert only_claim("保修期为3年。", context).support == "contradicted"


def test_right_to_left_text_and_control_characters_are_judged() -> None:
    assert only_claim("الخيمة تتسع لثمانية أشخاص.", ["الخيمة تتسع لثمانية أشخاص."]).support == "supported"
    assert only_claim("The Alpine\x00 Explorer\u200b Tent sleeps up to 8 people.").support == "supported"


@settings(deadline=None, max_examples=60)
@given(st.text(max_size=400), st.lists(st.text(max_size=400), max_size=3))
def test_any_answer_over_any_contexts_gives_a_judgement_with_true_quotes(answer: str, contexts: list[str]) -> None:
    judgement = judge(answer, contexts)
    assert (judgement.faithfulness is None) == (judgement.abstained or judgement.unscored is not None)
    for claim in judgement.claims:
        assert claim.support is not None
        assert claim.probability is not None
        assert 0 <= claim.probability <= 1
        if claim.evidence is not None:
            evidence = claim.evidence
            assert contexts[evidence.context][evidence.start : evidence.end] == evidence.quote


def test_a_megabyte_of_contexts_is_searched_in_seconds() -> None:
    context = " ".join(f"Part {number} of the tent weighs {number} grams." for number in range(30_000))
    assert len(context) > 1_000_000
    began = time.process_time()
    judgement = judge("The Alpine Explorer Tent sleeps up to 8 people. Part 777 weighs 777 grams.", [context, TENT])
    assert time.process_time() - began < 10
    assert [claim.support for claim in judgement.claims] == ["supported", "supported"]


def test_all_claims_of_a_long_answer_are_judged() -> None:
    judgement = judge("The Alpine Explorer Tent sleeps up to 8 people. " * 417)
    assert len(judgement.claims) == 417
    assert judgement.faithfulness == 1.0


def test_the_fingerprint_names_the_method_and_its_weights_but_no_model() -> None:
    fingerprint = asyncio.run(EvidenceJudge().fingerprint())
    assert fingerprint.method == "evidence"
    assert fingerprint.model is None
    assert fingerprint == asyncio.run(EvidenceJudge().fingerprint())
    assert fingerprint.version
