"""How far a judge and people agree on which claims are supported: figures, each with its interval.

Arrays in, numbers out. ``truth`` says what people hold supported and must hold both cases; intervals are at 95 %. None
of them shrinks to nothing where a few claims all came out right: that would promise what nobody can know.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Flags = NDArray[np.bool_]
    Floats = NDArray[np.float64]

_Z = NormalDist().inv_cdf(0.975)
_HALVINGS = 60
"""Steps of a bisection: more than a float can tell apart."""


class Interval(NamedTuple):
    """A figure and its 95 % interval."""

    value: float
    low: float
    high: float


def share(successes: float, n: int) -> Interval:
    """A share of ``n`` >= 1 claims and its score interval (Wilson, *JASA* 22, 1927, 209-212). Successes may be
    a mean of several counts."""
    value = successes / n
    centre = (value + _Z**2 / (2 * n)) / (1 + _Z**2 / n)
    half = _Z / (1 + _Z**2 / n) * math.sqrt(value * (1 - value) / n + _Z**2 / (4 * n**2))
    return Interval(value, min(value, max(0.0, centre - half)), max(value, min(1.0, centre + half)))


def difference(a: Interval, b: Interval) -> Interval:
    """``a`` - ``b`` of two independent shares, from the Wilson interval of each: method 10 of Newcombe, *Statistics in
    Medicine* 17, 1998, 873-890."""
    value = a.value - b.value
    down = math.hypot(a.value - a.low, b.high - b.value)
    up = math.hypot(a.high - a.value, b.value - b.low)
    return Interval(value, value - down, value + up)


def balanced_accuracy(truth: Flags, judged: Flags) -> Interval:
    """Mean of the shares found among supported and among other claims, 0 to 1; chance is 0.5. Shapes (claims,).

    The interval adds the Wilson intervals of the two shares by squares (Newcombe, *Statistics in Medicine* 17, 1998,
    873-890, method 10).
    """
    _require_both(truth)
    found = [share(int((judged[truth == case] == case).sum()), int((truth == case).sum())) for case in (True, False)]
    value = sum(part.value for part in found) / 2
    down = math.hypot(*(part.value - part.low for part in found)) / 2
    up = math.hypot(*(part.high - part.value for part in found)) / 2
    return Interval(value, value - down, value + up)


def area_under_curve(truth: Flags, probabilities: Floats) -> Interval:
    """Chance that a supported claim has a higher probability than another one, ties half; 0.5 is chance.

    The interval holds the areas that lie within their own standard error (Hanley and McNeil, *Radiology* 143, 1982,
    29-36, with both sample sizes averaged) of the measured one: method 5 of Newcombe, *Statistics in Medicine* 25,
    2006, 559-573.
    """
    _require_both(truth)
    above, below = probabilities[truth], np.sort(probabilities[~truth])
    beaten = (np.searchsorted(below, above, "left") + np.searchsorted(below, above, "right")) / 2
    value = float(beaten.mean() / len(below))

    def is_near(area: float) -> bool:
        return abs(area - value) <= _Z * math.sqrt(_variance_of_area(area, len(above), len(below)))

    return Interval(value, _furthest(value, 0.0, is_near), _furthest(value, 1.0, is_near))


def _variance_of_area(area: float, n_above: int, n_below: int) -> float:
    others = (n_above + n_below) / 2 - 1
    spread = 1 + others * ((1 - area) / (2 - area) + area / (1 + area))
    return area * (1 - area) * spread / (n_above * n_below)


def _furthest(start: float, end: float, is_near: Callable[[float], bool]) -> float:
    """The point furthest from ``start`` towards ``end`` up to which ``is_near`` holds."""
    if is_near(end):
        return end
    inside, outside = start, end
    for _ in range(_HALVINGS):
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if is_near(middle) else (inside, middle)
    return inside


def cohens_kappa(truth: Flags, judged: Flags) -> Interval:
    """Cohen's kappa, -1 to 1: 0 is the agreement of chance, 1 is perfect.

    Large-sample standard error of Fleiss, Cohen and Everitt (*Psychological Bulletin* 72, 1969, 323-327), taken from
    the table with half a claim added to each cell (as Agresti advises for sparse tables), else a table without any
    disagreement had none.
    """
    _require_both(truth)
    table = np.array([[np.sum((truth == a) & (judged == b)) for b in (True, False)] for a in (True, False)], float)
    value, _ = _kappa(table)
    centre, error = _kappa(table + 0.5)
    return Interval(value, min(value, max(-1.0, centre - _Z * error)), max(value, min(1.0, centre + _Z * error)))


def _kappa(table: Floats) -> tuple[float, float]:
    """Kappa of a table of counts, and its standard error."""
    n = table.sum()
    shares = table / n
    rows, columns = shares.sum(axis=1), shares.sum(axis=0)
    by_chance = float(rows @ columns)
    kappa = (float(np.trace(shares)) - by_chance) / (1 - by_chance)
    agreeing = sum(shares[i, i] * (1 - (rows[i] + columns[i]) * (1 - kappa)) ** 2 for i in (0, 1))
    disagreeing = (1 - kappa) ** 2 * sum(shares[i, 1 - i] * (columns[i] + rows[1 - i]) ** 2 for i in (0, 1))
    spread = agreeing + disagreeing - (kappa - by_chance * (1 - kappa)) ** 2
    return kappa, math.sqrt(max(0.0, float(spread)) / n) / (1 - by_chance)


def _require_both(truth: Flags) -> None:
    if truth.all() or not truth.any():
        raise ValueError("agreement takes claims that people hold supported, and others")
