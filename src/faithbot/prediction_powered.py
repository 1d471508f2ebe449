"""A mean over many claims that only a judge has seen, corrected by some that people have labelled, too.

Method: Angelopoulos et al., *Prediction-powered inference*, Science 382 (2023), 669-674, with the weight of the
predictions tuned as in *PPI++* (2023). It assumes that the labelled claims are like the others, and nothing about the
judge: a worse one only makes the interval wider.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from faithbot.intervals import Interval
from faithbot.student import student_quantile

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


class Moments(NamedTuple):
    """What the labelled claims tell; variances and covariance have n - 1 below."""

    n: int
    mean_label: float
    mean_prediction: float
    variance_label: float
    variance_prediction: float
    covariance: float


def labelled_moments(labels: Floats, predictions: Floats) -> Moments:
    """Moments of labels and predictions, 0 to 1, both of shape (labelled claims,), with two claims or more.

    Two made-up claims, one called supported wrongly and one missed, stand among them: else a judge without a mistake on
    a few claims counted as one that never makes any (the idea of Agresti and Coull, *American Statistician* 52, 1998).
    """
    labels, predictions = np.append(labels, [0.0, 1.0]), np.append(predictions, [1.0, 0.0])
    covariances = np.cov(labels, predictions)
    return Moments(
        n=len(labels) - 2,
        mean_label=float(labels.mean()),
        mean_prediction=float(predictions.mean()),
        variance_label=float(covariances[0, 0]),
        variance_prediction=float(covariances[1, 1]),
        covariance=float(covariances[0, 1]),
    )


def corrected_mean(labelled: Moments, predictions: Floats, clusters: NDArray[np.int64]) -> Interval:
    """The mean label of unlabelled claims, 0 to 1, with its 95 % interval.

    ``predictions`` and ``clusters`` have shape (claims,), one claim or more: claims of the same cluster (a question,
    over its runs) are not independent of each other, so that the cluster is the unit of their mean's variance.
    """
    mean = float(predictions.mean())
    variance = _variance_of_mean(predictions, clusters)
    spread = variance + labelled.variance_prediction / labelled.n
    weight = min(1.0, max(0.0, labelled.covariance / labelled.n / spread)) if spread > 0 else 0.0
    estimate = weight * mean + labelled.mean_label - weight * labelled.mean_prediction
    rectifier = labelled.variance_label - 2 * weight * labelled.covariance + weight**2 * labelled.variance_prediction
    error = math.sqrt(weight**2 * variance + rectifier / labelled.n)
    half = student_quantile(0.975, labelled.n - 1) * error
    low, value, high = (min(1.0, max(0.0, bound)) for bound in (estimate - half, estimate, estimate + half))
    return Interval(value, low, high)


def _variance_of_mean(predictions: Floats, clusters: NDArray[np.int64]) -> float:
    """Linearised variance of a mean over clusters of unequal size; over single claims where there is one cluster."""
    _, cluster = np.unique(clusters, return_inverse=True)
    n_clusters = int(cluster.max()) + 1
    if n_clusters == 1:
        cluster, n_clusters = np.arange(len(predictions)), len(predictions)
    if n_clusters == 1:
        return 0.25  # nothing is known: the largest that a value between 0 and 1 can have
    totals = np.bincount(cluster, weights=predictions - predictions.mean(), minlength=n_clusters)
    return float(n_clusters / (n_clusters - 1) * (totals @ totals) / len(predictions) ** 2)
