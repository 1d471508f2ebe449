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


def share(successes: int, n: int) -> Interval:
    """A share of ``n`` >= 1 claims and its score interval (Wilson, *JASA* 22, 1927, 209-212)."""
    value = successes / n
    centre = (value + Z**2 / (2 * n)) / (1 + Z**2 / n)
    half = Z / (1 + Z**2 / n) * math.sqrt(value * (1 - value) / n + Z**2 / (4 * n**2))
    return Interval(value, min(value, max(0.0, centre - half)), max(value, min(1.0, centre + half)))
