"""Which claims became unsupported: by meaning, over all runs, with their nearest passage."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithbot.claim_changes import find_claim_changes
from faithbot.judge.protocol import Claim, Evidence, Judgement
from records import answered, claim, questions, record

if TYPE_CHECKING:
    from random import Random

    from faithbot.claim_changes import ClaimChanges
    from faithbot.judge.protocol import Support
    from faithbot.results import AnswerRecord

GOOD = claim("Returns are accepted within 30 days.")
INVENTED = claim("Returns are accepted within 60 days.", "contradicted")
PASSAGE = "Returns are accepted within 30 days of delivery."
OTHER = "The stove burns gas and weighs two kilograms."


def runs(
    *judgements: Judgement, contexts: tuple[str, ...] = (PASSAGE, OTHER), key: str | None = None
) -> list[AnswerRecord]:
    return [
        record("q", run, judgement, contexts=contexts, key=key) for run, judgement in enumerate(judgements, start=1)
    ]


def changes(base: list[AnswerRecord], head: list[AnswerRecord]) -> ClaimChanges:
    return find_claim_changes(questions("q"), base, head)


def test_a_claim_that_only_head_makes_is_news() -> None:
    found = changes(runs(answered(GOOD), answered(GOOD)), runs(answered(INVENTED), answered(GOOD, INVENTED)))
    (change,) = found.newly_unsupported
    assert (change.claim, change.support) == ("Returns are accepted within 60 days.", "contradicted")
    assert (change.head_runs, change.base_runs) == (2, 0)
    assert change.evidence == PASSAGE
    assert change.source is not None
    assert (change.source.document, change.source.start, change.source.retrieved) == ("docs/a.md", 0, "both")
    assert found.no_longer_unsupported == ()


def test_rewording_is_not_news() -> None:
    reworded = claim("You can return products; returns are accepted for 60 days.", "contradicted")
    said = claim("Returns of products are accepted for 60 days.", "contradicted")
    assert changes(runs(answered(reworded)), runs(answered(said))).newly_unsupported == ()


def test_another_number_is_news() -> None:
    other = claim("Returns are accepted within 90 days.", "contradicted")
    assert len(changes(runs(answered(INVENTED)), runs(answered(other))).newly_unsupported) == 1


def test_a_claim_that_loses_its_passage_is_news_and_shows_what_base_had() -> None:
    unsupported = claim(GOOD.text, "not_found")
    found = changes(runs(answered(GOOD)), runs(answered(unsupported), contexts=(OTHER,)))
    (change,) = found.newly_unsupported
    assert change.evidence == PASSAGE
    assert change.source is not None
    assert change.source.retrieved == "base"


def test_a_passage_counts_as_retrieved_whatever_chunk_it_is_in() -> None:
    longer = f"{OTHER} {PASSAGE}"
    found = changes(runs(answered(GOOD)), runs(answered(INVENTED), contexts=(longer,)))
    source = found.newly_unsupported[0].source
    assert source is not None
    assert source.retrieved == "both"
    assert source.start == len(OTHER) + 1


def test_a_claim_of_one_head_run_of_two_is_no_news_by_itself() -> None:
    rare = claim("The tent has 12 doors.", "not_found")
    found = changes(runs(answered(GOOD), answered(GOOD)), runs(answered(rare, INVENTED), answered(INVENTED)))
    assert [change.claim for change in found.newly_unsupported] == [INVENTED.text]
    assert [(change.claim, change.head_runs, change.base_runs) for change in found.sporadic] == [(rare.text, 1, 0)]


def test_where_head_is_known_to_be_worse_claims_of_some_runs_are_what_it_is_worse_by() -> None:
    base, head = runs(answered(GOOD), answered(GOOD)), runs(answered(INVENTED), answered(GOOD))
    found = find_claim_changes(questions("q"), base, head, got_worse=True)
    assert [(change.claim, change.head_runs) for change in found.newly_unsupported] == [(INVENTED.text, 1)]
    assert found.sporadic == ()
    fixed = find_claim_changes(questions("q"), head, base, got_worse=True)
    assert (fixed.newly_unsupported, len(fixed.sporadic)) == ((), 1)


def test_claims_of_some_runs_are_news_where_there_are_more_of_them_than_chance_gives() -> None:
    """A prompt that makes the model invent something else in each run."""
    things = ("tent", "lamp", "stove", "boot", "rope", "knife")
    others = [claim(f"The {thing} weighs {i} kg.", "not_found") for i, thing in enumerate(things, start=1)]
    found = changes(runs(answered(GOOD), answered(GOOD)), runs(answered(INVENTED, *others), answered(INVENTED)))
    assert [change.head_runs for change in found.newly_unsupported] == [2, 1, 1, 1, 1, 1, 1]
    as_noisy = changes(runs(answered(GOOD, *others), answered(GOOD)), runs(answered(INVENTED, *others), answered(GOOD)))
    assert as_noisy.newly_unsupported == ()
    assert [change.claim for change in as_noisy.sporadic] == [INVENTED.text]


def on_each(n: int, judgements: list[Judgement]) -> list[AnswerRecord]:
    return [record(f"q{i}", run, said) for i in range(n) for run, said in enumerate(judgements, start=1)]


def test_a_claim_that_base_made_in_fewer_runs_is_counted() -> None:
    found = changes(runs(answered(GOOD), answered(INVENTED)), runs(answered(INVENTED), answered(INVENTED)))
    assert found.newly_unsupported == ()
    assert [(change.claim, change.head_runs, change.base_runs) for change in found.sporadic] == [(INVENTED.text, 2, 1)]


def test_claims_of_more_runs_than_on_base_are_news_where_chance_would_not_give_so_many() -> None:
    """Five questions that all say it more often: 1/32; four: 1/16. They follow what base never said."""
    fewer, more = [answered(GOOD), answered(INVENTED)], [answered(INVENTED), answered(INVENTED)]
    four = find_claim_changes(questions(*(f"q{i}" for i in range(4))), on_each(4, fewer), on_each(4, more))
    assert (four.newly_unsupported, len(four.sporadic)) == ((), 4)
    other = [record("q5", run, answered(GOOD)) for run in (1, 2)]
    invented = [record("q5", run, answered(INVENTED)) for run in (1, 2)]
    identifiers = questions(*(f"q{i}" for i in range(6)))
    found = find_claim_changes(identifiers, [*on_each(5, fewer), *other], [*on_each(5, more), *invented])
    assert [(change.head_runs, change.base_runs) for change in found.newly_unsupported] == [(2, 0)] + [(2, 1)] * 5
    assert found.expected_by_chance == pytest.approx(5 / 12)  # none became rarer; five claims of base flicker
    fixed = find_claim_changes(identifiers, [*on_each(5, more), *invented], [*on_each(5, fewer), *other])
    assert (fixed.newly_unsupported, len(fixed.no_longer_unsupported)) == ((), 6)


def test_many_claims_of_one_question_are_one_sign_only() -> None:
    """An answer that base gave in one run of two brings all its claims along."""
    many = answered(*(claim(f"The {thing} weighs 4 kg.", "not_found") for thing in ("tent", "lamp", "stove", "boot")))
    found = changes(runs(answered(GOOD), many), runs(many, many))
    assert (found.newly_unsupported, len(found.sporadic)) == ((), 4)


def test_the_only_judged_run_of_two_does_not_speak_for_every_run() -> None:
    good, invented = [answered(GOOD), answered(GOOD)], [answered(INVENTED), Judgement(unscored="unreadable")]
    found = changes(runs(*good), runs(*invented))
    assert found.newly_unsupported == ()
    assert [change.claim for change in found.sporadic] == [INVENTED.text]
    assert changes(runs(*invented), runs(*good)).no_longer_unsupported == ()
    assert len(changes(runs(answered(GOOD)), runs(answered(INVENTED))).newly_unsupported) == 1


def test_a_question_that_one_side_could_not_answer_or_judge_has_no_news() -> None:
    failed = [record("q", 1, None)]
    assert changes(failed, runs(answered(INVENTED))).newly_unsupported == ()
    assert changes(runs(answered(INVENTED)), failed).no_longer_unsupported == ()


def test_contradicted_claims_and_other_questions_come_before_more_of_the_same() -> None:
    def three(question: str) -> list[AnswerRecord]:
        invented = [
            claim("The moon is made of cheese.", "not_found"),
            claim("Returns are accepted within 90 days.", "not_found"),
            claim("Returns are accepted within 60 days.", "contradicted"),
        ]
        return [record(question, 1, answered(*invented), contexts=[PASSAGE])]

    base = [record(question, 1, answered(GOOD), contexts=[PASSAGE]) for question in ("a", "b")]
    found = find_claim_changes(questions("a", "b"), base, [*three("a"), *three("b")])
    assert [(change.question_id, change.claim.split()[-2]) for change in found.newly_unsupported] == [
        ("a", "60"),
        ("b", "60"),
        ("a", "90"),
        ("b", "90"),
        ("a", "of"),
        ("b", "of"),
    ]


def test_wrong_numbers_come_before_filler_however_often_it_is_said() -> None:
    """Contradicted; another number than the passage; a number that it lacks; the same number; none."""
    always = (claim("A tent is a common thing to return.", "not_found"), claim("Returns need 1 form.", "not_found"))
    once = (
        claim("Returns are welcome within 30 days.", "not_found"),
        claim("Returns are accepted within 60 days.", "not_found"),
        claim("Returns are never accepted.", "contradicted"),
    )
    head = runs(answered(*always, *once), answered(*always), contexts=(PASSAGE,))
    base = runs(answered(GOOD), answered(GOOD), contexts=(PASSAGE,))
    found = find_claim_changes(questions("q"), base, head, got_worse=True)
    assert [change.claim for change in found.newly_unsupported] == [
        "Returns are never accepted.",
        "Returns are accepted within 60 days.",
        "Returns need 1 form.",
        "Returns are welcome within 30 days.",
        "A tent is a common thing to return.",
    ]


def test_a_fixed_claim_is_listed_apart() -> None:
    found = changes(runs(answered(INVENTED)), runs(answered(GOOD)))
    assert found.newly_unsupported == ()
    assert [(change.base_runs, change.head_abstained) for change in found.no_longer_unsupported] == [(1, False)]


def test_a_claim_that_vanished_with_the_answer_says_so() -> None:
    found = changes(runs(answered(INVENTED)), runs(Judgement(abstained=True)))
    assert found.no_longer_unsupported[0].head_abstained


def test_without_any_passage_there_is_no_evidence() -> None:
    found = changes(runs(answered(GOOD), contexts=()), runs(answered(INVENTED), contexts=()))
    assert (found.newly_unsupported[0].evidence, found.newly_unsupported[0].source) == (None, None)


def test_an_unchanged_question_has_no_news() -> None:
    found = changes(runs(answered(GOOD), key="k"), runs(answered(INVENTED), key="k"))
    assert (found.newly_unsupported, found.sporadic, found.expected_by_chance) == ((), (), 0.0)


@pytest.mark.parametrize(
    ("base", "head", "expected"),
    [
        ([GOOD, GOOD], [INVENTED, INVENTED], 0),
        ([INVENTED, GOOD], [GOOD, GOOD], 1 / 12),  # it flickers: a twelfth of such claims fall on both head runs alone
        ([INVENTED, INVENTED], [GOOD, GOOD], 0),  # what all runs of base say is no accident of a run
        ([INVENTED, GOOD, GOOD], [GOOD, GOOD, GOOD], 1 / (3 * 20) / 1.5),
        ([INVENTED], [GOOD], None),
    ],
)
def test_what_chance_alone_would_give_is_told_by_what_some_runs_of_base_say(
    base: list, head: list, expected: float | None
) -> None:
    found = changes(runs(*map(answered, base)), runs(*map(answered, head)))
    assert found.expected_by_chance == (None if expected is None else pytest.approx(expected))


POOL = [claim(f"The tent weighs {weight} kg.", "not_found") for weight in range(1, 5)]
a_side = st.lists(st.sets(st.sampled_from(range(len(POOL)))), min_size=1, max_size=3)


def one_sided(found: ClaimChanges) -> tuple[set[str], set[str], set[tuple[str, int, int]]]:
    new, gone = (
        {change.claim for change in listed} for listed in (found.newly_unsupported, found.no_longer_unsupported)
    )
    return new, gone, {(change.claim, change.head_runs, change.base_runs) for change in found.sporadic}


@given(a_side, a_side, st.randoms())
def test_swapped_sides_swap_the_lists_and_the_order_of_runs_changes_nothing(
    base: list[set[int]], head: list[set[int]], random: Random
) -> None:
    one, other = ([answered(GOOD, *(POOL[i] for i in sorted(said))) for said in side] for side in (base, head))
    new, gone, sporadic = one_sided(changes(runs(*one), runs(*other)))
    swapped = one_sided(changes(runs(*other), runs(*one)))
    assert swapped == (gone, new, {(claim, base_runs, head_runs) for claim, head_runs, base_runs in sporadic})
    random.shuffle(one)
    random.shuffle(other)
    assert one_sided(changes(runs(*one), runs(*other))) == (new, gone, sporadic)


# Why a claim lost its support


def grounded(text: str, passage: str, support: Support = "supported") -> Claim:
    """A claim with its evidence, the whole of the first passage."""
    evidence = Evidence(context=0, start=0, end=len(passage), quote=passage)
    return Claim(text=text, support=support, evidence=evidence)


SAID = "Tents may come back."
"""Shares no word with the passage that supports it: only the judge's evidence knows."""


@pytest.mark.parametrize(
    ("base", "head", "head_contexts", "reason"),
    [
        (grounded(SAID, PASSAGE), claim(SAID, "not_found"), (OTHER,), "retrieval"),
        (grounded(SAID, PASSAGE), claim(SAID, "not_found"), (OTHER, PASSAGE), "generation"),
        (claim(OTHER), claim("Returns are accepted within 60 days.", "contradicted"), (OTHER,), "retrieval"),
        (claim(OTHER), claim("Returns are accepted within 60 days.", "contradicted"), (PASSAGE,), "generation"),
        (claim(OTHER), claim("Lamps last 40 hours.", "not_found"), ("Lamps last 30 hours.",), "new_passage"),
        (claim(OTHER), claim("Unicorns sleep at noon.", "not_found"), (PASSAGE,), "no_passage"),
        (claim(OTHER), claim("Whales, comets and two unicorns burn.", "not_found"), (PASSAGE, OTHER), "no_passage"),
    ],
)
def test_a_claim_says_why_it_lost_its_support(
    base: Claim, head: Claim, head_contexts: tuple[str, ...], reason: str
) -> None:
    found = changes(runs(answered(base)), runs(answered(head), contexts=head_contexts))
    assert [change.reason for change in found.newly_unsupported] == [reason]


def test_the_passage_that_supported_a_claim_on_base_is_shown() -> None:
    found = changes(
        runs(answered(grounded(SAID, PASSAGE))), runs(answered(claim(SAID, "not_found")), contexts=(OTHER,))
    )
    (change,) = found.newly_unsupported
    assert change.evidence == PASSAGE
    assert change.source is not None
    assert (change.source.document, change.source.retrieved) == ("docs/a.md", "base")


def test_a_claim_that_is_gone_needs_no_reason() -> None:
    assert changes(runs(answered(INVENTED)), runs(answered(GOOD))).no_longer_unsupported[0].reason is None
