"""Student's t without a statistics package: the same numbers as scipy's."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from faithbot.student import student_cdf, student_quantile

PROBABILITIES = [0.0001, 0.001, 0.01, 0.025, 0.05, 0.2, 0.499, 0.5, 0.8, 0.9, 0.95, 0.975, 0.99, 0.999, 0.9999]
DEGREES = [*range(1, 41), 59, 60, 99, 100, 198, 199, 200, 201, 500, 1_000, 40_000, 10_000_000]


@pytest.mark.parametrize("df", DEGREES)
def test_quantiles_agree_with_scipy(df: int) -> None:
    ours = [student_quantile(probability, df) for probability in PROBABILITIES]
    assert ours == pytest.approx(stats.t.ppf(PROBABILITIES, df), rel=1e-8, abs=1e-8)


@pytest.mark.parametrize("df", [1, 2, 3, 4, 7, 12, 59, 150])
@pytest.mark.parametrize("t", [-40.0, -3.0, -0.5, 0.0, 0.1, 1.0, 2.5, 12.0])
def test_probabilities_agree_with_scipy(t: float, df: int) -> None:
    assert student_cdf(t, df) == pytest.approx(stats.t.cdf(t, df), abs=1e-12)


def test_textbook_quantiles() -> None:
    assert student_quantile(0.95, 4) == pytest.approx(2.1318, abs=5e-5)
    assert student_quantile(0.975, 1) == pytest.approx(12.7062, abs=5e-5)


@given(st.floats(0.001, 0.999), st.integers(1, 400))
def test_quantile_is_odd_and_undoes_the_cdf(probability: float, df: int) -> None:
    t = student_quantile(probability, df)
    assert student_cdf(t, df) == pytest.approx(probability, abs=1e-8)
    assert student_quantile(1 - probability, df) == pytest.approx(-t, abs=1e-6)


@given(st.floats(0.51, 0.999), st.integers(1, 400))
def test_more_degrees_of_freedom_never_widen_the_quantile(probability: float, df: int) -> None:
    assert student_quantile(probability, df + 1) <= student_quantile(probability, df) + 1e-9


@pytest.mark.parametrize("probability", [-0.1, 0.0, 1.0, math.nan])
def test_a_probability_outside_zero_to_one_is_refused(probability: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        student_quantile(probability, 5)


def test_no_degrees_of_freedom_are_refused() -> None:
    with pytest.raises(ValueError, match="degree of freedom"):
        student_quantile(0.9, 0)
