"""Two evaluated sides to a verdict: pure functions of what was recorded."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from faithbot import __version__
from faithbot.claim_changes import find_claim_changes
from faithbot.metrics import METRICS, Metric, is_judged
from faithbot.noise import NoiseComparison, compare_runs
from faithbot.results import AnswerRecord, MetricComparison, Results, ResultWarning, Side, SideName, Usage, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from faithbot.config import MetricName
    from faithbot.golden import Question
    from faithbot.judge.protocol import JudgeFingerprint
    from faithbot.results import SettingChange

ALPHA = 0.05
_SPOKEN: dict[SideName, str] = {"base": "base", "head": "this PR"}
TOO_NOISY = 0.05
"""Two runs of one side whose gated means differ by more than this are too noisy to gate on."""


@dataclass(frozen=True)
class Grading:
    """How the sides are graded. All of it comes from base."""

    questions: tuple[Question, ...]
    gate: Mapping[MetricName, float]
    """Gated metrics with their smallest effect that counts."""
    min_coverage: float
    fingerprint: JudgeFingerprint


def compare(
    grading: Grading,
    sides: Mapping[SideName, Side],
    *,
    runs: int,
    changes: Sequence[SettingChange],
    usage: Usage,
) -> Results:
    """The whole comparison: metrics, verdict, claims that changed, warnings. Without a base, the first evaluation."""
    tables = {name: _Table(grading.questions, side.answers, runs) for name, side in sides.items()}
    applicable = [
        metric for metric in METRICS.values() if not (metric.needs_claims and grading.fingerprint.method == "label")
    ]
    if "base" not in tables:
        metrics = _single_side(applicable, tables["head"], grading)
        verdict, reason = _first_verdict(tables["head"], grading)
        claims = None
    else:
        unchanged = _unchanged(tables["base"], tables["head"])
        metrics = _compare_metrics(applicable, tables["base"], tables["head"], unchanged, grading)
        verdict, reason = _verdict(metrics, tables, grading)
        claims = find_claim_changes(grading.questions, sides["base"].answers, sides["head"].answers)
    return Results(
        faithbot_version=__version__,
        verdict=verdict,
        reason=reason,
        metrics=metrics,
        newly_unsupported=claims.newly_unsupported if claims else (),
        expected_by_chance=claims.expected_by_chance if claims else None,
        no_longer_unsupported=claims.no_longer_unsupported if claims else (),
        warnings=tuple(_warnings(metrics, tables, sides, grading)),
        fingerprint=grading.fingerprint,
        sides=dict(sides),
        changes=tuple(changes),
        questions=grading.questions,
        runs=runs,
        usage=usage,
    )


class _Table:
    """A side's records by question and run."""

    def __init__(self, questions: Sequence[Question], answers: Iterable[AnswerRecord], runs: int) -> None:
        self.questions = questions
        by_place = {(record.question_id, record.run): record for record in answers}
        self.rows = [[by_place[question.id, run] for run in range(1, runs + 1)] for question in questions]

    def scores(self, metric: Metric) -> NDArray[np.float64]:
        """Shape (questions, runs); NaN where the metric says nothing."""
        values = [
            [metric.score(record, question) for record in row]
            for question, row in zip(self.questions, self.rows, strict=True)
        ]
        return np.array(values, dtype=float)

    def judged(self) -> NDArray[np.bool_]:
        """Per question: at least one run has a score or is an abstention."""
        return np.array([any(is_judged(record) for record in row) for row in self.rows])

    def failures(self) -> list[str]:
        """Reasons of all runs that have neither."""
        return [record.failure for row in self.rows for record in row if record.failure]


def _unchanged(base: _Table, head: _Table) -> NDArray[np.bool_]:
    """Questions whose requests are known to be the same on both sides, run by run."""
    return np.array(
        [
            all(
                b.request_key is not None and b.request_key == h.request_key
                for b, h in zip(base_row, head_row, strict=True)
            )
            for base_row, head_row in zip(base.rows, head.rows, strict=True)
        ]
    )


def _compare_metrics(
    applicable: Sequence[Metric], base: _Table, head: _Table, unchanged: NDArray[np.bool_], grading: Grading
) -> dict[str, MetricComparison]:
    """All metrics that say something on both sides, gated ones with Holm's correction (Holm 1979)."""
    scored = {metric.name: (base.scores(metric), head.scores(metric)) for metric in applicable}
    worse = {
        metric.name: compare_runs(
            *scored[metric.name],
            unchanged=unchanged,
            alpha=ALPHA,
            alternative="less" if metric.better == "higher" else "greater",
            min_effect=grading.gate.get(metric.name, 0.0),
        )
        for metric in applicable
    }
    adjusted = _holm({name: worse[name].p_value for name in grading.gate if name in worse})
    comparisons: dict[str, MetricComparison] = {}
    for metric in applicable:
        if not worse[metric.name].n_questions and metric.name not in grading.gate:
            continue
        better = compare_runs(
            *scored[metric.name],
            unchanged=unchanged,
            alpha=ALPHA,
            alternative="greater" if metric.better == "higher" else "less",
            min_effect=grading.gate.get(metric.name, 0.0),
        )
        comparisons[metric.name] = _metric_comparison(
            metric, worse[metric.name], scored[metric.name], grading, adjusted.get(metric.name), better.flagged
        )
    return comparisons


def _holm(p_values: Mapping[MetricName, float]) -> dict[MetricName, float]:
    """Adjusted p-values that keep the chance of any false alarm among all gated metrics at alpha."""
    adjusted: dict[MetricName, float] = {}
    largest = 0.0
    for rank, name in enumerate(sorted(p_values, key=lambda name: p_values[name])):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[name]))
        adjusted[name] = largest
    return adjusted


def _metric_comparison(
    metric: Metric,
    noise: NoiseComparison,
    scored: tuple[NDArray[np.float64], NDArray[np.float64]],
    grading: Grading,
    adjusted_p: float | None,
    improved: bool,
) -> MetricComparison:
    nothing_compared = noise.n_questions == 0
    return MetricComparison(
        base=_number(noise.base_mean),
        head=_number(noise.head_mean),
        delta=_number(noise.delta),
        noise_band=None if nothing_compared else _number(noise.noise_band),
        p_value=None if nothing_compared else noise.p_value,
        flagged=adjusted_p is not None and noise.flagged and adjusted_p <= ALPHA,
        smallest_detectable=_number(noise.smallest_detectable),
        n_questions=noise.n_questions,
        gated=metric.name in grading.gate,
        better=metric.better,
        improved=improved,
        interval=noise.interval,
        n_unchanged=noise.n_unchanged,
        method=noise.method,
        measured_noise=noise.measured_noise,
        run_means={"base": _run_means(scored[0]), "head": _run_means(scored[1])},
        min_effect=grading.gate.get(metric.name, 0.0),
    )


def _number(value: float) -> float | None:
    """JSON has no NaN and no infinity."""
    return value if math.isfinite(value) else None


def _run_means(scores: NDArray[np.float64]) -> tuple[float | None, ...]:
    return tuple(float(run[~np.isnan(run)].mean()) if not np.isnan(run).all() else None for run in scores.T)


def _single_side(applicable: Sequence[Metric], head: _Table, grading: Grading) -> dict[str, MetricComparison]:
    """Means of the only side there is, with the noise that its own runs measured."""
    comparisons: dict[str, MetricComparison] = {}
    for metric in applicable:
        scores = head.scores(metric)
        if np.isnan(scores).all() and metric.name not in grading.gate:
            continue
        alone = compare_runs(scores, scores, alpha=ALPHA)
        comparisons[metric.name] = MetricComparison(
            base=None,
            head=_number(alone.head_mean),
            delta=None,
            noise_band=_number(alone.noise_band / math.sqrt(2)),  # of one mean; the band is of a difference of two
            p_value=None,
            flagged=False,
            smallest_detectable=_number(alone.smallest_detectable),
            n_questions=alone.n_questions,
            gated=metric.name in grading.gate,
            better=metric.better,
            measured_noise=alone.measured_noise,
            run_means={"head": _run_means(scores)},
            min_effect=grading.gate.get(metric.name, 0.0),
        )
    return comparisons


def _first_verdict(head: _Table, grading: Grading) -> tuple[Verdict, str]:
    if (missing := _missing_coverage({"head": head}, grading)) is not None:
        return "inconclusive", missing
    return "first", "There is no base configuration to compare with yet."


def _verdict(
    metrics: Mapping[str, MetricComparison], tables: Mapping[SideName, _Table], grading: Grading
) -> tuple[Verdict, str]:
    if (missing := _missing_coverage(tables, grading)) is not None:
        return "inconclusive", missing
    for name in grading.gate:
        if name not in metrics:
            return "inconclusive", f"The judge `{grading.fingerprint.method}` does not measure the gated metric {name}."
        if metrics[name].n_questions == 0:
            return "inconclusive", f"No question has a {_plain(name)} on both sides, so there is nothing to compare."
    if flagged := [name for name in grading.gate if metrics[name].flagged]:
        names = " and ".join(_plain(name) for name in flagged)
        return "regression", f"Worse by more than the noise of measuring: {names}."
    if all(metrics[name].n_unchanged == metrics[name].n_questions for name in grading.gate):
        return "pass", "Nothing that the answers depend on changed."
    return "pass", "No gated metric is worse by more than the noise of measuring."


def _plain(name: str) -> str:
    return name.replace("_", " ")


def _missing_coverage(tables: Mapping[SideName, _Table], grading: Grading) -> str | None:
    """Why too few questions were judged; None where enough were."""
    judged = np.logical_and.reduce([table.judged() for table in tables.values()])
    if judged.mean() >= grading.min_coverage:
        return None
    reasons = [reason for table in tables.values() for reason in table.failures()]
    commonest = max(set(reasons), key=reasons.count)
    return f"{(~judged).sum()} of {len(judged)} questions could not be scored ({commonest})"


def _warnings(
    metrics: Mapping[str, MetricComparison],
    tables: Mapping[SideName, _Table],
    sides: Mapping[SideName, Side],
    grading: Grading,
) -> Iterable[ResultWarning]:
    """What the reader of the verdict must know besides it."""
    yield from _crash_warnings(tables)
    for name in grading.gate:
        if (metric := metrics.get(name)) is None:
            continue
        for side, means in metric.run_means.items():
            known = [mean for mean in means if mean is not None]
            if known and max(known) - min(known) > TOO_NOISY:
                yield ResultWarning(
                    code="too_noisy",
                    message=f"Two runs of {_SPOKEN[side]} differ by {max(known) - min(known):.2f} in {_plain(name)}: "
                    "too noisy to gate on. More questions or a stronger judge would help.",
                )
        if not metric.measured_noise and metric.n_unchanged < metric.n_questions:
            yield ResultWarning(
                code="no_noise_measured",
                message=f"All runs of a side gave the same {_plain(name)}, so they measured no noise: "
                "the test over questions decided instead.",
            )
    shift = metrics.get("abstention_rate")
    if shift is not None and shift.delta and shift.delta > 0:
        yield ResultWarning(
            code="more_abstentions",
            message=f"This change makes {shift.delta:.0%} more of the answers say that they cannot answer. "
            "They do not count in the faithfulness.",
        )
    if grading.fingerprint.model_digest in {side.model_digest for side in sides.values()}:
        yield ResultWarning(
            code="self_judging",
            message="The judge is the model that wrote the answers: models judge themselves leniently.",
        )


def _crash_warnings(tables: Mapping[SideName, _Table]) -> Iterable[ResultWarning]:
    """Questions that head cannot answer although base can."""
    if "base" not in tables:
        return
    judged = {side: table.judged() for side, table in tables.items()}
    only_head = judged["base"] & ~judged["head"]
    for question, row, failed in zip(tables["head"].questions, tables["head"].rows, only_head, strict=True):
        if not failed:
            continue
        yield ResultWarning(
            code="head_failed", message=f"Only this pull request fails on “{question.text}”: {row[0].failure}"
        )
