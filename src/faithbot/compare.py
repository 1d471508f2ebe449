"""Two evaluated sides to a verdict: pure functions of what was recorded."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from faithbot import __version__
from faithbot.accepted import stale_warning
from faithbot.cautions import find_cautions
from faithbot.claim_changes import find_claim_changes
from faithbot.metrics import METRICS, Metric
from faithbot.noise import NoiseComparison, compare_runs, noise_of_mean
from faithbot.noise_parts import find_noise_sources
from faithbot.results import MetricComparison, Results, SideName, Usage, Verdict
from faithbot.side_table import SideTable, same_requests
from faithbot.slices import find_slices

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from faithbot.accepted import AcceptedEntry
    from faithbot.config import MetricName
    from faithbot.golden import Question
    from faithbot.judge.protocol import JudgeFingerprint
    from faithbot.results import ResultWarning, SettingChange, Side

ALPHA = 0.05
_NOTHING_CHANGED = "Nothing that the answers depend on changed."
WITHOUT_CLAIMS = ("label", "recorded")
"""Judges that give one score to a whole answer."""
MIN_COMPARED = 0.5
"""Share of the questions scored on either side that must be scored on both. Where one side abstains from most of them,
the mean of the rest says nothing about the golden set."""


@dataclass(frozen=True)
class Grading:
    """How the sides are graded."""

    questions: tuple[Question, ...]
    gate: Mapping[MetricName, float]
    """Gated metrics with their smallest effect that counts."""
    min_coverage: float
    fingerprint: JudgeFingerprint
    graded_by: SideName = "base"
    """Whose golden set, judge and gate these are."""
    accepted: tuple[AcceptedEntry, ...] = ()
    """Unsupported claims of these questions that the team accepts."""


def compare(
    grading: Grading,
    sides: Mapping[SideName, Side],
    *,
    runs: int,
    changes: Sequence[SettingChange],
    usage: Usage,
    notices: Sequence[ResultWarning] = (),
) -> Results:
    """The whole comparison: metrics, verdict, claims that changed, warnings. Without a base, the first evaluation.

    ``notices`` are warnings that the records do not show, such as a branch that is behind; they come first.
    """
    tables = {name: SideTable(grading.questions, side.answers, runs) for name, side in sides.items()}
    applicable = [
        metric
        for metric in METRICS.values()
        if not (metric.needs_claims and grading.fingerprint.method in WITHOUT_CLAIMS)
    ]
    gated = [metric for metric in applicable if metric.name in grading.gate]
    if "base" not in tables:
        metrics = _single_side(applicable, tables["head"], grading)
        verdict, reason = _first_verdict(tables["head"], grading)
        claims = None
        slices = {}
    else:
        unchanged = np.array(
            [same_requests(*rows) for rows in zip(tables["base"].rows, tables["head"].rows, strict=True)]
        )
        metrics = _compare_metrics(applicable, tables["base"], tables["head"], unchanged, grading)
        verdict, reason = _verdict(metrics, tables, unchanged, grading)
        claims = find_claim_changes(grading.questions, sides["base"].answers, sides["head"].answers, grading.accepted)
        slices = find_slices(gated, tables["base"], tables["head"], unchanged)
    return Results(
        faithbot_version=__version__,
        verdict=verdict,
        reason=reason,
        metrics=metrics,
        slices=slices,
        noise_sources=find_noise_sources(gated, list(tables.values()), grading.fingerprint),
        newly_unsupported=claims.newly_unsupported if claims else (),
        expected_by_chance=claims.expected_by_chance if claims else None,
        no_longer_unsupported=claims.no_longer_unsupported if claims else (),
        sporadic=claims.sporadic if claims else (),
        accepted=claims.accepted if claims else (),
        warnings=(
            *notices,
            *find_cautions(metrics, tables, sides, grading.fingerprint),
            *stale_warning(claims.stale if claims else ()),
        ),
        fingerprint=grading.fingerprint,
        sides=dict(sides),
        changes=tuple(changes),
        questions=grading.questions,
        runs=runs,
        usage=usage,
        graded_by=grading.graded_by,
    )


def compare_without_work(
    questions: Sequence[Question],
    gated: Iterable[MetricName],
    sides: Mapping[SideName, Side],
    *,
    runs: int,
    changes: Sequence[SettingChange],
) -> Results:
    """The comparison of sides that give the same answers because nothing differs that these depend on.

    Nothing was asked, so there are no levels; the change of every gated metric is known to be exactly 0.
    """
    unchanged: dict[str, MetricComparison] = {
        name: MetricComparison(
            base=None,
            head=None,
            delta=0.0,
            noise_band=0.0,
            p_value=1.0,
            flagged=False,
            smallest_detectable=0.0,
            n_questions=len(questions),
            n_either=len(questions),
            gated=True,
            better=METRICS[name].better,
            n_unchanged=len(questions),
            method="unchanged",
        )
        for name in gated
    }
    return Results(
        faithbot_version=__version__,
        verdict="pass",
        reason=_NOTHING_CHANGED,
        metrics=unchanged,
        fingerprint=None,
        sides=dict(sides),
        changes=tuple(changes),
        questions=tuple(questions),
        runs=runs,
        usage=Usage(answers=0, model_calls=0, cached_calls=0, seconds=0.0, busy_share=None),
    )


def _compare_metrics(
    applicable: Sequence[Metric], base: SideTable, head: SideTable, unchanged: NDArray[np.bool_], grading: Grading
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
        n_either=int((~np.isnan(np.concatenate(scored, axis=1)).all(axis=1)).sum()),
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


def _single_side(applicable: Sequence[Metric], head: SideTable, grading: Grading) -> dict[str, MetricComparison]:
    """Means of the only side there is, with the noise that its own runs measured."""
    comparisons: dict[str, MetricComparison] = {}
    for metric in applicable:
        scores = head.scores(metric)
        if np.isnan(scores).all() and metric.name not in grading.gate:
            continue
        alone = noise_of_mean(scores, alpha=ALPHA)
        comparisons[metric.name] = MetricComparison(
            base=None,
            head=_number(alone.mean),
            delta=None,
            noise_band=_number(alone.noise_band),
            p_value=None,
            flagged=False,
            smallest_detectable=None,
            n_questions=alone.n_questions,
            n_either=alone.n_questions,
            gated=metric.name in grading.gate,
            better=metric.better,
            measured_noise=alone.measured_noise,
            run_means={"head": _run_means(scores)},
            min_effect=grading.gate.get(metric.name, 0.0),
        )
    return comparisons


def _first_verdict(head: SideTable, grading: Grading) -> tuple[Verdict, str]:
    if (missing := _missing_coverage({"head": head}, grading)) is not None:
        return "inconclusive", missing
    return "first", "There is no base configuration to compare with yet."


def _verdict(
    metrics: Mapping[str, MetricComparison],
    tables: Mapping[SideName, SideTable],
    unchanged: NDArray[np.bool_],
    grading: Grading,
) -> tuple[Verdict, str]:
    if unchanged.all():
        return "pass", _NOTHING_CHANGED
    if (missing := _missing_coverage(tables, grading)) is not None:
        return "inconclusive", missing
    for name in grading.gate:
        if name not in metrics:
            return "inconclusive", f"The judge `{grading.fingerprint.method}` does not measure the gated metric {name}."
        if (reason := _not_comparable(name, metrics[name])) is not None:
            return "inconclusive", reason
    if flagged := [name for name in grading.gate if metrics[name].flagged]:
        names = " and ".join(_plain(name) for name in flagged)
        return "regression", f"Worse by more than the noise of measuring: {names}."
    return "pass", "No gated metric is worse by more than the noise of measuring."


def _not_comparable(name: str, metric: MetricComparison) -> str | None:
    """Why the questions that both sides scored say too little about the golden set; None where they say enough."""
    if metric.n_questions == 0:
        return f"No question has a {_plain(name)} on both sides, so there is nothing to compare."
    if metric.n_questions < MIN_COMPARED * metric.n_either:
        return (
            f"Only {metric.n_questions} of {metric.n_either} questions have a {_plain(name)} on both sides: "
            "the others are answered on one side only."
        )
    if metric.smallest_detectable is None and not metric.n_unchanged:
        return f"Too few questions ({metric.n_questions}) to show a change of any size in {_plain(name)}: ask more."
    return None


def _plain(name: str) -> str:
    return name.replace("_", " ")


def _missing_coverage(tables: Mapping[SideName, SideTable], grading: Grading) -> str | None:
    """Why too few questions were judged; None where enough were."""
    judged = np.logical_and.reduce([table.judged() for table in tables.values()])
    if judged.mean() >= grading.min_coverage:
        return None
    reasons = [reason for table in tables.values() for reason in table.failures()]
    commonest = max(set(reasons), key=reasons.count)
    return f"{(~judged).sum()} of {len(judged)} questions could not be scored ({commonest})"
