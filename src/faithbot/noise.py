"""Is one side worse than the other by more than the noise of measuring it? Arrays of scores in, numbers out.

The question is the unit, and every question weighs the same. The noise is what the runs of one side disagree by on the
same question; how much questions differ from each other does not enter it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from faithbot.relabelling import relabelling_p, smallest_p
from faithbot.student import student_quantile

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from faithbot.relabelling import Floats

Alternative = Literal["less", "greater", "two-sided"]
Method = Literal["relabelling", "sign-flip", "unchanged", "none"]

POWER = 0.8
"""Share of comparisons in which a change of the size that is called detectable is flagged."""
_CONFIDENCE = 0.95
_DECIMALS = 13
"""Scores that agree to this many decimals, relative to the largest score, are equal: rounding is not noise."""
_ROUNDING = 1e-12
"""A p-value is a sum of probabilities; one that misses alpha by this little has reached it."""


@dataclass(frozen=True)
class NoiseComparison:
    """What the runs of two sides say about one metric; changes and means are in the metric's unit."""

    delta: float
    """Mean over the compared questions of head - base; NaN where no question was scored on both sides."""
    noise_band: float
    """Half-width of what noise alone explains, >= 0: Student's quantile times the standard error of ``delta``. 0 where
    no noise was measured, NaN where ``delta`` is."""
    p_value: float
    """Of ``delta`` in the tested direction, had nothing changed: the mid-p, or the whole tail where signs are flipped;
    1 where no compared question changed."""
    flagged: bool
    """p_value <= alpha, and ``delta`` goes in the tested direction by more than noise_band and more than min_effect."""
    smallest_detectable: float
    """The smallest change in the tested direction that would be flagged in 8 of 10 such comparisons (see
    :func:`compare_runs`); inf where none could be, 0 where every compared question is known to be unchanged."""
    n_questions: int
    """Compared questions: at least one scored run on both sides, unchanged ones included."""
    n_unchanged: int
    """Compared questions that are known to be unchanged."""
    base_mean: float
    """Over the compared questions, like ``head_mean``, which lies ``delta`` above it; NaN where ``delta`` is."""
    head_mean: float
    interval: tuple[float, float] | None
    """95 % interval of ``delta`` over questions, for reading only: would other questions show it too? None below two
    compared questions."""
    method: Method
    """The test behind p_value; none was needed where all is ``unchanged`` and none possible where it says ``none``."""
    measured_noise: bool
    """False where questions changed but the runs show no noise at all: one run a side, or identical ones."""


def compare_runs(
    base: ArrayLike,
    head: ArrayLike,
    *,
    unchanged: ArrayLike | None = None,
    alpha: float = 0.05,
    alternative: Alternative = "less",
    min_effect: float = 0.0,
) -> NoiseComparison:
    """Compare the scores of two sides, shape (questions, runs) each; the numbers of runs may differ.

    NaN, or any value that is not finite, is an unscored run. ``unchanged`` marks the questions whose requests were the
    same on both sides: their change is exactly 0 and they add no noise, but they count. ``alternative`` is the change
    that is worse: "less" is a drop, "greater" a rise, "two-sided" either. ``min_effect`` is in the metric's unit.

    *Noise*: each changed question's variance over the runs within a side, pooled over both sides; a question that has
    one run on each side takes the pooled variance of all. The standard error of delta is
    sqrt(sum of variance * (1 / base runs + 1 / head runs)) / questions; its degrees of freedom are the scored runs of
    changed questions beyond the first of each side.

    *Test*: the relabelling test of :mod:`faithbot.relabelling`. Where the changed questions show no noise at all, the
    test flips the sign of each question's change instead. Its p-value is the whole tail: where all move by the same,
    the mid-p would flag up to 7.3 % of unchanged comparisons. So 5 questions that all move one way are the fewest that
    can reach alpha = 0.05.

    *smallest_detectable*: critical value plus Student's 80 % quantile, times the standard error, for a change spread
    evenly over the changed questions: in Gaussian noise 76 to 80 % of such changes are flagged
    (``benchmarks/verdict.py``). One that sits in three of ten questions must be about a fifth larger; among fewer than
    10 questions, or with one run a side, larger still. Without measured noise, the scatter of the questions' changes is
    the yardstick, and no change is smaller than that of the fewest questions that can be flagged, each moving as far as
    the one that moved most; where none moved, as far as losing the largest score seen (1 where all scores are 0).

    Raises ValueError where the shapes do not fit, ``alternative`` is unknown or ``alpha`` is not between 0 and 1.
    """
    if alternative not in get_args(Alternative):
        raise ValueError(f"alternative must be one of {', '.join(get_args(Alternative))}, not {alternative!r}")
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must lie between 0 and 1, not at {alpha}")
    questions = _compared_questions(base, head, unchanged)
    if not len(questions.changed):
        return _nothing_compared()
    mean = questions.mean
    total = math.fsum(questions.moves)
    worse = {"less": -total, "greater": total, "two-sided": abs(total)}[alternative]
    test = _test(questions, alternative, tail=alpha / 2 if alternative == "two-sided" else alpha)
    return NoiseComparison(
        delta=mean(total),
        noise_band=mean(test.band),
        p_value=test.p_value,
        flagged=test.p_value <= alpha + _ROUNDING and worse > test.band and mean(worse) > min_effect,
        smallest_detectable=max(max(mean(test.critical), min_effect) + mean(test.margin), mean(test.fewest)),
        n_questions=len(questions.changed),
        n_unchanged=int((~questions.changed).sum()),
        base_mean=mean(math.fsum(questions.base_means)),
        head_mean=mean(math.fsum(questions.head_means)),
        interval=_interval(questions),
        method=test.method,
        measured_noise=test.method != "sign-flip",
    )


@dataclass(frozen=True)
class MeanNoise:
    """What the runs of one side say about its own mean."""

    mean: float
    """Over the scored questions; NaN where there is none."""
    noise_band: float
    """Half-width, like :attr:`NoiseComparison.noise_band`, but of one mean; 0 where no noise was measured."""
    n_questions: int
    measured_noise: bool


def noise_of_mean(scores: ArrayLike, *, alpha: float = 0.05) -> MeanNoise:
    """Mean of one side's scores, shape (questions, runs), NaN = unscored, and how far noise alone moves it.

    The same noise as in :func:`compare_runs`, from half of the runs: sqrt(sum of variance / runs) / questions, with as
    many degrees of freedom as there are scored runs beyond the first of each question.
    """
    runs = _scores(scores, "scores")
    runs = runs[np.isfinite(runs).any(axis=1)]
    if not len(runs):
        return MeanNoise(math.nan, math.nan, 0, measured_noise=True)
    counts, variances = _counts(runs), _variances(runs)
    measured = bool(variances.any())
    band = 0.0
    if measured:
        quantile = student_quantile(1 - alpha, int((counts - 1).sum()))
        band = quantile * math.sqrt(math.fsum(variances / counts)) / len(runs)
    return MeanNoise(math.fsum(_means(runs)) / len(runs), band, len(runs), measured)


def difference_of_runs(scores: ArrayLike) -> float:
    """How far the means of two runs of one side, shape (questions, runs), are apart on average; NaN = unscored.

    2 / sqrt(pi) times the standard deviation of one run's mean, as for any two draws from a normal distribution. It
    comes from the variances of all questions, so that more runs make it more exact, not larger. 0 without noise.
    """
    noise = _variances(_scores(scores, "scores"))
    return 2 / math.sqrt(math.pi) * math.sqrt(math.fsum(noise)) / len(noise) if len(noise) else 0.0


@dataclass(frozen=True)
class _Questions:
    """The compared questions, in units of ``scale``; each row of runs ascends and ends with its unscored ones."""

    base: Floats
    head: Floats
    base_means: Floats
    head_means: Floats
    changed: NDArray[np.bool_]
    scale: float

    @property
    def moves(self) -> Floats:
        """Head - base per question, 0 where unchanged."""
        return self.head_means - self.base_means

    def mean(self, total: float) -> float:
        """A sum over questions as a mean in the metric's unit."""
        return total / len(self.changed) * self.scale


@dataclass(frozen=True)
class _Test:
    """The verdict on the changed questions; all but p_value are sums over questions."""

    method: Method
    p_value: float
    band: float = 0.0
    critical: float = 0.0
    """A change beyond this reaches alpha."""
    margin: float = 0.0
    """What must come on top for 8 of 10 to reach it."""
    fewest: float = 0.0
    """No flagged change is smaller; inf where none can be flagged."""


def _compared_questions(base: ArrayLike, head: ArrayLike, unchanged: ArrayLike | None) -> _Questions:
    sides = [_scores(base, "base"), _scores(head, "head")]
    n = len(sides[0])
    known = np.zeros(n, dtype=bool) if unchanged is None else np.asarray(unchanged, dtype=bool)
    if len(sides[1]) != n or known.shape != (n,):
        raise ValueError(
            f"base, head and unchanged must list the same questions, not {n}, {len(sides[1])} and {known.shape}"
        )
    compared = np.logical_and.reduce([np.isfinite(side).any(axis=1) for side in sides])
    both = np.concatenate(sides, axis=1)[compared]
    largest = float(np.nanmax(np.abs(both), initial=0))
    scale = math.ldexp(1.0, math.frexp(largest)[1] - 1) if largest else 1.0
    runs_of_base, runs_of_head, runs_of_both = (
        np.sort(np.round(side / scale, _DECIMALS), axis=1) for side in (sides[0][compared], sides[1][compared], both)
    )
    changed, means_of_both = ~known[compared], _means(runs_of_both)  # where nothing changed, both measured the same
    return _Questions(
        base=runs_of_base,
        head=runs_of_head,
        base_means=np.where(changed, _means(runs_of_base), means_of_both),
        head_means=np.where(changed, _means(runs_of_head), means_of_both),
        changed=changed,
        scale=scale,
    )


def _scores(side: ArrayLike, name: str) -> Floats:
    scores = np.asarray(side, dtype=float)
    if scores.ndim == 1 and not scores.size:
        scores = scores.reshape(0, 0)
    if scores.ndim != 2:
        raise ValueError(f"{name} must have the shape (questions, runs), not {scores.shape}")
    return np.where(np.isfinite(scores), scores, np.nan)


def _nothing_compared() -> NoiseComparison:
    return NoiseComparison(
        delta=math.nan,
        noise_band=math.nan,
        p_value=1.0,
        flagged=False,
        smallest_detectable=math.inf,
        n_questions=0,
        n_unchanged=0,
        base_mean=math.nan,
        head_mean=math.nan,
        interval=None,
        method="none",
        measured_noise=True,
    )


def _test(questions: _Questions, alternative: Alternative, tail: float) -> _Test:
    """The test that the runs of the changed questions allow; ``tail`` is alpha's share in the tested direction."""
    base, head = questions.base[questions.changed], questions.head[questions.changed]
    if not len(base):
        return _Test("unchanged", p_value=1.0)
    noise = _noise_of_runs(base, head)
    if noise is None:
        return _sign_flip_test(base[:, 0], head[:, 0], alternative, tail)
    standard_error, df = noise
    critical = max(0.0, student_quantile(1 - tail, df) * standard_error)
    return _Test(
        "relabelling",
        _p_value(base, head, alternative, share_of_ties=0.5),
        band=critical,
        critical=critical,
        margin=student_quantile(POWER, df) * standard_error,
        fewest=0.0 if smallest_p(_counts(base), _counts(head)) <= tail + _ROUNDING else math.inf,
    )


def _p_value(base: Floats, head: Floats, alternative: Alternative, *, share_of_ties: float) -> float:
    if alternative == "greater":
        base, head = head, base
    return relabelling_p(base, head, two_sided=alternative == "two-sided", share_of_ties=share_of_ties)


def _counts(runs: Floats) -> NDArray[np.intp]:
    return np.asarray(np.isfinite(runs).sum(axis=1))


def _means(runs: Floats) -> Floats:
    return np.asarray(np.nanmean(runs, axis=1))


def _variances(runs: Floats) -> Floats:
    """Of one run, per scored question of one side; a question with a single run takes the pooled one."""
    runs = runs[np.isfinite(runs).any(axis=1)]
    df = _counts(runs) - 1
    squares = np.nansum((runs - _means(runs)[:, np.newaxis]) ** 2, axis=1)
    pooled = squares.sum() / max(int(df.sum()), 1)
    return np.asarray(np.where(df > 0, squares / np.maximum(df, 1), pooled))


def _noise_of_runs(base: Floats, head: Floats) -> tuple[float, int] | None:
    """Standard error of the sum of changes and its degrees of freedom; None where all runs of a side agree."""
    sides = (base, head)
    if all((np.nanmax(side, axis=1) == np.nanmin(side, axis=1)).all() for side in sides):
        return None
    squares = sum(np.nansum((side - np.nanmean(side, axis=1, keepdims=True)) ** 2, axis=1) for side in sides)
    df = _counts(base) + _counts(head) - 2
    variances = np.where(df > 0, squares / np.maximum(df, 1), squares.sum() / df.sum())
    return math.sqrt(math.fsum(variances * (1 / _counts(base) + 1 / _counts(head)))), int(df.sum())


def _sign_flip_test(base: Floats, head: Floats, alternative: Alternative, tail: float) -> _Test:
    """For one score a question and side: relabelling single runs flips the sign of the question's change."""
    p_value = _p_value(base[:, np.newaxis], head[:, np.newaxis], alternative, share_of_ties=1.0)
    fewest = max(1, math.ceil(-math.log2(tail)))
    n = len(base)
    if n < max(fewest, 2):
        return _Test("sign-flip", p_value, fewest=math.inf)
    moves = head - base
    largest_move = np.abs(moves).max() or max(np.abs(base).max(), np.abs(head).max()) or 1.0
    standard_error = float(moves.std(ddof=1)) * math.sqrt(n)
    return _Test(
        "sign-flip",
        p_value,
        critical=student_quantile(1 - tail, n - 1) * standard_error,
        margin=student_quantile(POWER, n - 1) * standard_error,
        fewest=fewest * float(largest_move),
    )


def _interval(questions: _Questions) -> tuple[float, float] | None:
    """Student's interval of the mean change, as if the questions were drawn from all that could be asked."""
    moves = questions.moves
    n = len(moves)
    if n < 2:
        return None
    half = student_quantile((1 + _CONFIDENCE) / 2, n - 1) * float(moves.std(ddof=1)) * math.sqrt(n)
    total = math.fsum(moves)
    return questions.mean(total - half), questions.mean(total + half)
