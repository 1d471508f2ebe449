"""How many runs are enough? More runs only where they can still turn the verdict, at the same false alarms overall.

A group-sequential test. After each run from ``fewest`` to ``most`` the verdict is looked at with the relabelling test
of :mod:`faithbot.noise`, at a level of its own. The levels spend alpha by the function of Lan and DeMets (1983) that
comes close to Pocock's boundary: alpha * ln(1 + (e - 1) * runs / most). Were the looks independent, the levels would
have to add up to alpha; they share their runs, so the sums of runs form a random walk, and the levels follow from its
distribution. Whatever the levels, giving up early can only lower the false alarms, so that rule needs no correction:
it stops where the next runs would turn the verdict red in fewer than 1 of 5 cases (the predictive power of
Spiegelhalter, Freedman and Blackburn, 1986).
"""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from faithbot.relabelling import Floats
    from faithbot.run_plan import RunPlan

GIVE_UP_BELOW = 0.2
"""Chance that the runs that are left turn the verdict red, below which they are not worth their calls."""
_POWER = 0.8
_STEPS = 25
"""Points of the grid per standard deviation of one run."""
_REACH = 8
"""Standard deviations of all runs that the grid spans on each side."""
_NORMAL = NormalDist()


def spent_alpha(plan: RunPlan, runs: int, alpha: float) -> float:
    """How much of ``alpha`` may have been used up by false alarms after ``runs`` runs; all of it at the last look."""
    return alpha * math.log1p((math.e - 1) * runs / plan.most)


def look_level(plan: RunPlan, runs: int, alpha: float) -> float:
    """The p-value that flags at the look after ``runs`` runs: false alarms of all looks together are ``alpha``."""
    return _levels(plan, alpha)[runs - plan.fewest]


def chance_of_flag(plan: RunPlan, runs: int, p_value: float, alpha: float, min_effect: float = 0.0) -> float:
    """Chance that the last look flags, given what ``runs`` runs show; before them, any change was as likely as another.

    ``min_effect``: the change that must be exceeded, in standard errors of the change after ``runs`` runs.
    """
    if runs >= plan.most or p_value >= 1:
        return 0.0
    ratio = plan.most / runs
    needed = max(_z(look_level(plan, plan.most, alpha)), min_effect * math.sqrt(ratio))
    return _NORMAL.cdf((_z(p_value) * math.sqrt(ratio) - needed) / math.sqrt(ratio - 1))


def detectable_factor(plan: RunPlan, runs: int, alpha: float) -> float:
    """What turns the smallest change that is seen at one look, at its level, into the smallest that the plan sees.

    What one look sees belongs to the runs that it had; the plan would have made more for a change of that size.
    """
    if plan.fewest == plan.most:
        return 1.0
    at_this_look = _z(look_level(plan, runs, alpha)) + _z(1 - _POWER)
    return _smallest_drift(plan, alpha) * math.sqrt(runs) / at_this_look


@lru_cache(maxsize=64)
def _smallest_drift(plan: RunPlan, alpha: float) -> float:
    """The change, in standard deviations of one run, that the plan flags in 8 of 10 cases: by bisection."""
    low, high = 0.0, 10.0
    for _ in range(20):
        drift = (low + high) / 2
        low, high = (low, drift) if _power(plan, alpha, drift) >= _POWER else (drift, high)
    return high


def _z(tail: float) -> float:
    """The standard normal value that is exceeded with the probability ``tail``, which is never quite 0 or 1."""
    return -_NORMAL.inv_cdf(min(max(tail, 1e-300), 1 - 1e-16))


@lru_cache(maxsize=64)
def _levels(plan: RunPlan, alpha: float) -> tuple[float, ...]:
    """Levels of all looks, by the recursion of Armitage, McPherson and Rowe (1969) over the sum of runs."""
    if plan.fewest == plan.most:
        return (alpha,)
    walk = _Walk(plan.most)
    levels = []
    spent = 0.0
    for runs in plan.looks:
        walk.go_on(runs)
        allowed = spent_alpha(plan, runs, alpha)
        boundary = walk.boundary(allowed - spent)
        walk.stop_above(boundary)
        levels.append(_NORMAL.cdf(-boundary / math.sqrt(runs)))
        spent = allowed
    return tuple(levels)


def _power(plan: RunPlan, alpha: float, drift: float) -> float:
    """Chance to be flagged at any look where each run moves the sum by ``drift`` standard deviations."""
    walk = _Walk(plan.most, drift)
    flagged = 0.0
    last = _z(look_level(plan, plan.most, alpha))
    for runs in plan.looks:
        walk.go_on(runs)
        flagged += walk.stop_above(_z(look_level(plan, runs, alpha)) * math.sqrt(runs))
        ratio = plan.most / runs
        give_up = (last - _z(GIVE_UP_BELOW) * math.sqrt(ratio - 1)) / math.sqrt(ratio)
        walk.stop_below(give_up * math.sqrt(runs))
    return flagged


class _Walk:
    """Distribution of the sum of runs, in standard deviations of one run, among the comparisons that still go on."""

    def __init__(self, most: int, drift: float = 0.0) -> None:
        half = math.ceil((_REACH * math.sqrt(most) + drift * most) * _STEPS)
        self._points: Floats = np.arange(-half, half + 1) / _STEPS
        self._shares: Floats = (self._points == 0).astype(float)
        self._runs = 0
        self._drift = drift

    def go_on(self, runs: int) -> None:
        """Add the runs up to ``runs``."""
        added = runs - self._runs
        half = math.ceil((_REACH * math.sqrt(added) + self._drift * added) * _STEPS)
        steps = np.arange(-half, half + 1) / _STEPS
        kernel = np.exp(-((steps - self._drift * added) ** 2) / (2 * added))
        self._shares = np.convolve(self._shares, kernel / kernel.sum())[half : half + len(self._points)]
        self._runs = runs

    def boundary(self, share: float) -> float:
        """The sum that is passed by ``share`` of all comparisons (those that stopped before count in all)."""
        beyond = np.cumsum(self._shares[::-1])[::-1]
        first = int(np.argmax(beyond <= share))
        within = (beyond[first - 1] - share) / self._shares[first - 1]
        return float(self._points[first - 1] + (within - 0.5) / _STEPS)

    def stop_above(self, boundary: float) -> float:
        """Take out what lies above; its share of all comparisons."""
        kept = np.clip((boundary - self._points) * _STEPS + 0.5, 0, 1)
        stopped = float((self._shares * (1 - kept)).sum())
        self._shares = self._shares * kept
        return stopped

    def stop_below(self, boundary: float) -> None:
        """Take out what lies below."""
        self._shares = self._shares * np.clip((self._points - boundary) * _STEPS + 0.5, 0, 1)
