"""Where noise comes from: from answering anew, or from judging the same answer anew."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class NoiseSplit:
    """Variance of one run's score of a question, in the metric's unit squared, parted by its source."""

    generator: float
    """Of answering anew; 0 where the judge alone explains what the runs differ by."""
    judge: float
    """Of judging the same answer anew."""

    @property
    def judge_share(self) -> float | None:
        """Share of the variance that is the judge's, 0 to 1; None where there is no noise at all."""
        total = self.generator + self.judge
        return self.judge / total if total > 0 else None


def split_noise(scores: ArrayLike) -> NoiseSplit | None:
    """Part the noise of ``scores``, shape (questions, runs, judgements of the same answer), NaN = unscored.

    The nested analysis of variance: judgements of one answer differ by the judge alone, single judgements of two runs
    by judge and generator together. Both variances are pooled over all questions by their degrees of freedom; the
    generator's is the difference, and never negative. None where no question has two scored runs, or no answer two
    judgements.

    Several sides of a comparison can be stacked along the questions: a question's runs are compared within a side only.
    Raises ValueError where ``scores`` has not three dimensions.
    """
    values = np.asarray(scores, dtype=float)
    if values.ndim != 3:
        raise ValueError(f"scores must have the shape (questions, runs, judgements), not {values.shape}")
    judge = _pooled_variance(values.reshape(-1, values.shape[2]))
    both = _pooled_variance(values.transpose(2, 0, 1).reshape(-1, values.shape[1]))
    if judge is None or both is None:
        return None
    return NoiseSplit(generator=max(0.0, both - judge), judge=judge)


def variance_of_runs(scores: ArrayLike) -> float | None:
    """Variance over the runs of a question, shape (questions, runs), pooled; None where no question has two runs."""
    return _pooled_variance(np.asarray(scores, dtype=float))


def _pooled_variance(groups: NDArray[np.float64]) -> float | None:
    """Within the rows, which are groups of repeated measurements; NaN is a missing one."""
    counts = np.isfinite(groups).sum(axis=1)
    groups = groups[counts > 1]
    if not len(groups):
        return None
    squares = np.nansum((groups - np.nanmean(groups, axis=1, keepdims=True)) ** 2)
    return float(squares / (counts[counts > 1] - 1).sum())
