"""Noise taken apart: what answering anew gives, and what judging the same answer anew gives."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from faithbot.noise_sources import NoiseSplit, split_noise, variance_of_runs


def simulated(generator: float, judge: float, *, questions: int = 4000, runs: int = 2, repeats: int = 2) -> np.ndarray:
    """Scores with the given standard deviations of the two sources."""
    rng = np.random.default_rng(11)
    levels = rng.uniform(0.5, 1.0, (questions, 1, 1))
    answers = rng.normal(0, generator, (questions, runs, 1))
    return levels + answers + rng.normal(0, judge, (questions, runs, repeats))


@pytest.mark.parametrize(("generator", "judge"), [(0.1, 0.1), (0.02, 0.2), (0.2, 0.02), (0.0, 0.1)])
@pytest.mark.parametrize(("runs", "repeats"), [(2, 2), (3, 2), (2, 4)])
def test_both_sources_are_found_again(generator: float, judge: float, runs: int, repeats: int) -> None:
    split = split_noise(simulated(generator, judge, runs=runs, repeats=repeats))
    assert split is not None
    assert split.judge == pytest.approx(judge**2, rel=0.1)
    assert split.generator == pytest.approx(generator**2, rel=0.1, abs=0.1 * judge**2)


def test_an_example_by_hand() -> None:
    """Judgements of an answer differ by 0.2 (variance 0.02), those of two runs by 0.4 and by 0.4 (0.08 each)."""
    split = split_noise([[[0.4, 0.6], [0.8, 1.0]]])
    assert split == NoiseSplit(generator=pytest.approx(0.06), judge=pytest.approx(0.02))
    assert split.judge_share == pytest.approx(0.25)


def test_a_judge_that_repeats_itself_has_no_part() -> None:
    split = split_noise([[[0.4, 0.4], [0.8, 0.8]], [[1, 1], [1, 1]]])
    assert split is not None
    assert split.judge_share == 0


def test_answers_that_repeat_themselves_leave_the_noise_to_the_judge() -> None:
    split = split_noise([[[0.4, 0.8], [0.8, 0.4]]])
    assert split is not None
    assert split.judge_share == 1


def test_no_noise_has_no_shares() -> None:
    split = split_noise(np.ones((3, 2, 2)))
    assert split == NoiseSplit(0, 0)
    assert split.judge_share is None


@pytest.mark.parametrize(
    "scores",
    [
        np.ones((3, 1, 2)),  # one run
        np.ones((3, 2, 1)),  # judged once
        np.full((3, 2, 2), np.nan),
        np.ones((0, 2, 2)),
        [[[1, np.nan], [1, np.nan]]],
        [[[1, 1], [np.nan, np.nan]]],
    ],
)
def test_what_was_not_repeated_cannot_be_taken_apart(scores: np.ndarray) -> None:
    assert split_noise(scores) is None


def test_unscored_judgements_are_left_out() -> None:
    scores = simulated(0.1, 0.1)
    scores[::3, 1, 1] = np.nan
    scores[1::3, 0, :] = np.nan
    split = split_noise(scores)
    assert split is not None
    assert split.judge_share == pytest.approx(0.5, abs=0.05)


@given(arrays(float, (3, 2, 2), elements=st.floats(0, 1)), st.permutations([0, 1, 2]))
def test_order_does_not_matter_and_scale_is_squared(scores: np.ndarray, order: list[int]) -> None:
    split, shuffled, doubled = split_noise(scores), split_noise(scores[order, ::-1, ::-1]), split_noise(2 * scores)
    assert split is not None
    assert shuffled is not None
    assert doubled is not None
    assert (shuffled.generator, shuffled.judge) == pytest.approx((split.generator, split.judge))
    assert (doubled.generator, doubled.judge) == pytest.approx((4 * split.generator, 4 * split.judge))


def test_levels_of_questions_are_no_noise() -> None:
    assert variance_of_runs([[0, 0], [1, 1]]) == 0
    assert variance_of_runs([[0, 1], [5, 5]]) == pytest.approx(0.25)
    assert variance_of_runs([[0], [1]]) is None


def test_other_shapes_are_refused() -> None:
    with pytest.raises(ValueError, match=r"shape \(questions, runs, judgements\), not \(3, 2\)"):
        split_noise(np.ones((3, 2)))
