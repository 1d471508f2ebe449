"""A figure with its 95 % interval, and that of a share."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import NamedTuple

Z = NormalDist().inv_cdf(0.975)
"""Half the width of a 95 % interval, in standard errors."""


class Interval(NamedTuple):
    """A figure and its 95 % interval."""

    value: float
    low: float
    high: float


def share(successes: float, n: int) -> Interval:
    """A share of ``n`` >= 1 claims and its score interval (Wilson, *JASA* 22, 1927, 209-212). Successes may be
    a mean of several counts."""
    value = successes / n
    centre = (value + Z**2 / (2 * n)) / (1 + Z**2 / n)
    half = Z / (1 + Z**2 / n) * math.sqrt(value * (1 - value) / n + Z**2 / (4 * n**2))
    return Interval(value, min(value, max(0.0, centre - half)), max(value, min(1.0, centre + half)))


def difference(a: Interval, b: Interval) -> Interval:
    """``a`` - ``b`` of two independent shares, from the Wilson interval of each: method 10 of Newcombe, *Statistics in
    Medicine* 17, 1998, 873-890."""
    value = a.value - b.value
    down = math.hypot(a.value - a.low, b.high - b.value)
    up = math.hypot(a.high - a.value, b.value - b.low)
    return Interval(value, value - down, value + up)
