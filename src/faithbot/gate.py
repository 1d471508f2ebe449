"""Do the gated metrics turn the verdict red, and could more runs still do so? Scores in, decisions out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import TYPE_CHECKING, Literal

from faithbot.metrics import METRICS
from faithbot.noise import NoiseComparison, compare_runs
from faithbot.run_plan import RunPlan
from faithbot.stopping import (
    GIVE_UP_BELOW,
    chance_of_flag,
    detectable_factor,
    look_level,
    spent_alpha,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from faithbot.config import MetricName
    from faithbot.noise import Alternative
    from faithbot.relabelling import Floats

    Scores = Mapping[MetricName, tuple[Floats, Floats]]

ALPHA = 0.05
StopReason = Literal["worse", "unlikely", "unchanged", "no_noise", "all_runs"]

_ROUNDING = 1e-12


@dataclass(frozen=True)
class GateLook:
    """What the gated metrics say after some runs."""

    runs: int
    plan: RunPlan
    """Whose levels this look has: that of the caller, or a single look at runs that show no noise."""
    level: float
    """The p-value at which a metric that is gated alone is flagged."""
    alpha_spent: float
    """Chance, at most, that a pull request that changed nothing is red by now."""
    comparisons: Mapping[MetricName, NoiseComparison]
    """Each tested for a change for the worse."""
    flagged: frozenset[MetricName]
    chances: Mapping[MetricName, float]
    """That the runs that are left would turn the metric red."""
    detectable_factor: float
    """From the smallest change that this look sees to the smallest that the plan sees."""
    stop: StopReason | None
    """Why no more runs are needed; None where they are."""


def look_at(
    scores: Scores, unchanged: NDArray[np.bool_], gate: Mapping[MetricName, float], plan: RunPlan, runs: int
) -> GateLook:
    """The gate after the first ``runs`` runs of ``scores``, arrays of base and head of shape (questions, runs).

    ``gate`` holds the smallest effect of each metric. Several metrics share alpha by Holm's step-down rule (1979),
    each step with the levels that a plan of its own would have (Maurer and Bretz, 2013). Where the first look finds
    that no run differs from another of its side, it is the only one and spends the whole of alpha: a system that
    answers the same every time tells nothing new in more runs.
    """
    level = look_level(plan, runs, ALPHA)
    comparisons = {
        name: compare_metric(
            name, *(side[:, :runs] for side in scores[name]), unchanged=unchanged, level=level, min_effect=gate[name]
        )
        for name in gate
        if name in scores
    }
    if runs == plan.fewest < plan.most and not any(found.measured_noise for found in comparisons.values()):
        only = look_at(scores, unchanged, gate, RunPlan(runs, runs), runs)
        return replace(only, stop=only.stop if only.flagged else "no_noise")
    flagged = step_down(comparisons, plan, runs)
    chances = {name: _chance(found, plan, runs, len(comparisons), gate[name]) for name, found in comparisons.items()}
    return GateLook(
        runs=runs,
        plan=plan,
        level=level,
        alpha_spent=spent_alpha(plan, runs, ALPHA),
        comparisons=comparisons,
        flagged=flagged,
        chances=chances,
        detectable_factor=detectable_factor(plan, runs, ALPHA),
        stop=_why_stop(flagged, chances, unchanged=bool(unchanged.all()), is_last=runs >= plan.most),
    )


def compare_metric(
    name: MetricName,
    base: Floats,
    head: Floats,
    *,
    unchanged: NDArray[np.bool_],
    level: float,
    min_effect: float = 0.0,
    for_the_better: bool = False,
) -> NoiseComparison:
    """The comparison of one metric, tested for a change for the worse, or for the better by the same rule."""
    falls = (METRICS[name].better == "higher") != for_the_better
    alternative: Alternative = "less" if falls else "greater"
    return compare_runs(base, head, unchanged=unchanged, alpha=level, alternative=alternative, min_effect=min_effect)


def step_down(comparisons: Mapping[MetricName, NoiseComparison], plan: RunPlan, runs: int) -> frozenset[MetricName]:
    """Metrics whose p-values pass, from the smallest on, until one does not; of those, the ones that clear the noise.

    ``comparisons`` are all tests that share alpha after ``runs`` runs of ``plan``.
    """
    passed = []
    ascending = sorted(comparisons, key=lambda name: comparisons[name].p_value)
    for left, name in zip(range(len(ascending), 0, -1), ascending, strict=True):
        if comparisons[name].p_value > look_level(plan, runs, ALPHA / left) + _ROUNDING:
            break
        passed.append(name)
    return frozenset(name for name in passed if comparisons[name].flagged)


def _chance(found: NoiseComparison, plan: RunPlan, runs: int, n_metrics: int, min_effect: float) -> float:
    """Chance that more runs would flag the metric; none where its runs came out the same, as more of them would."""
    if not found.measured_noise:
        return 0.0
    standard_error = found.noise_band / NormalDist().inv_cdf(1 - look_level(plan, runs, ALPHA))
    in_standard_errors = min_effect / standard_error if standard_error > 0 else 0.0
    return chance_of_flag(plan, runs, found.p_value, ALPHA / n_metrics, in_standard_errors)


def _why_stop(
    flagged: frozenset[MetricName], chances: Mapping[MetricName, float], *, unchanged: bool, is_last: bool
) -> StopReason | None:
    if flagged:
        return "worse"
    if unchanged:
        return "unchanged"
    if is_last:
        return "all_runs"
    return None if max(chances.values(), default=0.0) >= GIVE_UP_BELOW else "unlikely"
