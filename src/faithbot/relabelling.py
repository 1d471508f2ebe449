"""The relabelling test: had chance alone dealt each question's runs to base and head, how far would delta go?

Under "nothing changed" every choice of the runs that are called head is equally likely within a question, and
questions are independent: a stratified permutation test. The distribution of the change is computed exactly where it
can be, by convolution where the scores lie on a lattice (shares of claims, labels) or by enumeration where the
relabellings are few, and sampled with a fixed seed else. The p-value is the mid-p (Lancaster, 1961): half of the ties
count, which keeps a discrete test near its nominal size. Where each question has only two relabellings, the steps of
that distribution are too coarse for it, and the caller asks for the whole tail.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Iterator

Floats = NDArray[np.float64]

_TIE = 1e-9
"""Sums closer than this share of the largest stake are a tie: room for rounding, far below any real difference."""
_FINEST_LATTICE = 100_000
"""Steps of the finest lattice that is looked for, across the largest stake."""
_MAX_ADDITIONS = 200_000_000
"""Work that an exact convolution may take: about a quarter of a second."""
_MAX_ENUMERATED = 1 << 20
_MAX_LABELLINGS = 20_000
"""Relabellings of one question that are listed (8 runs against 8 are 12,870); beyond, its runs are shuffled."""
_RUNS_DEALT = 100_000_000
"""Runs dealt to the sides over all samples together; it sets the number of samples between these bounds."""
_MIN_SAMPLES, _MAX_SAMPLES = 2_000, 50_000
_DRAWN_AT_ONCE = 100
_SEED = 1961


@dataclass(frozen=True)
class _Stratum:
    """Questions with the same numbers of scored runs.

    A run's stake is what it adds to the change by being called head: the stakes of head's runs, less what they would be
    on average, sum to mean(head) - mean(base) however many runs the sides have.
    """

    stakes: Floats
    """Shape (questions, runs of both sides), each row ascending from 0."""
    n_head: int

    @property
    def n_labellings(self) -> int:
        return math.comb(self.stakes.shape[1], self.n_head)

    @property
    def expected(self) -> float:
        """Sum of head's stakes over all questions, on average over the relabellings."""
        return self.n_head * math.fsum(self.stakes.mean(axis=1))

    @property
    def reach(self) -> Floats:
        """Distance from the smallest to the largest sum that a relabelling gives, per question."""
        n_base = self.stakes.shape[1] - self.n_head
        reach: Floats = self.stakes[:, n_base:].sum(axis=1) - self.stakes[:, : self.n_head].sum(axis=1)
        return reach

    def relabelled(self) -> Iterator[Floats]:
        """Per question, the sum of head's stakes in each of its relabellings."""
        memberships = _memberships(self.stakes.shape[1], self.n_head)
        return (stakes @ memberships for stakes in self.stakes)


def relabelling_p(base: Floats, head: Floats, *, two_sided: bool = False, share_of_ties: float = 0.5) -> float:
    """P-value of the drop from ``base`` to ``head`` (``two_sided``: a change as large), shape (questions, runs) each.

    ``share_of_ties`` of the relabellings that are exactly as bad count: half make the mid-p, all of them the whole
    tail.

    NaN marks a missing run; every question needs a run on both sides. A rise is tested by swapping the sides.
    """
    change = math.fsum(np.nanmean(head, axis=1) - np.nanmean(base, axis=1))
    if two_sided and change > 0:
        base, head, change = head, base, -change
    strata = _strata(base, head)
    if not strata:
        return share_of_ties
    changes, weights, tie = _distribution(strata, change)
    if two_sided:
        changes = -np.abs(changes)
    beyond = float(weights[changes < change - tie].sum())
    tied = float(weights[np.abs(changes - change) <= tie].sum())
    return min(1.0, beyond + share_of_ties * tied)


def smallest_p(n_base: NDArray[np.intp], n_head: NDArray[np.intp]) -> float:
    """The least mid-p that these numbers of runs per question allow: half of one relabelling."""
    p = 0.5
    for of_base, of_head in zip(n_base.tolist(), n_head.tolist(), strict=True):
        p /= math.comb(of_base + of_head, of_head)
    return p


def _strata(base: Floats, head: Floats) -> list[_Stratum]:
    """The questions with anything at stake, in an order of their own: the caller's must not change a sampled p."""
    runs = np.sort(np.concatenate([base, head], axis=1), axis=1)
    counts = np.stack([np.isfinite(base).sum(axis=1), np.isfinite(head).sum(axis=1)], axis=1)
    strata = []
    for n_base, n_head in np.unique(counts, axis=0).tolist():
        pooled = runs[(counts == (n_base, n_head)).all(axis=1), : n_base + n_head]
        stakes = (pooled - pooled[:, :1]) * (1 / n_base + 1 / n_head)
        stakes = stakes[stakes[:, -1] > 0]
        if len(stakes):
            strata.append(_Stratum(stakes[np.lexsort(stakes.T)], n_head))
    return strata


@lru_cache(maxsize=8)
def _memberships(n_runs: int, n_head: int) -> Floats:
    """One column a relabelling, 1 where the run is head's."""
    chosen = np.array(list(combinations(range(n_runs), n_head)))
    memberships = np.zeros((n_runs, len(chosen)))
    memberships[chosen.T, np.arange(len(chosen))] = 1
    return memberships


def _distribution(strata: list[_Stratum], change: float) -> tuple[Floats, Floats, float]:
    """The values that the change can take, how likely each is, and how close two of them are to be called equal."""
    expected = math.fsum(stratum.expected for stratum in strata)
    step = _lattice_step(strata)
    if step is not None and _additions(strata, step) <= _MAX_ADDITIONS:
        probabilities, lowest = _convolve(strata, step)
        changes = np.arange(lowest, lowest + len(probabilities), dtype=np.float64) * step
        # As many roundings as stakes, not a part of the step: where the sides have unequal runs, a rise and a drop can
        # be closer in size than a step without being equal.
        rounding = sum(stratum.stakes.size * float(stratum.stakes.max()) for stratum in strata) * _TIE
        return changes - expected, probabilities, min(step / 4, rounding)
    log_labellings = sum(len(stratum.stakes) * math.log(stratum.n_labellings) for stratum in strata)
    if log_labellings <= math.log(_MAX_ENUMERATED):
        changes = _enumerate(strata)
        changes -= expected
    else:
        changes = _sample(strata)
        changes -= expected
        changes[0] = change  # the labelling that happened is a possible one
    tie = _TIE * max(float(stratum.stakes.max()) for stratum in strata)
    return changes, np.full(len(changes), 1 / len(changes)), tie


def _lattice_step(strata: list[_Stratum]) -> float | None:
    """The largest step of which every stake is a multiple, by Euclid's algorithm; None where it is too fine to use."""
    stakes = np.unique(np.concatenate([stratum.stakes.ravel() for stratum in strata]))
    largest = float(stakes[-1])
    if len(stakes) > _FINEST_LATTICE:
        return None
    step = largest
    for remainder in stakes.tolist():
        while remainder > _TIE * largest:
            if remainder < largest / _FINEST_LATTICE:
                return None
            step, remainder = remainder, abs(math.remainder(step, remainder))
        step = largest / round(largest / step)  # sheds the rounding that the remainders have piled up
    off_lattice = np.abs(stakes - np.rint(stakes / step) * step)
    return step if off_lattice.max() <= _TIE * largest else None


def _additions(strata: list[_Stratum], step: float) -> float:
    """Cost of the convolution: the sums that each question can give, times the length of the distribution so far."""
    total, length = 0.0, 1.0
    for stratum in strata:
        if stratum.n_labellings > _MAX_LABELLINGS:
            return math.inf
        reach = np.rint(stratum.reach / step)
        sums = np.minimum(reach + 1, stratum.n_labellings)
        total += float((sums * (length + np.cumsum(reach)) + stratum.n_labellings).sum())
        length += float(reach.sum())
    return total


def _convolve(strata: list[_Stratum], step: float) -> tuple[Floats, int]:
    """Probability of every lattice point from the lowest possible sum on, and that sum in steps."""
    probabilities, lowest = np.ones(1), 0
    for stratum in strata:
        for sums in stratum.relabelled():
            points, counts = np.unique(np.rint(sums / step).astype(np.int64), return_counts=True)
            lowest += int(points[0])
            wider = np.zeros(len(probabilities) + int(points[-1] - points[0]))
            for start, count in zip((points - points[0]).tolist(), counts.tolist(), strict=True):
                wider[start : start + len(probabilities)] += probabilities * (count / len(sums))
            probabilities = wider
    return probabilities, lowest


def _enumerate(strata: list[_Stratum]) -> Floats:
    totals = np.zeros(1)
    for stratum in strata:
        for sums in stratum.relabelled():
            totals = np.add.outer(totals, sums).ravel()
    return totals


def _sample(strata: list[_Stratum]) -> Floats:
    rng = np.random.default_rng(_SEED)
    n_runs = sum(stratum.stakes.size for stratum in strata)
    n_samples = int(np.clip(_RUNS_DEALT // n_runs, _MIN_SAMPLES, _MAX_SAMPLES))
    totals = np.zeros(n_samples)
    for stratum in strata:
        if stratum.n_labellings <= _MAX_LABELLINGS:
            for sums, drawn in zip(stratum.relabelled(), _draws(rng, stratum, n_samples), strict=True):
                totals += sums[drawn]
        else:
            for stakes in stratum.stakes:
                shuffled = rng.permuted(np.tile(stakes, (n_samples, 1)), axis=1)
                totals += shuffled[:, : stratum.n_head].sum(axis=1)
    return totals


def _draws(rng: np.random.Generator, stratum: _Stratum, n_samples: int) -> Iterator[NDArray[np.uint16]]:
    """Per question, the relabelling that each sample takes. Drawn for many questions at once: three times as fast."""
    for start in range(0, len(stratum.stakes), _DRAWN_AT_ONCE):
        n_questions = min(_DRAWN_AT_ONCE, len(stratum.stakes) - start)
        yield from rng.integers(stratum.n_labellings, size=(n_questions, n_samples), dtype=np.uint16)
