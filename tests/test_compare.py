"""From recorded sides to a verdict."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from faithbot.compare import Grading, compare, questions_to_ask_again
from faithbot.judge.protocol import STATES_NO_FACT, Judgement
from faithbot.report import wording
from faithbot.results import ResultWarning
from faithbot.run_plan import RunPlan
from records import ABSTAINED, FINGERPRINT, UNREADABLE, USAGE, questions, scored, side

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from faithbot.golden import Question
    from faithbot.results import AnswerRecord, Results, Side, SideName

IDS = [f"q{number}" for number in range(12)]


def verdict_of(
    base: Side | None,
    head: Side,
    *,
    gate: Mapping[str, float] | None = None,
    asked: tuple[Question, ...] = questions(*IDS),
    **fields: Any,
) -> Results:
    grading = Grading(
        questions=asked,
        gate=gate or {"faithfulness": 0.0},
        min_coverage=0.9,
        fingerprint=fields.pop("fingerprint", FINGERPRINT),
        floors=fields.pop("floors", {}),
        plan=fields.pop("plan", None),
    )
    sides = {"head": head} if base is None else {"base": base, "head": head}
    return compare(grading, sides, changes=(), usage=USAGE, **({"runs": 2} | fields))


def rows(*values: float) -> dict[str, Sequence[Judgement | None]]:
    """The same scores for every question, one a run."""
    return {name: [scored(value) for value in values] for name in IDS}


def noisy(level: float) -> dict[str, Sequence[Judgement | None]]:
    """Scores around ``level`` that differ between the runs."""
    return {
        name: [scored(level + (0.1 if number % 2 else 0.0)), scored(level + (0.0 if number % 2 else 0.1))]
        for number, name in enumerate(IDS)
    }


def test_a_drop_beyond_the_noise_is_a_regression() -> None:
    results = verdict_of(side("base", noisy(0.8)), side("head", noisy(0.5)))
    metric = results.metrics["faithfulness"]
    assert results.verdict == "regression"
    assert results.reason == "Worse by more than the noise of measuring: faithfulness."
    assert metric.delta == pytest.approx(-0.3)
    assert (metric.base, metric.head) == (pytest.approx(0.85), pytest.approx(0.55))
    assert metric.flagged
    assert metric.noise_band is not None
    assert 0 < metric.noise_band < 0.1
    assert metric.n_questions == 12


def test_the_same_scores_in_another_order_pass() -> None:
    swapped = {name: list(reversed(row)) for name, row in noisy(0.8).items()}
    results = verdict_of(side("base", noisy(0.8)), side("head", swapped))
    assert results.verdict == "pass"
    assert results.metrics["faithfulness"].delta == pytest.approx(0)
    assert not results.metrics["faithfulness"].improved


def test_a_rise_beyond_the_noise_passes_and_is_named() -> None:
    results = verdict_of(side("base", noisy(0.5)), side("head", noisy(0.8)))
    assert results.verdict == "pass"
    assert results.metrics["faithfulness"].improved


def test_a_drop_smaller_than_min_effect_passes() -> None:
    results = verdict_of(side("base", noisy(0.8)), side("head", noisy(0.5)), gate={"faithfulness": 0.31})
    assert results.verdict == "pass"


def test_equal_requests_are_known_to_be_unchanged() -> None:
    results = verdict_of(side("base", noisy(0.8), key="k"), side("head", noisy(0.8), key="k"))
    metric = results.metrics["faithfulness"]
    assert (results.verdict, results.reason) == ("pass", "Nothing that the answers depend on changed.")
    assert (metric.delta, metric.noise_band, metric.p_value, metric.n_unchanged) == (0, 0, 1, 12)
    assert results.newly_unsupported == ()


def test_without_a_base_it_is_the_first_evaluation() -> None:
    results = verdict_of(None, side("head", noisy(0.8)))
    metric = results.metrics["faithfulness"]
    assert results.verdict == "first"
    assert (metric.base, metric.delta, metric.p_value) == (None, None, None)
    assert metric.head == pytest.approx(0.85)
    assert metric.noise_band is not None
    assert metric.noise_band > 0
    assert list(results.sides) == ["head"]


@pytest.mark.parametrize(("n", "is_told"), [(5, True), (6, False)])
def test_that_there_are_too_few_questions_is_told_at_the_first_evaluation(n: int, is_told: bool) -> None:
    few = {name: [scored(0.9), scored(0.9)] for name in IDS[:n]}
    results = verdict_of(None, side("head", few), asked=questions(*IDS[:n]))
    told = [warning.message for warning in results.warnings if warning.code == "few_questions"]
    assert results.verdict == "first"
    assert bool(told) == is_told
    assert not told or told[0].startswith("5 questions: pull requests that change the answers will be inconclusive.")


def test_too_few_judged_questions_cannot_tell() -> None:
    head = noisy(0.8) | {name: [UNREADABLE, UNREADABLE] for name in IDS[:2]}
    results = verdict_of(side("base", noisy(0.8)), side("head", head))
    assert results.verdict == "inconclusive"
    assert results.reason == (
        "2 of 12 questions could not be scored (the judge's reply holds no label): a verdict takes 11 that are"
    )


def test_a_side_by_side_of_equal_requests_passes_whatever_could_be_scored() -> None:
    judgements = noisy(0.8) | {name: [UNREADABLE, UNREADABLE] for name in IDS[:6]}
    results = verdict_of(side("base", judgements, key="k"), side("head", judgements, key="k"))
    assert (results.verdict, results.reason) == ("pass", "Nothing that the answers depend on changed.")


def test_answers_that_state_no_fact_are_no_failure_of_judging() -> None:
    nothing = Judgement(unscored=STATES_NO_FACT)
    base = noisy(0.8) | {name: [nothing, nothing] for name in IDS[:4]}
    results = verdict_of(side("base", base), side("head", noisy(0.8)))
    assert results.verdict == "pass"
    assert (results.metrics["faithfulness"].n_questions, results.metrics["faithfulness"].n_either) == (8, 12)
    assert results.metrics["unsupported_per_answer"].n_questions == 12


def test_a_failed_base_is_never_a_pass() -> None:
    base = {name: [None, None] for name in IDS}
    results = verdict_of(side("base", base), side("head", noisy(0.8)))
    assert results.verdict == "inconclusive"
    assert results.metrics["faithfulness"].delta is None


def test_one_scored_run_of_a_question_is_enough() -> None:
    head = noisy(0.8) | {name: [scored(0.8), None] for name in IDS[:4]}
    results = verdict_of(side("base", noisy(0.8)), side("head", head))
    assert results.verdict == "pass"
    assert results.metrics["faithfulness"].n_questions == 12


def test_abstentions_count_as_judged_and_are_shown() -> None:
    head = noisy(0.8) | {name: [ABSTAINED, ABSTAINED] for name in IDS[:3]}
    results = verdict_of(side("base", noisy(0.8)), side("head", head))
    assert results.verdict == "pass"
    assert results.metrics["faithfulness"].n_questions == 9
    assert results.metrics["abstention_rate"].delta == pytest.approx(0.25)
    assert [warning.code for warning in results.warnings] == ["more_abstentions", "answered_on_one_side"]
    assert wording.headline(results).endswith("but 3 more questions are not answered")
    assert not any("questions are not answered" in note.message for note in wording.notes(results)), "said twice"


def test_a_side_that_abstains_from_most_questions_cannot_be_compared() -> None:
    head = {name: [ABSTAINED, ABSTAINED] for name in IDS[:7]} | {name: noisy(0.8)[name] for name in IDS[7:]}
    results = verdict_of(side("base", noisy(0.8)), side("head", head))
    assert results.verdict == "inconclusive"
    assert results.reason == (
        "Only 5 of 12 questions have a score for faithfulness on both sides: the others are answered on one side only."
    )
    assert "answered_on_one_side" in [warning.code for warning in results.warnings]
    assert "answered_on_one_side" not in [note.code for note in wording.notes(results)], "said twice"


@pytest.mark.parametrize(
    ("n", "level", "reason"),
    [
        (1, 0.0, "1 question could be compared in faithfulness, and a verdict takes 6: add 5 questions or more."),
        (5, 0.0, "5 questions could be compared in faithfulness, and a verdict takes 6: "
                 "add 1 question to see a drop of 0.10."),
        (5, 0.4, "5 questions could be compared in faithfulness, and a verdict takes 6: "
                 "add 53 questions to see a drop of 0.10."),
    ],
)  # fmt: skip
def test_fewer_than_six_questions_cannot_tell_and_say_how_many_it_takes(n: int, level: float, reason: str) -> None:
    """However large the drop. Runs that are 0.4 apart let 5 questions show a drop of 0.34, and 58 one of 0.10."""
    base = {name: [scored(1.0), scored(1.0 - level if level else 0.9)] for name in IDS[:n]}
    head = {name: [scored(0.0), scored(level)] for name in IDS[:n]}
    results = verdict_of(side("base", base), side("head", head), asked=questions(*IDS[:n]))
    assert (results.verdict, results.reason) == ("inconclusive", reason)


def test_few_changed_questions_among_unchanged_ones_pass_with_a_warning() -> None:
    """A temperature of zero and a change that touches three questions: the report says that it was blind."""
    same = side("base", rows(0.8, 0.8), key="k")
    head = [
        record.model_copy(update={"request_key": "other", "judgement": scored(0.5)})
        if record.question_id in IDS[:3]
        else record
        for record in side("head", rows(0.8, 0.8), key="k").answers
    ]
    results = verdict_of(same, same.model_copy(update={"name": "head", "answers": tuple(head)}))
    assert results.verdict == "pass"
    assert [warning.code for warning in results.warnings] == ["blind", "no_noise_measured"]


def test_nothing_but_abstentions_cannot_be_compared() -> None:
    results = verdict_of(side("base", noisy(0.8)), side("head", {name: [ABSTAINED, ABSTAINED] for name in IDS}))
    assert results.verdict == "inconclusive"
    assert results.reason == "No question has a score for faithfulness on both sides, so there is nothing to compare."


def test_only_head_fails_is_a_warning_that_names_the_question() -> None:
    results = verdict_of(side("base", noisy(0.8)), side("head", noisy(0.8) | {"q3": [None, None]}))
    assert [(warning.code, warning.message) for warning in results.warnings] == [
        ("head_failed", "Only this pull request fails on “What is q3?”: the system crashed"),
        (
            "answered_on_one_side",
            "Only 11 of 12 questions have a score for faithfulness on both sides; the others are not in its mean.",
        ),
    ]


def test_a_question_that_crashes_in_some_runs_of_head_only_is_named_too() -> None:
    head = noisy(0.8) | {"q3": [scored(0.8), None]}
    results = verdict_of(side("base", noisy(0.8)), side("head", head))
    assert [warning.message for warning in results.warnings] == [
        "Only this pull request fails in 1 of 2 runs on “What is q3?”: the system crashed"
    ]
    both = verdict_of(side("base", noisy(0.8) | {"q3": [None, scored(0.8)]}), side("head", head))
    assert both.warnings == ()


def failing_alike(**of_head: list[Judgement | None]) -> list[ResultWarning]:
    results = verdict_of(side("base", noisy(0.8)), side("head", noisy(0.8) | of_head))
    return [warning for warning in results.warnings if warning.code == "head_failed"]


def test_questions_that_fail_for_the_same_reason_are_one_warning() -> None:
    unread = Judgement(unscored="The reply could not be read.")
    both, other = failing_alike(q3=[None, None], q5=[unread, unread], q7=[None, None])
    assert both.message == ("2 questions fail on this pull request only: the system crashed (first: “What is q3?”)")
    assert both.question_ids == ("q3", "q7")
    assert other.message == "Only this pull request fails on “What is q5?”: The reply could not be read."
    assert other.question_ids == ("q5",)


def test_of_questions_that_fail_alike_those_that_fail_in_some_runs_are_counted() -> None:
    (warning,) = failing_alike(q3=[None, None], q5=[scored(0.8), None])
    assert warning.message.startswith("2 questions fail on this pull request only, 1 of them in some runs: the system")


def test_the_same_reason_in_another_row_is_the_same() -> None:
    rows = {
        f"q{n}": [Judgement(unscored=f"one.jsonl (head), line {n}: no answer is recorded")] * 2 for n in range(3, 6)
    }
    (warning,) = failing_alike(**rows)
    assert warning.message == (
        "3 questions fail on this pull request only: one.jsonl (head), line 3: no answer is recorded "
        "(first: “What is q3?”)"
    )


def test_a_question_that_only_head_fails_on_is_named_before_anything_else() -> None:
    notice = ResultWarning(code="behind_base", message="This pull request lacks 2 commits of main.")
    head = side("head", noisy(0.8) | {"q3": [None, None]})
    results = verdict_of(side("base", noisy(0.8)), head, notices=[notice])
    assert [warning.code for warning in results.warnings[:2]] == ["head_failed", "behind_base"]


def test_runs_that_differ_much_are_a_warning() -> None:
    """Of 12 questions, each with runs that are 0.4 apart: a run's mean has a standard deviation of 0.08."""
    results = verdict_of(side("base", rows(0.8, 0.4)), side("head", rows(0.6, 0.6)))
    assert [warning.code for warning in results.warnings] == ["too_noisy"]
    assert results.warnings[0].message.startswith(
        "Two runs of the same side differ in faithfulness by 0.09 (base) on average: too noisy"
    )


def test_runs_that_differ_much_are_a_warning_beside_a_flag_too() -> None:
    results = verdict_of(side("base", rows(1.0, 0.6)), side("head", rows(0.1, 0.1)))
    assert results.verdict == "regression"
    assert "too_noisy" in [warning.code for warning in results.warnings]


def test_a_count_has_no_scale_to_be_too_noisy_on() -> None:
    results = verdict_of(
        side("base", rows(0.8, 0.4)), side("head", rows(0.6, 0.6)), gate={"unsupported_per_answer": 0.0}
    )
    assert results.warnings == ()


def test_runs_that_came_out_identical_are_a_warning() -> None:
    results = verdict_of(side("base", rows(0.8, 0.8)), side("head", rows(0.7, 0.7)))
    assert [warning.code for warning in results.warnings] == ["no_noise_measured"]
    assert results.metrics["faithfulness"].method == "sign-flip"
    assert results.verdict == "regression"


@pytest.mark.parametrize(
    ("model", "digest", "is_told"),
    [
        ("test/model", "d0", True),
        ("test/renamed", "d0", True),
        ("test/model", None, True),
        ("test/model", "d1", False),
        ("test/other", None, False),
        (None, None, False),
    ],
)
def test_a_judge_that_wrote_the_answers_is_a_warning(model: str | None, digest: str | None, is_told: bool) -> None:
    """The same weights, or the same name where it is not known which weights it stands for."""
    judge = FINGERPRINT.model_copy(update={"method": "label", "model": model, "model_digest": digest})
    results = verdict_of(side("base", noisy(0.8)), side("head", noisy(0.8)), fingerprint=judge)
    assert ("self_judging" in [warning.code for warning in results.warnings]) == is_told


@pytest.mark.parametrize(("on_base", "warned"), [(0, True), (1, True), (2, False), (3, False)])
def test_citations_of_what_was_not_given_are_a_warning_where_head_has_more(on_base: int, warned: bool) -> None:
    sides = [citing(side("base", noisy(0.8)), on_base), citing(side("head", noisy(0.8)), 2)]
    messages = [warning.message for warning in verdict_of(*sides).warnings if warning.code == "fabricated_citations"]
    told = f"{on_base} of 24 (base) and 2 of 24 (this PR), such as “doc7” on “What is {IDS[0]}?”."
    assert messages == ([f"Answers cite passages that they were not given: {told}"] if warned else [])


def test_further_metrics_that_got_no_score_are_counted_with_the_commonest_reason() -> None:
    base, head = side("base", noisy(0.8)), side("head", noisy(0.8))
    reasons = ["the reply was cut off", "no grade", "no grade"]
    failed = [
        answer.model_copy(update={"not_measured": {"answer_relevance": reason}})
        for answer, reason in zip(head.answers, reasons, strict=False)
    ]
    head = head.model_copy(update={"answers": (*failed, *head.answers[3:])})
    assert [(warning.code, warning.message) for warning in verdict_of(base, head).warnings] == [
        ("not_measured", "No answer relevance for 3 of 48 answers: no grade.")
    ]


def test_a_gated_metric_without_references_says_what_it_takes() -> None:
    results = verdict_of(side("base", noisy(0.8)), side("head", noisy(0.8)), gate={"context_recall": 0.0})
    assert (results.verdict, results.reason) == (
        "inconclusive",
        "No question has a score for context recall: it takes questions with `reference`.",
    )


def citing(whole: Side, number: int) -> Side:
    """The side with as many answers that cite what was not given."""
    answers = list(whole.answers)
    for index in range(number):
        judgement = answers[index].judgement
        assert judgement is not None
        answers[index] = answers[index].model_copy(
            update={"judgement": judgement.model_copy(update={"fabricated_citations": ("doc7",)})}
        )
    return whole.model_copy(update={"answers": tuple(answers)})


def test_answers_that_were_cut_off_are_a_warning() -> None:
    head = side("head", noisy(0.8))
    cut = head.answers[0].model_copy(update={"is_cut": True})
    results = verdict_of(side("base", noisy(0.8)), head.model_copy(update={"answers": (cut, *head.answers[1:])}))
    assert [warning.message for warning in results.warnings] == [
        "Answers were cut off at max_tokens: 0 of 24 (base) and 1 of 24 (this PR). "
        "A sentence that breaks off is not judged."
    ]


def test_a_judge_of_whole_answers_says_nothing_of_claims() -> None:
    judge = FINGERPRINT.model_copy(update={"method": "label"})
    results = verdict_of(side("base", noisy(0.8)), side("head", noisy(0.8)), fingerprint=judge)
    assert "contradiction_rate" not in results.metrics
    gated = verdict_of(
        side("base", noisy(0.8)), side("head", noisy(0.8)), fingerprint=judge, gate={"contradiction_rate": 0.0}
    )
    assert gated.verdict == "inconclusive"
    assert gated.reason == "The judge `label` does not measure the gated metric contradiction rate."


def test_each_gated_metric_is_tested_in_its_worse_direction() -> None:
    results = verdict_of(
        side("base", noisy(0.8)), side("head", noisy(0.5)), gate={"faithfulness": 0.0, "unsupported_per_answer": 0.0}
    )
    assert results.metrics["unsupported_per_answer"].better == "lower"
    assert results.metrics["unsupported_per_answer"].delta == pytest.approx(3)
    assert results.reason.endswith("faithfulness and claims without support per answer.")


def test_more_gates_make_each_of_them_stricter() -> None:
    """Holm: p = 0.019 is enough alone, but not as the smallest of three."""
    head = noisy(0.8) | {name: [scored(0.7), scored(0.8)] for name in IDS[:5]}
    alone = verdict_of(side("base", noisy(0.8)), side("head", head))
    p_value = alone.metrics["faithfulness"].p_value
    assert p_value is not None
    assert 0.05 / 3 < p_value <= 0.05
    assert alone.verdict == "regression"
    gate = {"faithfulness": 0.0, "abstention_rate": 0.0, "contradiction_rate": 0.0}
    together = verdict_of(side("base", noisy(0.8)), side("head", head), gate=gate)
    assert together.verdict == "pass"


def test_gains_share_the_five_percent_as_losses_do() -> None:
    """Holm, as for losses: p = 0.019 is enough alone, but not as the smallest of three."""
    head = noisy(0.8) | {name: [scored(0.9), scored(1.0)] for name in IDS[:5]}
    alone = verdict_of(side("base", noisy(0.8)), side("head", head))
    assert alone.metrics["faithfulness"].improved
    gate = {"faithfulness": 0.0, "abstention_rate": 0.0, "hit_rate": 0.0}
    asked = questions(*IDS, relevant_ids=("a.md",))
    together = verdict_of(side("base", noisy(0.8)), side("head", head), gate=gate, asked=asked)
    assert not together.metrics["faithfulness"].improved


@pytest.mark.parametrize(("changed", "is_told"), [(5, False), (12, True)])
def test_metrics_that_nobody_gates_share_five_percent_of_their_own(changed: int, is_told: bool) -> None:
    """A p that is enough for one alone is no news of one among three; none of them turns the verdict red."""
    head = noisy(0.8) | {name: [scored(0.7), scored(0.8)] for name in IDS[:changed]}
    base = noisy(0.8) | {name: [scored(0.8), scored(0.9)] for name in IDS[:changed]}
    alone = verdict_of(side("base", base), side("head", head))
    assert alone.metrics["faithfulness"].flagged
    results = verdict_of(side("base", base), side("head", head), gate={"abstention_rate": 0.0})
    for name in ("faithfulness", "unsupported_per_answer"):
        metric = results.metrics[name]
        assert (metric.worsened, metric.flagged, metric.improved) == (is_told, False, False)
    assert results.verdict == "pass"


@pytest.mark.parametrize("level", [0.5, 0.2])
def test_a_clear_loss_is_red_whatever_another_metric_lacks(level: float) -> None:
    """The loss is a change beyond the noise, or only a level beyond its floor."""
    gate = {"answer_relevance": 0.0, "hit_rate": 0.0, "faithfulness": 0.0 if level == 0.5 else 0.9}
    results = verdict_of(side("base", noisy(0.8)), side("head", noisy(level)), gate=gate, floors={"faithfulness": 0.4})
    first = {
        0.5: "Worse by more than the noise of measuring: faithfulness.",
        0.2: "Beyond the floor that is set for it: faithfulness.",
    }
    assert results.verdict == "regression"
    assert results.reason == (
        f"{first[level]} No question has a score for answer relevance on both sides, so there is nothing to compare. "
        "No question has a score for right document retrieved: it takes questions with `relevant_ids`."
    )


def test_a_loss_among_too_few_questions_is_not_red() -> None:
    """Of a metric that cannot be compared neither change nor floor counts."""
    head = {name: [ABSTAINED, ABSTAINED] for name in IDS[:7]} | {name: [scored(0.1), scored(0.0)] for name in IDS[7:]}
    results = verdict_of(side("base", noisy(0.8)), side("head", head), floors={"faithfulness": 0.4})
    assert results.verdict == "inconclusive"


def test_missing_coverage_comes_before_a_loss() -> None:
    head = noisy(0.2) | {name: [UNREADABLE, UNREADABLE] for name in IDS[:2]}
    assert verdict_of(side("base", noisy(0.8)), side("head", head)).verdict == "inconclusive"


def test_the_hit_rate_needs_questions_that_know_their_documents() -> None:
    asked = (*questions(*IDS[:4], relevant_ids=("a.md",)), *questions(*IDS[4:]))
    results = verdict_of(side("base", noisy(0.8)), side("head", noisy(0.8)), gate={"hit_rate": 0.0}, asked=asked)
    assert results.reason == (
        "4 questions could be compared in right document retrieved, and a verdict takes 6: "
        "add 2 questions or more with `relevant_ids`."
    )


def test_the_right_document_counts_where_it_is_known() -> None:
    asked = questions(*IDS, relevant_ids=("a.md",))
    base = side("base", noisy(0.8), contexts=["passage"])
    head = side("head", noisy(0.8))
    metric = verdict_of(base, head, asked=asked).metrics["hit_rate"]
    assert (metric.base, metric.head, metric.gated) == (1, 0, False)
    assert "hit_rate" not in verdict_of(base, head).metrics


def test_unanswerable_questions_do_not_count_as_unanswered() -> None:
    asked = (*questions(*IDS[:6]), *questions(*IDS[6:], answerable=False))
    head = noisy(0.8) | {name: [ABSTAINED, ABSTAINED] for name in IDS[5:]}
    results = verdict_of(side("base", noisy(0.8)), side("head", head), asked=asked)
    assert results.metrics["abstention_rate"].n_questions == 6
    assert results.metrics["abstention_rate"].head == pytest.approx(1 / 6)


def judged_twice(name: SideName, judge_wavers: bool) -> Side:
    """Runs of 0.8 and 0.6; judged again, an answer gets the same score or the other one."""
    once = side(name, rows(0.8, 0.6))
    return once.model_copy(
        update={
            "answers": tuple(
                record.model_copy(update={"judged_again": (scored(0.6 if (record.run == 1) == judge_wavers else 0.8),)})
                for record in once.answers
            )
        }
    )


LABEL = FINGERPRINT.model_copy(update={"method": "label"})


@pytest.mark.parametrize(("judge_wavers", "share"), [(False, 0), (True, 1)])
def test_noise_is_parted_where_answers_were_judged_again(judge_wavers: bool, share: float) -> None:
    sides = (judged_twice(name, judge_wavers) for name in ("base", "head"))
    (sources,) = verdict_of(*sides, fingerprint=LABEL).noise_sources.values()
    assert sources.judge / (sources.judge + sources.generator) == share
    assert sources.judge + sources.generator == pytest.approx(0.02)


@pytest.mark.parametrize("method", ["evidence", "classifier"])
def test_a_judge_that_repeats_itself_has_no_part_in_the_noise(method: str) -> None:
    sides = (side(name, rows(0.8, 0.6)) for name in ("base", "head"))
    fingerprint = FINGERPRINT.model_copy(update={"method": method, "options": {"labels": {}}})
    (sources,) = verdict_of(*sides, fingerprint=fingerprint).noise_sources.values()
    assert (sources.generator, sources.judge) == (pytest.approx(0.02), 0)


def test_the_source_of_the_noise_is_unknown_where_nothing_was_repeated() -> None:
    sides = [side(name, rows(0.8, 0.6)) for name in ("base", "head")]
    assert verdict_of(*sides, fingerprint=LABEL).noise_sources == {}
    assert verdict_of(side("base", rows(0.8, 0.8)), side("head", rows(0.8, 0.8))).noise_sources == {}


# --- a level of its own ----------------------------------------------------------------------------------------------


def test_a_level_is_read() -> None:
    results = verdict_of(side("base", noisy(0.8)), side("head", noisy(0.8)))
    assert {name: metric.reading for name, metric in results.metrics.items() if metric.reading} == {
        "faithfulness": "good"
    }


def test_a_floor_that_this_change_breaks_is_a_second_reason() -> None:
    floors = {"faithfulness": 0.65}
    both = verdict_of(side("base", noisy(0.8)), side("head", noisy(0.5)), floors=floors)
    assert both.reason == (
        "Worse by more than the noise of measuring: faithfulness. Beyond the floor that is set for it: faithfulness."
    )
    small = {"faithfulness": 0.5}  # a drop of 0.3 does not count
    alone = verdict_of(side("base", noisy(0.8)), side("head", noisy(0.5)), gate=small, floors=floors)
    assert (alone.verdict, alone.reason) == ("regression", "Beyond the floor that is set for it: faithfulness.")
    assert (alone.metrics["faithfulness"].floor, alone.metrics["faithfulness"].floor_standing) == (0.65, "broken")


def test_below_a_floor_already_on_base_is_a_warning() -> None:
    results = verdict_of(side("base", noisy(0.5)), side("head", noisy(0.5)), floors={"faithfulness": 0.65})
    assert results.verdict == "pass"
    assert [(warning.code, warning.message) for warning in results.warnings] == [
        (
            "below_floor_before",
            "Faithfulness is below its floor of 0.65, and was so on base: this pull request did not bring it there.",
        )
    ]


def test_a_floor_for_a_metric_that_should_stay_low_is_a_ceiling() -> None:
    ceiling = {"unsupported_per_answer": 1.6}
    gate = {"faithfulness": 0.9, "unsupported_per_answer": 9.0}
    near = verdict_of(
        side("base", noisy(0.8)), side("head", rows(0.9, 0.7)), gate=gate, floors={"unsupported_per_answer": 1.9}
    )
    broken = verdict_of(side("base", noisy(0.8)), side("head", noisy(0.5)), gate=gate, floors=ceiling)
    assert broken.verdict == "regression"
    assert near.verdict == "pass"
    assert "Claims without support per answer is above its ceiling of 1.90 by less than the noise of its mean." in [
        warning.message for warning in near.warnings
    ]


# --- more runs where they can change the verdict --------------------------------------------------------------------

PLAN = RunPlan(2, 6)
OPEN = {"q0": (0.6, 0.7), "q1": (0.7, 0.8)}
"""Runs of head that leave the verdict open: p is 0.11 after two of them."""


def open_question(runs: int) -> tuple[Side, Side]:
    """Base and head of which two runs do not settle it."""
    base = {name: [scored(0.8), scored(0.9)] * (runs // 2) for name in IDS}
    head = base | {name: [scored(value) for value in row] * (runs // 2) for name, row in OPEN.items()}
    return side("base", base), side("head", head)


def test_an_open_verdict_asks_all_but_the_unchanged_questions_again() -> None:
    grading = Grading(questions(*IDS), {"faithfulness": 0.0}, 0.9, FINGERPRINT, plan=PLAN)
    base, head = open_question(2)

    def keyed(records: Sequence[AnswerRecord], side_name: str) -> list[AnswerRecord]:
        keys = {name: name if name in IDS[6:] else f"{name} on {side_name}" for name in IDS}
        return [record.model_copy(update={"request_key": keys[record.question_id]}) for record in records]

    answers = {"base": keyed(base.answers, "base"), "head": keyed(head.answers, "head")}
    assert [question.id for question in questions_to_ask_again(grading, answers, 2)] == IDS[:6]
    assert questions_to_ask_again(grading, {"head": answers["head"]}, 2) == ()
    assert questions_to_ask_again(replace(grading, plan=None), answers, 2) == ()


def asked_again(base: Side, head: Side, **fields: Any) -> int:
    """How many questions are asked again after two runs."""
    given: dict[str, Any] = {"gate": {"faithfulness": 0.0}, "min_coverage": 0.9, "asked": questions(*IDS)} | fields
    grading = Grading(given.pop("asked"), fingerprint=FINGERPRINT, plan=PLAN, **given)
    return len(questions_to_ask_again(grading, {"base": base.answers, "head": head.answers}, 2))


def test_no_run_is_bought_where_too_few_questions_can_be_judged_or_compared() -> None:
    base, head = open_question(2)
    assert asked_again(base, head) == 12
    unread = {name: [UNREADABLE, UNREADABLE] for name in IDS[8:]}
    silent = {name: [ABSTAINED, ABSTAINED] for name in IDS[5:]}
    rows_of_head = noisy(0.8) | {name: [scored(value) for value in row] for name, row in OPEN.items()}
    assert asked_again(side("base", noisy(0.8)), side("head", rows_of_head | unread)) == 0
    assert asked_again(side("base", noisy(0.8)), side("head", rows_of_head | silent)) == 0
    five = IDS[:5]
    few = [part.model_copy(update={"answers": tuple(r for r in part.answers if r.question_id in five)})
           for part in (base, head)]  # fmt: skip
    assert asked_again(*few, asked=questions(*five)) == 0


def test_runs_are_bought_for_a_metric_that_can_be_compared_beside_one_that_cannot() -> None:
    gate = {"hit_rate": 0.0, "faithfulness": 0.0}
    assert asked_again(*open_question(2), gate=gate) == 12
    assert asked_again(side("base", noisy(0.8)), side("head", noisy(0.8)), gate=gate) == 0


def test_a_broken_floor_settles_it_and_one_within_the_noise_does_not() -> None:
    base = side("base", noisy(0.8))
    gate, floors = {"faithfulness": 0.9}, {"faithfulness": 0.66}  # no change counts; 0.6 means a level of 0.65
    assert asked_again(base, side("head", noisy(0.5)), gate=gate, floors=floors) == 0
    assert asked_again(base, side("head", noisy(0.6)), gate=gate, floors=floors) == 12
    assert asked_again(base, side("head", noisy(0.8)), gate=gate, floors=floors) == 0


def test_where_a_floor_alone_is_the_reason_no_chance_of_a_change_is_told() -> None:
    results = verdict_of(
        side("base", noisy(0.8)), side("head", noisy(0.5)), plan=PLAN, gate={"faithfulness": 0.9},
        floors={"faithfulness": 0.7},
    )  # fmt: skip
    assert (results.verdict, results.metrics["faithfulness"].floor_standing) == ("regression", "broken")
    assert results.stopping is not None
    assert results.stopping.reason is None


def test_one_run_beyond_a_floor_is_a_warning() -> None:
    results = verdict_of(
        side("base", rows(0.8)), side("head", rows(0.6)), runs=1, gate={"faithfulness": 0.9},
        floors={"faithfulness": 0.7},
    )  # fmt: skip
    assert results.verdict == "pass"
    assert [warning.message for warning in results.warnings] == [
        "Faithfulness is below its floor of 0.70; one run does not show whether that is noise."
    ]


def test_the_looks_are_recorded_and_can_be_made_again_from_the_records() -> None:
    base, head = open_question(4)
    results = verdict_of(base, head, plan=PLAN, runs=4)
    stopping = results.stopping
    assert stopping is not None
    assert (stopping.fewest, stopping.most, [look.runs for look in stopping.looks]) == (2, 6, [2, 3, 4])
    assert stopping.looks[-1].p_values == {"faithfulness": results.metrics["faithfulness"].p_value}
    assert stopping.looks[-1].alpha_spent < 0.05
    assert verdict_of(*open_question(2), plan=PLAN).stopping.looks == stopping.looks[:1]


def test_questions_that_are_unchanged_may_have_fewer_runs() -> None:
    base, head = open_question(4)

    def thinned(records: Sequence[AnswerRecord], side_name: str) -> tuple[AnswerRecord, ...]:
        return tuple(
            record.model_copy(update={"request_key": f"{record.run}" if same else f"{side_name} {record.run}"})
            for record in records
            if not (same := record.question_id in IDS[6:]) or record.run <= 2
        )

    sides = [part.model_copy(update={"answers": thinned(part.answers, part.name)}) for part in (base, head)]
    results = verdict_of(*sides, plan=PLAN, runs=4)
    metric = results.metrics["faithfulness"]
    assert (metric.n_questions, metric.n_unchanged) == (12, 6)
    assert metric.run_means["base"] == pytest.approx((0.8, 0.9, 0.825, 0.875))
