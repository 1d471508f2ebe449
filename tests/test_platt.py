"""Calibration: what is said with 0.8 comes true in 8 of 10 cases, and no data make it blow up."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from faithbot.platt import Platt, fit_platt

ROWS = st.lists(st.tuples(st.booleans(), st.floats(0, 1)), min_size=1, max_size=50)


def test_it_undoes_an_overconfident_judge() -> None:
    rng = np.random.default_rng(3)
    logits = rng.normal(0.5, 1.5, 20_000)
    truth = rng.random(20_000) < 1 / (1 + np.exp(-logits))
    said = 1 / (1 + np.exp(-(2 * logits - 1)))  # twice as sure as it may be, and too strict
    platt = fit_platt(truth, said)
    assert platt == pytest.approx((0.5, 0.5), abs=0.05)
    calibrated = platt.apply(said)
    for low in np.arange(0.1, 0.9, 0.1):
        within = (calibrated >= low) & (calibrated < low + 0.1)
        assert truth[within].mean() == pytest.approx(calibrated[within].mean(), abs=0.05)


def test_it_is_the_logistic_regression_of_the_textbook() -> None:
    rng = np.random.default_rng(4)
    said = rng.uniform(0.01, 0.99, 3000)
    truth = rng.random(3000) < said**2
    logits = np.log(said / (1 - said))
    plain = LogisticRegression(C=1e9).fit(logits[:, None], truth)
    assert fit_platt(truth, said) == pytest.approx((plain.coef_[0, 0], plain.intercept_[0]), abs=0.02)


@given(ROWS)
def test_whatever_the_rows_it_ends_with_numbers_and_keeps_the_order(rows: list[tuple[bool, float]]) -> None:
    truth, said = (np.array(column) for column in zip(*rows, strict=True))
    platt = fit_platt(truth, said)
    assert np.isfinite(platt).all()
    assert max(map(abs, platt)) < 50
    calibrated = platt.apply(np.sort(said))
    assert ((calibrated >= 0) & (calibrated <= 1)).all()
    assert (np.diff(calibrated) * np.sign(platt.slope) >= 0).all()


def test_a_judge_that_never_errs_does_not_become_infinitely_sure() -> None:
    truth = np.arange(40) < 20
    assert np.abs(fit_platt(truth, truth.astype(float))).max() < 5


def test_where_the_data_say_nothing_nothing_is_changed() -> None:
    empty = np.array([])
    assert fit_platt(empty.astype(bool), empty) == Platt(1, 0)
