"""Probabilities that mean what they say: two parameters fitted on the logit scale.

Method: Platt, *Probabilistic Outputs for Support Vector Machines* (1999), with the targets, which no separable data can
drive to infinity, and Newton's method as in Lin, Lin and Weng, *Machine Learning* 68 (2007), 267-276.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_SUREST = 1e-4
"""No probability counts as nearer to 0 or 1: a single wrong claim that a judge is sure of would decide the slope."""
_PRIOR = 1e-3
"""Weight, in claims, of the belief that nothing is to correct: it decides only where the data say nothing."""
_MOST_STEPS = 100
_CLOSE = 1e-9


class Platt(NamedTuple):
    """Calibrated probability = sigmoid(slope × logit(probability) + intercept)."""

    slope: float
    intercept: float

    def apply(self, probabilities: Floats) -> Floats:
        """Calibrated probabilities, of the same shape."""
        return _sigmoid(self.slope * _logit(probabilities) + self.intercept)


def fit_platt(truth: NDArray[np.bool_], probabilities: Floats) -> Platt:
    """The slope and intercept with the largest likelihood; shapes (claims,). A slope below 0: worse than chance."""
    design = np.column_stack([_logit(probabilities), np.ones(len(truth))])
    n_true = int(truth.sum())
    targets = np.where(truth, (n_true + 1) / (n_true + 2), 1 / (len(truth) - n_true + 2))
    prior = np.array([1.0, 0.0])

    def loss(weights: Floats) -> float:
        scores = design @ weights
        fit = np.logaddexp(0.0, scores).sum() - targets @ scores
        return float(fit + _PRIOR / 2 * ((weights - prior) ** 2).sum())

    weights = prior
    for _ in range(_MOST_STEPS):
        fitted = _sigmoid(design @ weights)
        gradient = design.T @ (fitted - targets) + _PRIOR * (weights - prior)
        curvature = (design.T * (fitted * (1 - fitted))) @ design + _PRIOR * np.eye(2)
        step = np.linalg.solve(curvature, gradient)
        now, scale = loss(weights), 1.0
        while loss(weights - scale * step) > now and scale > _CLOSE:
            scale /= 2
        weights = weights - scale * step
        if np.abs(scale * step).max() < _CLOSE:
            break
    return Platt(float(weights[0]), float(weights[1]))


def _logit(probabilities: Floats) -> Floats:
    clipped = np.clip(probabilities, _SUREST, 1 - _SUREST)
    return np.asarray(np.log(clipped / (1 - clipped)), dtype=np.float64)


def _sigmoid(scores: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-scores)), dtype=np.float64)
