"""What the reader of a verdict must know besides it: warnings as data, each with a stable code."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from faithbot.config import COUNTS
from faithbot.metrics import METRICS, Metric, is_judged, label, questions_moved
from faithbot.noise import difference_of_runs
from faithbot.plain_text import count
from faithbot.results import AnswerRecord, MetricComparison, ResultWarning, Side, SideName
from faithbot.verdict import FEWEST_COMPARED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from faithbot.golden import Question
    from faithbot.judge.protocol import JudgeFingerprint
    from faithbot.side_table import SideTable

TOO_NOISY = 0.05
"""A side whose runs differ in a gated mean by more than this, on average over pairs, is too noisy to gate on."""

_ROW = re.compile(r"\b(?:line|item) \d+\b")
"""Where a reason names the row of a file: it is the same reason in every row."""
_SPOKEN: dict[SideName, str] = {"base": "base", "head": "this PR"}


def find_cautions(
    metrics: Mapping[str, MetricComparison],
    tables: Mapping[SideName, SideTable],
    sides: Mapping[SideName, Side],
    fingerprint: JudgeFingerprint,
    notices: Sequence[ResultWarning] = (),
) -> tuple[ResultWarning, ...]:
    """All of them, the gravest first; a question that only head fails on comes before the ``notices`` of the caller."""
    failed = _failed_on_head_only(tables["base"], tables["head"]) if "base" in tables else ()
    return (*failed, *notices, *_find(metrics, tables, sides, fingerprint))


def _find(
    metrics: Mapping[str, MetricComparison],
    tables: Mapping[SideName, SideTable],
    sides: Mapping[SideName, Side],
    fingerprint: JudgeFingerprint,
) -> Iterator[ResultWarning]:
    if "base" not in tables:
        yield from _few_questions(tables["head"].questions)
    yield from _floors(metrics)
    yield from _more_abstentions(metrics)
    for name, measured in METRICS.items():
        metric = metrics.get(name)
        if metric and "base" in tables and metric.gated and metric.n_unchanged < metric.n_questions:
            yield from _noise(measured.label, metric)
            yield from _too_noisy(measured, tables)
    yield from _not_measured(sides)
    yield from _fabricated_citations(sides, tables["head"].questions)
    yield from _cut_answers(sides)
    if any(_is_judge(side, fingerprint) for side in sides.values()):
        yield ResultWarning(
            code="self_judging",
            message="The judge is the model that wrote the answers: models judge themselves leniently.",
        )


def _is_judge(side: Side, fingerprint: JudgeFingerprint) -> bool:
    """Whether a side's model judged its own answers: the same weights, or the same name where those are not known."""
    if fingerprint.model is None:
        return False
    if fingerprint.model_digest is None or side.model_digest is None:
        return fingerprint.model == side.model
    return fingerprint.model_digest == side.model_digest


def _few_questions(questions: Sequence[Question]) -> Iterator[ResultWarning]:
    """Told at the first evaluation: the next one would find out only after all its answers."""
    if len(questions) < FEWEST_COMPARED:
        yield ResultWarning(
            code="few_questions",
            message=f"{count(len(questions), 'question')}: pull requests that change the answers will be inconclusive. "
            f"A verdict takes at least {FEWEST_COMPARED} questions, a sharp one 20 to 30.",
        )


class _FailedQuestion(NamedTuple):
    """A question that fails on head only."""

    question: Question
    reason: str
    n_failed: int
    """Runs."""
    n_runs: int


def _failed_on_head_only(base: SideTable, head: SideTable) -> Iterator[ResultWarning]:
    """One warning a reason: what breaks one question often breaks them all."""
    by_reason: dict[str, list[_FailedQuestion]] = defaultdict(list)
    for failed in _failed_questions(base, head):
        by_reason[_ROW.sub("", failed.reason)].append(failed)
    for group in by_reason.values():
        yield ResultWarning(
            code="head_failed",
            message=_failure(group[0]) if len(group) == 1 else _failures(group),
            question_ids=tuple(failed.question.id for failed in group),
        )


def _failed_questions(base: SideTable, head: SideTable) -> Iterator[_FailedQuestion]:
    for question, of_base, of_head in zip(head.questions, base.rows, head.rows, strict=True):
        if not any(map(is_judged, of_base)):
            continue
        missing = [record for record in of_head if not is_judged(record)]
        crashed = [record for record in of_head if record.answer is None]
        failed = missing if len(missing) == len(of_head) else crashed
        if failed and all(record.answer is not None for record in of_base):
            yield _FailedQuestion(question, str(failed[0].failure), len(failed), len(of_head))


def _failure(failed: _FailedQuestion) -> str:
    times = "" if failed.n_failed == failed.n_runs else f" in {failed.n_failed} of {failed.n_runs} runs"
    return f"Only this pull request fails{times} on “{failed.question.text}”: {failed.reason}"


def _failures(group: Sequence[_FailedQuestion]) -> str:
    some_runs = sum(failed.n_failed < failed.n_runs for failed in group)
    times = f", {some_runs} of them in some runs" if some_runs else ""
    first = group[0]
    return (
        f"{len(group)} questions fail on this pull request only{times}: {first.reason.rstrip('.')} "
        f"(first: “{first.question.text}”)"
    )


def _floors(metrics: Mapping[str, MetricComparison]) -> Iterable[ResultWarning]:
    for name, metric in metrics.items():
        if metric.floor is None or metric.head is None:
            continue
        side, kind = ("below", "floor") if metric.better == "higher" else ("above", "ceiling")
        called = label(name)
        stands = f"{called[0].upper()}{called[1:]} is {side} its {kind} of {metric.floor:.2f}"
        if metric.floor_standing == "below_before":
            message = f"{stands}, and was so on base: this pull request did not bring it there."
            yield ResultWarning(code="below_floor_before", message=message)
        elif metric.floor_standing == "within_noise":
            several = len(metric.run_means.get("head", ())) > 1
            why = " by less than the noise of its mean" if several else "; one run does not show whether that is noise"
            yield ResultWarning(code="near_floor", message=f"{stands}{why}.")


def _more_abstentions(metrics: Mapping[str, MetricComparison]) -> Iterable[ResultWarning]:
    shift = metrics.get("abstention_rate")
    if shift is None or shift.delta is None or shift.delta <= 0:
        return
    more = questions_moved(shift)
    told = {
        0: f"{shift.delta:.0%} more of the answers say that they cannot answer",
        1: "1 more question is not answered",
    }
    yield ResultWarning(
        code="more_abstentions",
        message=f"{told.get(more, f'{more} more questions are not answered')}. "
        "An answer that only says that it cannot answer does not count in the faithfulness.",
    )


def _noise(name: str, metric: MetricComparison) -> Iterable[ResultWarning]:
    changed = metric.n_questions - metric.n_unchanged
    if metric.n_questions < metric.n_either:
        yield ResultWarning(
            code="answered_on_one_side",
            message=f"Only {metric.n_questions} of {metric.n_either} questions have a score for {name} on both sides; "
            "the others are not in its mean.",
        )
    if metric.smallest_detectable is None and metric.n_unchanged:
        yield ResultWarning(
            code="blind",
            message=f"No change of any size could have been seen in {name}: only {changed} of the questions changed. "
            "It takes at least 5, or runs that differ.",
        )
    several_runs = any(len(means) > 1 for means in metric.run_means.values())
    if not metric.measured_noise and several_runs:
        yield ResultWarning(
            code="no_noise_measured",
            message=f"The runs of each side gave the same {name}, so they measured no noise: "
            "whether enough questions moved the same way decided instead.",
        )


def _too_noisy(metric: Metric, tables: Mapping[SideName, SideTable]) -> Iterable[ResultWarning]:
    if metric.name in COUNTS:  # which have no scale on which 0.05 would be much
        return
    spreads = {side: difference_of_runs(table.scores(metric)) for side, table in tables.items()}
    if noisy := [f"{spread:.2f} ({_SPOKEN[side]})" for side, spread in spreads.items() if spread > TOO_NOISY]:
        yield ResultWarning(
            code="too_noisy",
            message=f"Two runs of the same side differ in {metric.label} by {' and '.join(noisy)} on "
            "average: too noisy to see small changes. More questions or a stronger judge would help.",
        )


def _not_measured(sides: Mapping[SideName, Side]) -> Iterable[ResultWarning]:
    answers = [answer for side in sides.values() for answer in side.answers]
    for name in METRICS:
        if reasons := [answer.not_measured[name] for answer in answers if name in answer.not_measured]:
            commonest = max(dict.fromkeys(reasons), key=reasons.count)
            yield ResultWarning(
                code="not_measured",
                message=f"No {label(name)} for {len(reasons)} of {len(answers)} answers: {commonest}.",
            )


def _fabricated_citations(sides: Mapping[SideName, Side], questions: Iterable[Question]) -> Iterable[ResultWarning]:
    """Where head's answers do so more often than base's; a single answer of many may still be chance."""
    cited = {name: [answer for answer in side.answers if _fabricated(answer)] for name, side in sides.items()}
    shares = {name: len(cited[name]) / max(1, len(side.answers)) for name, side in sides.items()}
    if shares.get("head", 0.0) > shares.get("base", 0.0):
        counts = " and ".join(f"{len(cited[name])} of {len(sides[name].answers)} ({_SPOKEN[name]})" for name in sides)
        first = cited["head"][0]
        asked = next(question.text for question in questions if question.id == first.question_id)
        yield ResultWarning(
            code="fabricated_citations",
            message=f"Answers cite passages that they were not given: {counts}, such as “{_fabricated(first)[0][:80]}” "
            f"on “{asked}”.",
        )


def _fabricated(answer: AnswerRecord) -> tuple[str, ...]:
    return answer.judgement.fabricated_citations if answer.judgement else ()


def _cut_answers(sides: Mapping[SideName, Side]) -> Iterable[ResultWarning]:
    cut = {name: sum(answer.is_cut for answer in side.answers) for name, side in sides.items()}
    if any(cut.values()):
        counts = " and ".join(f"{cut[name]} of {len(sides[name].answers)} ({_SPOKEN[name]})" for name in sides)
        yield ResultWarning(
            code="answers_cut",
            message=f"Answers were cut off at max_tokens: {counts}. A sentence that breaks off is not judged.",
        )
