"""How many claims one side's runs would hold alone although nothing changed, told by how the other side's runs differ.

Sampling a side again finds claims that its other runs did not make, as trapping again finds species not seen before.
Fisher's log-series (Fisher, Corbet and Williams 1943: the number of claims that a run makes with chance p falls as 1/p)
tells how many, from the claims that some runs of a side make and others do not. Of two runs a side it expects half as
many claims in one run of the other side alone as flicker between the runs, and a twelfth as many in both.
`benchmarks/claims.py` measures how well it holds.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cache

import numpy as np

RARE = 0.05
"""Chance up to which more claims than expected are no accident."""


@dataclass
class ChanceLevel:
    """What runs of one side, the reference, say about claims that only the other side's runs hold.

    Claims of the other side are counted by the runs that they are missing from: 0 means every run.
    """

    flickers: int = 0
    """Claims that some runs of the reference hold and others do not."""
    questions: int = 0
    measured: int = 0
    """Questions with two reference runs or more."""
    _expected: dict[int, float] = field(default_factory=lambda: defaultdict(float))
    """By missing runs, summed over measured questions."""
    _largest: dict[int, float] = field(default_factory=lambda: defaultdict(float))
    """Claims per flicker, likewise."""

    def add_question(self, reference_runs: int, other_runs: int, seen_in: list[int]) -> None:
        """One compared question: judged runs of both sides, and in how many reference runs each statement is held."""
        self.questions += 1
        if reference_runs < 2:
            return
        self.measured += 1
        flickers = sum(0 < runs < reference_runs for runs in seen_in)
        self.flickers += flickers
        for runs in range(1, other_runs + 1):
            missing = other_runs - runs
            self._expected[missing] += flickers * expected_per_flicker(reference_runs, other_runs, runs)
            self._largest[missing] += largest_per_flicker(reference_runs, other_runs, runs)

    def expected(self, missing: int) -> float | None:
        """Claims in all but ``missing`` runs of the other side and no reference run; None where nothing measured it."""
        if not self.measured:
            return None if self.questions else 0.0
        return self._expected[missing] * self.questions / self.measured

    def is_exceeded(self, missing: int, found: int) -> bool:
        """Whether so many are more than chance gives, whatever the chances with which runs make claims.

        By the conditional test of Przyborowski and Wilenski (1940): given their sum, one of two Poisson counts is
        binomial.
        """
        if not self.measured or not found:
            return False
        ratio = self._largest[missing] / self.measured * self.questions / self.measured
        return binomial_tail(found, found + self.flickers, ratio / (1.0 + ratio)) <= RARE


@cache
def expected_per_flicker(reference_runs: int, other_runs: int, runs: int) -> float:
    """Claims in exactly ``runs`` runs of the other side and no reference run, per claim that flickers in the reference.

    The log-series makes 1/j claims that j of the n runs hold, whatever n; each of them falls with equal chance on any
    j of the runs.
    """
    alone = math.comb(other_runs, runs) / (runs * math.comb(reference_runs + other_runs, runs))
    return alone / sum(1.0 / j for j in range(1, reference_runs))


@cache
def largest_per_flicker(reference_runs: int, other_runs: int, runs: int) -> float:
    """As `expected_per_flicker`, the most that it can be: the claims' own chance is the one that makes it largest."""
    p = np.linspace(1e-6, 1.0 - 1e-6, 1001)
    alone = math.comb(other_runs, runs) * p**runs * (1.0 - p) ** (reference_runs + other_runs - runs)
    return float((alone / (1.0 - p**reference_runs - (1.0 - p) ** reference_runs)).max())


def binomial_tail(successes: int, trials: int, p: float) -> float:
    """P(at least so many successes)."""
    if p >= 1.0:
        return 1.0
    return math.fsum(
        math.exp(
            math.lgamma(trials + 1)
            - math.lgamma(k + 1)
            - math.lgamma(trials - k + 1)
            + k * math.log(p)
            + (trials - k) * math.log1p(-p)
        )
        for k in range(successes, trials + 1)
    )
