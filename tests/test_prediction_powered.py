"""The mean of many judged claims, corrected by some labelled ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithbot.prediction_powered import corrected_mean, labelled_moments

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

SHARES = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=2, max_size=50)
JUDGED = st.lists(st.booleans(), min_size=1, max_size=50)


def claims(n: int, supported: float, finds: float, errs: float, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Labels, and a judge that calls this share of the supported and of the other claims supported."""
    truth = rng.random(n) < supported
    judged = rng.random(n) < np.where(truth, finds, errs)
    return truth.astype(float), judged.astype(float)


def one_a_cluster(predictions: Floats) -> NDArray[np.int64]:
    return np.arange(len(predictions))


@given(SHARES, JUDGED)
def test_the_interval_lies_between_0_and_1_and_holds_the_estimate(
    labelled: list[tuple[bool, bool]], judged: list[bool]
) -> None:
    labels, predictions = (np.array(column, dtype=float) for column in zip(*labelled, strict=True))
    unlabelled = np.array(judged, dtype=float)
    found = corrected_mean(labelled_moments(labels, predictions), unlabelled, one_a_cluster(unlabelled))
    assert 0 <= found.low <= found.value <= found.high <= 1
    assert found.low < found.high


def test_a_lenient_judges_mean_is_brought_down_to_the_truth() -> None:
    rng = np.random.default_rng(1)
    labels, predictions = claims(2000, 0.6, 0.95, 0.4, rng)
    _, unlabelled = claims(20_000, 0.6, 0.95, 0.4, rng)
    found = corrected_mean(labelled_moments(labels, predictions), unlabelled, one_a_cluster(unlabelled))
    assert unlabelled.mean() == pytest.approx(0.73, abs=0.01)
    assert found.value == pytest.approx(0.6, abs=0.03)


def test_a_good_judge_makes_the_interval_narrower_than_labels_alone_and_a_bad_one_hardly_wider() -> None:
    rng = np.random.default_rng(2)
    widths = {}
    for name, finds, errs in (("good", 0.95, 0.05), ("useless", 0.7, 0.7)):
        labels, predictions = claims(300, 0.6, finds, errs, rng)
        _, unlabelled = claims(5000, 0.6, finds, errs, rng)
        found = corrected_mean(labelled_moments(labels, predictions), unlabelled, one_a_cluster(unlabelled))
        widths[name] = found.high - found.low
    alone = 2 * 1.96 * np.sqrt(0.24 / 300)
    assert widths["good"] < 0.6 * alone
    assert widths["useless"] < 1.05 * alone


def test_claims_of_one_question_count_less_than_as_many_of_several() -> None:
    rng = np.random.default_rng(3)
    moments = labelled_moments(*claims(300, 0.6, 0.9, 0.2, rng))
    unlabelled = np.repeat([1.0, 0.0, 1.0, 1.0, 0.0, 1.0], 10)
    apart = corrected_mean(moments, unlabelled, one_a_cluster(unlabelled))
    together = corrected_mean(moments, unlabelled, np.repeat(np.arange(6), 10))
    assert together.high - together.low > apart.high - apart.low


@pytest.mark.parametrize("n_labelled", [30, 200])
@pytest.mark.parametrize(("supported", "finds", "errs"), [(0.8, 0.9, 0.4), (0.6, 0.97, 0.05)])
def test_19_of_20_intervals_hold_the_truth(n_labelled: int, supported: float, finds: float, errs: float) -> None:
    """24 questions with 8 claims each, more alike within a question than between them."""
    rng = np.random.default_rng(4)
    questions = np.repeat(np.arange(24), 8)
    held = 0
    for _ in range(600):
        of_question = rng.beta(4 * supported, 4 * (1 - supported), 24)
        truth = rng.random(len(questions)) < of_question[questions]
        unlabelled = (rng.random(len(questions)) < np.where(truth, finds, errs)).astype(float)
        moments = labelled_moments(*claims(n_labelled, supported, finds, errs, rng))
        found = corrected_mean(moments, unlabelled, questions)
        held += found.low <= supported <= found.high
    assert held / 600 >= 0.925
