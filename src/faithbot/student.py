"""Quantiles of Student's t for whole degrees of freedom, so that no statistics package is needed at run time.

Formulas by number: Abramowitz and Stegun, *Handbook of Mathematical Functions* (1964), chapter 26.
"""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist

_NORMAL = NormalDist()
_SERIES_LIMIT = 200
"""From here on the expansion around the normal quantile is closer than 1e-8 and the series only slower."""


def student_cdf(t: float, df: int) -> float:
    """P(T <= t) for ``df`` >= 1 degrees of freedom, by the finite series 26.7.3 (odd df) and 26.7.4 (even df)."""
    angle = math.atan2(t, math.sqrt(df))
    sine, cosine = math.sin(angle), math.cos(angle)
    odd = df % 2
    term = cosine if odd else 1.0
    total = 0.0
    for k in range(df // 2):
        total += term
        term *= cosine * cosine * (2 * k + 1 + odd) / (2 * k + 2 + odd)
    centre = 2 / math.pi * (angle + sine * total) if odd else sine * total
    return (1 + centre) / 2


@lru_cache(maxsize=256)
def student_quantile(probability: float, df: int) -> float:
    """The t with P(T <= t) = ``probability``; within 1e-8 of the true value for probabilities of 0.0001 to 0.9999.

    Raises ValueError where ``probability`` is not between 0 and 1 or ``df`` is not positive.
    """
    if not 0 < probability < 1:
        raise ValueError(f"a probability lies between 0 and 1, not at {probability}")
    if df < 1:
        raise ValueError(f"Student's t needs at least one degree of freedom, not {df}")
    if probability < 0.5:
        return -student_quantile(1 - probability, df)
    return _invert_cdf(probability, df) if df < _SERIES_LIMIT else _expansion(probability, df)


def _invert_cdf(probability: float, df: int) -> float:
    """Bisection: the CDF rises everywhere, and 80 halvings exhaust a float."""
    low, high = 0.0, 1.0
    while student_cdf(high, df) < probability and math.isfinite(high):
        low, high = high, 2 * high
    for _ in range(80):
        middle = (low + high) / 2
        if student_cdf(middle, df) < probability:
            low = middle
        else:
            high = middle
    return high


def _expansion(probability: float, df: int) -> float:
    """26.7.5: the normal quantile, corrected in powers of 1/df."""
    x = _NORMAL.inv_cdf(probability)
    corrections = (
        (x**3 + x) / 4,
        (5 * x**5 + 16 * x**3 + 3 * x) / 96,
        (3 * x**7 + 19 * x**5 + 17 * x**3 - 15 * x) / 384,
        (79 * x**9 + 776 * x**7 + 1482 * x**5 - 1920 * x**3 - 945 * x) / 92160,
    )
    return x + math.fsum(correction / df**power for power, correction in enumerate(corrections, start=1))
