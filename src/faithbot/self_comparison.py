"""A configuration against itself: how noisy is each question, and how often would the rule cry wolf on these runs?"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from pydantic import BaseModel, ConfigDict

from faithbot.config import MetricName
from faithbot.errors import EvaluationError
from faithbot.gate import look_at
from faithbot.metrics import METRICS, first_gated, label
from faithbot.noise import noise_of_mean
from faithbot.results import NoiseSources
from faithbot.run_plan import RunPlan
from faithbot.side_table import SideTable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from faithbot.results import Results

_MOST_RELABELLINGS, _FEWEST_RELABELLINGS = 400, 100
"""A rate near 5 % is known within 2 points by 400 of them, within 4 by 100."""
_RUNS_DEALT = 400_000
"""Runs dealt over all relabellings; it sets their number between these bounds, and takes some ten seconds."""
_SEED = 2026


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class QuestionNoise(_Record):
    """How far the runs of one question differ."""

    question_id: str
    question: str
    scores: tuple[float | None, ...]
    """One a run, in the metric's unit; None: unscored."""
    spread: float
    """Standard deviation over the runs."""


class SelfComparison(_Record):
    """The noise of one metric, from an A/A run: everything that its halves differ by is chance."""

    metric: str
    gate: dict[MetricName, float]
    """Gated metrics that were measured and the change up to which each is never flagged; ``metric`` is the first."""
    runs: int
    """Of each half."""
    n_questions: int
    """Questions with two scored runs or more."""
    mean: float
    noise_band: float | None
    """Half-width of the change that noise explains between two halves; None where their runs measured none."""
    delta: float
    """Of the second half against the first."""
    p_value: float
    flagged: bool
    """The second half was called worse: a false alarm."""
    smallest_detectable: float | None
    false_alarms: int
    relabellings: int
    """Ways to deal the same runs to two halves that were tried; ``false_alarms`` of them had a gated metric flagged."""
    flip_rate: float
    """How often two runs of a question disagree, 0 to 1, on average over the questions."""
    sources: NoiseSources | None
    questions: tuple[QuestionNoise, ...]
    """The noisiest first; questions whose runs all agree are left out."""


def describe_noise(results: Results) -> SelfComparison:
    """The noise of the first gated metric of an A/A run, whose sides are the halves of one side's runs.

    Raises :class:`EvaluationError` where no gated metric was measured or no question has two scored runs.
    """
    metric = first_gated(results.metrics)
    if metric is None:
        raise EvaluationError("the judge measures none of the gated metrics, so there is no noise to look at.")
    gate = {
        name: results.metrics[name].min_effect
        for name in METRICS
        if name in results.metrics and results.metrics[name].gated
    }
    halves = [SideTable(results.questions, side.answers, results.runs) for side in results.sides.values()]
    scores = {name: np.concatenate([half.scores(METRICS[name]) for half in halves], axis=1) for name in gate}
    runs = scores[metric.name]
    repeated = np.isfinite(runs).sum(axis=1) > 1
    if not repeated.any():
        raise EvaluationError(f"no question has {label(metric.name)} in two runs, so there is no noise to look at.")
    compared = results.metrics[metric.name]
    relabellings = min(_MOST_RELABELLINGS, max(_FEWEST_RELABELLINGS, _RUNS_DEALT // (runs.size * len(gate))))
    return SelfComparison(
        metric=metric.name,
        gate=gate,
        runs=results.runs,
        n_questions=int(repeated.sum()),
        mean=noise_of_mean(runs[repeated]).mean,
        noise_band=compared.noise_band if compared.measured_noise else None,
        delta=compared.delta or 0.0,
        p_value=1.0 if compared.p_value is None else compared.p_value,
        flagged=compared.flagged,
        smallest_detectable=compared.smallest_detectable,
        false_alarms=count_false_alarms(scores, results.runs, gate, relabellings),
        relabellings=relabellings,
        flip_rate=flip_rate(runs[repeated]),
        sources=results.noise_sources.get(metric.name),
        questions=_noisiest(results, runs),
    )


def count_false_alarms(
    scores: Mapping[MetricName, NDArray[np.float64]], in_base: int, gate: Mapping[MetricName, float], relabellings: int
) -> int:
    """How often the gate flags any metric when the runs, shape (questions, runs), are dealt to two halves by chance.

    Each question's runs are shuffled on their own, with a fixed seed: nothing differs between the halves but noise. A
    run keeps the scores of all its metrics together.
    """
    rng = np.random.default_rng(_SEED)
    n_questions, n_runs = next(iter(scores.values())).shape
    unshuffled, unchanged = np.tile(np.arange(n_runs), (n_questions, 1)), np.zeros(n_questions, dtype=bool)
    flagged = 0
    for _ in range(relabellings):
        order = rng.permuted(unshuffled, axis=1)
        dealt = {name: np.take_along_axis(runs, order, axis=1) for name, runs in scores.items()}
        halves = {name: (runs[:, :in_base], runs[:, in_base:]) for name, runs in dealt.items()}
        flagged += bool(look_at(halves, unchanged, gate, RunPlan(in_base, in_base), in_base).flagged)
    return flagged


def flip_rate(runs: NDArray[np.float64]) -> float:
    """Share of the pairs of scored runs of a question that disagree, on average over questions; NaN is unscored.

    Shape (questions, runs), two scored runs a question or more.
    """
    rates = []
    for row in runs:
        scored = row[np.isfinite(row)]
        _, counts = np.unique(scored, return_counts=True)
        rates.append(1 - sum(math.comb(int(count), 2) for count in counts) / math.comb(len(scored), 2))
    return float(np.mean(rates))


def _noisiest(results: Results, runs: NDArray[np.float64]) -> tuple[QuestionNoise, ...]:
    noises = []
    for question, row in zip(results.questions, runs, strict=True):
        scored = row[np.isfinite(row)]
        if len(set(scored.tolist())) > 1:
            scores = tuple(float(score) if np.isfinite(score) else None for score in row)
            spread = float(scored.std(ddof=1))
            noises.append(QuestionNoise(question_id=question.id, question=question.text, scores=scores, spread=spread))
    return tuple(sorted(noises, key=lambda noise: noise.spread, reverse=True))
