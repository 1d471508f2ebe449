"""Agreement with people: the figures of the textbooks, with intervals that keep their promise."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import balanced_accuracy_score, cohen_kappa_score, roc_auc_score

from faithbot.agreement import area_under_curve, balanced_accuracy, cohens_kappa
from faithbot.intervals import difference, share

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Flags = NDArray[np.bool_]

CLAIMS = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=2, max_size=60).filter(
    lambda pairs: len({truth for truth, _ in pairs}) == 2
)
SCORED = st.lists(st.tuples(st.booleans(), st.sampled_from([0.0, 0.1, 0.4, 0.5, 0.9, 1.0])), min_size=2).filter(
    lambda pairs: len({truth for truth, _ in pairs}) == 2
)


def columns(pairs: list[tuple[bool, bool]]) -> tuple[Flags, Flags]:
    truth, judged = zip(*pairs, strict=True)
    return np.array(truth), np.array(judged)


@given(CLAIMS)
def test_balanced_accuracy_and_kappa_are_those_of_the_textbook(pairs: list[tuple[bool, bool]]) -> None:
    truth, judged = columns(pairs)
    assert balanced_accuracy(truth, judged).value == pytest.approx(balanced_accuracy_score(truth, judged))
    assert cohens_kappa(truth, judged).value == pytest.approx(cohen_kappa_score(truth, judged), abs=1e-12)


@given(SCORED)
def test_the_area_is_that_of_the_textbook(pairs: list[tuple[bool, float]]) -> None:
    truth, scores = (np.array(column) for column in zip(*pairs, strict=True))
    assert area_under_curve(truth, scores).value == pytest.approx(roc_auc_score(truth, scores))


@given(CLAIMS)
def test_every_interval_holds_its_figure_and_ends_where_the_figure_can(pairs: list[tuple[bool, bool]]) -> None:
    truth, judged = columns(pairs)
    area = area_under_curve(truth, judged.astype(float))
    for figure, lowest in ((balanced_accuracy(truth, judged), 0), (area, 0), (cohens_kappa(truth, judged), -1)):
        assert lowest <= figure.low <= figure.value <= figure.high <= 1
        assert figure.low < figure.high


@given(CLAIMS)
def test_who_is_called_the_judge_does_not_matter_to_kappa(pairs: list[tuple[bool, bool]]) -> None:
    truth, judged = columns(pairs)
    if judged.all() or not judged.any():
        return
    assert cohens_kappa(truth, judged) == pytest.approx(cohens_kappa(judged, truth))


def test_ten_claims_without_a_mistake_are_no_proof_of_a_judge_that_makes_none() -> None:
    truth = np.arange(10) < 5
    assert balanced_accuracy(truth, truth).low < 0.9
    assert cohens_kappa(truth, truth).low < 0.9
    assert area_under_curve(truth, truth.astype(float)).low < 0.9


@pytest.mark.parametrize("truth", [[True, True], [False, False, False]])
def test_claims_of_one_kind_tell_nothing(truth: list[bool]) -> None:
    for figure in (balanced_accuracy, cohens_kappa):
        with pytest.raises(ValueError, match="supported, and others"):
            figure(np.array(truth), np.array(truth))
    with pytest.raises(ValueError, match="supported, and others"):
        area_under_curve(np.array(truth), np.zeros(len(truth)))


def test_the_interval_of_a_share_is_wilsons() -> None:
    """Example of Newcombe, Statistics in Medicine 17 (1998), 857-872: 81 of 263."""
    assert share(81, 263) == pytest.approx((81 / 263, 0.2553, 0.3662), abs=5e-5)
    assert share(0, 20)[:2] == (0, 0)


def judged_by(truth: Flags, right: float, rng: np.random.Generator) -> Flags:
    return truth == (rng.random(len(truth)) < right)


@pytest.mark.parametrize("right", [0.7, 0.9])
def test_19_of_20_intervals_hold_the_truth(right: float) -> None:
    """60 claims, 2 of 3 of them supported, by a judge that is right with a known chance."""
    rng = np.random.default_rng(7)
    by_chance = (2 / 3) * (1 + right) / 3 + (1 / 3) * (2 - right) / 3
    kappa = (right - by_chance) / (1 - by_chance)
    held = np.zeros(2)
    for _ in range(1000):
        truth = rng.random(60) < 2 / 3
        judged = judged_by(truth, right, rng)
        found = balanced_accuracy(truth, judged), cohens_kappa(truth, judged)
        held += [found[0].low <= right <= found[0].high, found[1].low <= kappa <= found[1].high]
    assert (held / 1000 >= 0.925).all()
    assert (held / 1000 <= 0.985).all()


@pytest.mark.parametrize(
    ("first", "second", "low", "high"),
    [((56, 70), (48, 80), 0.0524, 0.3339), ((9, 10), (3, 10), 0.1705, 0.8090), ((10, 10), (0, 10), 0.6075, 1.0)],
)
def test_the_difference_of_two_shares_has_the_interval_of_newcombes_table(
    first: tuple[int, int], second: tuple[int, int], low: float, high: float
) -> None:
    """Examples (a), (b) and (h) of the table in his paper, method 10."""
    found = difference(share(*first), share(*second))
    assert (found.low, found.high) == pytest.approx((low, high), abs=5e-5)
