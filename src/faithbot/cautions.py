"""What the reader of a verdict must know besides it: warnings as data, each with a stable code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faithbot.metrics import questions_moved
from faithbot.results import MetricComparison, ResultWarning, Side, SideName

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from faithbot.judge.protocol import JudgeFingerprint
    from faithbot.side_table import SideTable

TOO_NOISY = 0.05
"""Two runs of one side whose gated means differ by more than this are too noisy to gate on."""

_SPOKEN: dict[SideName, str] = {"base": "base", "head": "this PR"}


def find_cautions(
    metrics: Mapping[str, MetricComparison],
    tables: Mapping[SideName, SideTable],
    sides: Mapping[SideName, Side],
    fingerprint: JudgeFingerprint,
) -> Iterator[ResultWarning]:
    """All of them, the gravest first."""
    if "base" in tables:
        yield from _failed_on_head_only(tables["base"], tables["head"])
    yield from _more_abstentions(metrics)
    for name, metric in metrics.items():
        if "base" in tables and metric.gated and metric.n_unchanged < metric.n_questions:
            yield from _noise(name.replace("_", " "), metric)
    yield from _cut_answers(sides)
    if fingerprint.model_digest in {side.model_digest for side in sides.values()}:
        yield ResultWarning(
            code="self_judging",
            message="The judge is the model that wrote the answers: models judge themselves leniently.",
        )


def _failed_on_head_only(base: SideTable, head: SideTable) -> Iterable[ResultWarning]:
    for question, row, failed in zip(head.questions, head.rows, base.judged() & ~head.judged(), strict=True):
        if failed:
            message = f"Only this pull request fails on “{question.text}”: {row[0].failure}"
            yield ResultWarning(code="head_failed", message=message)


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
        "Answers that say so do not count in the faithfulness.",
    )


def _noise(name: str, metric: MetricComparison) -> Iterable[ResultWarning]:
    changed = metric.n_questions - metric.n_unchanged
    if metric.n_questions < metric.n_either:
        yield ResultWarning(
            code="answered_on_one_side",
            message=f"Only {metric.n_questions} of {metric.n_either} questions have a {name} on both sides; "
            "the others are not in its mean.",
        )
    if metric.smallest_detectable is None and metric.n_unchanged:
        yield ResultWarning(
            code="blind",
            message=f"No change of any size could have been seen in {name}: only {changed} of the questions changed. "
            "It takes at least 4, or runs that differ.",
        )
    spreads = {side: _spread(means) for side, means in metric.run_means.items()}
    noisy = [f"{spread:.2f} ({_SPOKEN[side]})" for side, spread in spreads.items() if spread > TOO_NOISY]
    if noisy and not metric.flagged:
        yield ResultWarning(
            code="too_noisy",
            message=f"Runs of the same side differ in {name} by {' and '.join(noisy)}: too noisy to see small changes. "
            "More questions or a stronger judge would help.",
        )
    several_runs = any(len(means) > 1 for means in metric.run_means.values())
    if not metric.measured_noise and several_runs:
        yield ResultWarning(
            code="no_noise_measured",
            message=f"The runs of each side gave the same {name}, so they measured no noise: "
            "whether enough questions moved the same way decided instead.",
        )


def _cut_answers(sides: Mapping[SideName, Side]) -> Iterable[ResultWarning]:
    cut = {name: sum(answer.is_cut for answer in side.answers) for name, side in sides.items()}
    if any(cut.values()):
        counts = " and ".join(f"{cut[name]} of {len(sides[name].answers)} ({_SPOKEN[name]})" for name in sides)
        yield ResultWarning(
            code="answers_cut",
            message=f"Answers were cut off at max_tokens: {counts}. A sentence that breaks off is not judged.",
        )


def _spread(means: Iterable[float | None]) -> float:
    known = [mean for mean in means if mean is not None]
    return max(known) - min(known) if known else 0.0
