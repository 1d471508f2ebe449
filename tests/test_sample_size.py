"""How many questions and runs it takes: what is planned is what `compare_runs` then sees."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithbot.noise import compare_runs
from faithbot.sample_size import MOST_QUESTIONS, questions_for, smallest_drop

VARIANCES = st.floats(1e-4, 0.25)


@pytest.mark.parametrize(("questions", "runs"), [(12, 2), (50, 2), (30, 3)])
def test_what_is_planned_is_seen_in_8_of_10_comparisons(questions: int, runs: int) -> None:
    """600 simulated pull requests in Gaussian noise; 8 of 10 within three standard errors (1.6 points each)."""
    rng = np.random.default_rng(5)
    drop = smallest_drop(0.01, questions, runs)
    seen = sum(
        compare_runs(
            0.8 + rng.normal(0, 0.1, (questions, runs)), 0.8 - drop + rng.normal(0, 0.1, (questions, runs))
        ).flagged
        for _ in range(600)
    )
    assert 0.75 <= seen / 600 <= 0.85


def test_the_formula_is_that_of_a_comparison() -> None:
    rng = np.random.default_rng(6)
    base, head = rng.normal(0.8, 0.1, (2, 40, 2))
    variance = float(np.mean([side.var(axis=1, ddof=1) for side in (base, head)]))
    assert smallest_drop(variance, 40, 2) == pytest.approx(compare_runs(base, head).smallest_detectable)


def test_what_the_gate_ignores_is_planned_for() -> None:
    """As the comment does it: with much less noise than min_effect, twice as many questions hardly help."""
    rng = np.random.default_rng(6)
    base, head = rng.normal(0.8, 0.02, (2, 40, 2))
    variance = float(np.mean([side.var(axis=1, ddof=1) for side in (base, head)]))
    seen = compare_runs(base, head, min_effect=0.05).smallest_detectable
    assert smallest_drop(variance, 40, 2, min_effect=0.05) == pytest.approx(seen)
    assert smallest_drop(variance, 80, 2, min_effect=0.05) > 0.05
    assert questions_for(0.05, variance, 2, min_effect=0.05) is None
    assert questions_for(seen, variance, 2, min_effect=0.05) == pytest.approx(40, abs=1)


@given(VARIANCES, st.floats(0.005, 0.5), st.integers(2, 6))
def test_no_fewer_questions_would_do(variance: float, drop: float, runs: int) -> None:
    questions = questions_for(drop, variance, runs)
    if questions is None:
        assert smallest_drop(variance, MOST_QUESTIONS, runs) > drop
        return
    assert smallest_drop(variance, questions, runs) <= drop
    assert questions == 1 or smallest_drop(variance, questions - 1, runs) > drop


@given(VARIANCES, st.integers(1, 500), st.integers(2, 6))
def test_more_of_anything_sees_more(variance: float, questions: int, runs: int) -> None:
    drop = smallest_drop(variance, questions, runs)
    assert smallest_drop(variance, questions + 1, runs) < drop
    assert smallest_drop(variance, questions, runs + 1) < drop
    assert smallest_drop(4 * variance, questions, runs) == pytest.approx(2 * drop)


def test_one_question_answered_twice_shows_nothing() -> None:
    """Six relabellings of four runs: the smallest p-value is 1/12."""
    assert smallest_drop(0.01, 1, 2) == math.inf
    assert compare_runs([[0.8, 0.9]], [[0.1, 0.2]]).smallest_detectable == math.inf
    assert questions_for(0.5, 1e-4, 2) == 2


@pytest.mark.parametrize(("questions", "runs"), [(0, 2), (10, 1)])
def test_too_little_to_measure_noise_is_refused(questions: int, runs: int) -> None:
    with pytest.raises(ValueError, match="2 runs and 1 question at least"):
        smallest_drop(0.01, questions, runs)
