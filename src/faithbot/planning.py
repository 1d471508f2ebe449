"""From the noise of recorded results to the questions and runs that it takes to see a drop."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from pydantic import BaseModel, ConfigDict

from faithbot.config import COUNTS
from faithbot.errors import EvaluationError, UsageError
from faithbot.judge.protocol import JudgeFingerprint
from faithbot.metrics import first_gated, label
from faithbot.noise_sources import variance_of_runs
from faithbot.sample_size import questions_for, smallest_drop
from faithbot.side_table import SideTable
from faithbot.verdict import FEWEST_COMPARED

if TYPE_CHECKING:
    from faithbot.metrics import Metric
    from faithbot.results import Results

RUNS = (2, 3, 4, 6)
_SIZES = (FEWEST_COMPARED, 10, 20, 30, 50, 75, 100, 150, 200, 300, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000)


class RunsPlan(BaseModel):
    """What some number of runs a side takes and sees."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    runs: int
    questions: int | None
    """The fewest with which the drop is seen in 8 of 10 comparisons, and there is a verdict; None: more than anybody
    asks."""
    answers: int | None
    """Of both sides together."""
    seen: dict[int, float]
    """Smallest drop that is seen in 8 of 10 comparisons, by number of questions."""


class Plan(BaseModel):
    """How many questions × runs it takes to see a drop of one metric."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    metric: str
    drop: float
    min_effect: float
    """What the gate lets pass whatever the noise."""
    variance: float
    """Of one run's score around its question's mean, in the metric's unit squared."""
    n_questions: int
    """Of the results that the variance was measured in."""
    judge: JudgeFingerprint | None
    """Whose noise it is: another judge has another."""
    options: tuple[RunsPlan, ...]


def plan_for(results: Results, drop: float) -> Plan:
    """A plan for the first gated metric, from the noise within the sides of recorded results.

    Raises :class:`EvaluationError` where they hold no two scored runs of a question, or runs that all agree;
    :class:`UsageError` where the metric cannot drop so far, or the gate lets such a drop pass.
    """
    metric = first_gated(results.metrics)
    if metric is None or not any(side.answers for side in results.sides.values()):
        raise EvaluationError("these results hold no scores, so no noise to plan with: compare something that changed.")
    min_effect = results.metrics[metric.name].min_effect
    _check_drop(drop, metric, min_effect)
    tables = [SideTable(results.questions, side.answers, results.runs) for side in results.sides.values()]
    variance = variance_of_runs(np.concatenate([table.scores(metric) for table in tables]))
    if variance is None:
        raise EvaluationError(f"no question has {label(metric.name)} in two runs, so no noise: compare with --runs 2.")
    if variance == 0:
        raise EvaluationError(
            f"all runs of a question came out the same, so {label(metric.name)} has no noise to plan with: "
            "any drop that moves 5 questions or more can be seen."
        )
    n_questions = len(results.questions)
    needed = {runs: _questions_for(drop, variance, runs, min_effect) for runs in RUNS}
    sizes = _sizes_around(needed[RUNS[0]] or n_questions, n_questions)
    return Plan(
        metric=metric.name,
        drop=drop,
        min_effect=min_effect,
        variance=variance,
        n_questions=n_questions,
        judge=results.fingerprint,
        options=tuple(
            RunsPlan(
                runs=runs,
                questions=questions,
                answers=None if questions is None else 2 * questions * runs,
                seen={size: smallest_drop(variance, size, runs, min_effect=min_effect) for size in sizes},
            )
            for runs, questions in needed.items()
        ),
    )


def _check_drop(drop: float, metric: Metric, min_effect: float) -> None:
    if metric.name not in COUNTS and drop >= 1:
        raise UsageError(f"{label(metric.name)} is a share: plan for a drop below 1, such as 0.05, not {drop:g}.")
    if drop <= min_effect:
        raise UsageError(
            f"the gate lets a drop of {drop:g} in {label(metric.name)} pass, whatever the noise, as its min_effect is "
            f"{min_effect:g}: plan for a larger drop, or set a smaller min_effect."
        )


def _questions_for(drop: float, variance: float, runs: int, min_effect: float) -> int | None:
    questions = questions_for(drop, variance, runs, min_effect=min_effect)
    return None if questions is None else max(FEWEST_COMPARED, questions)


def _sizes_around(needed: int, n_questions: int) -> list[int]:
    """Numbers of questions to show: what it takes, a few smaller and larger ones, and the golden set's own."""
    smaller = [size for size in _SIZES if size < needed / 1.1][-3:]
    larger = [size for size in _SIZES if size > needed * 1.1][:4]
    return sorted(size for size in {*smaller, needed, *larger, n_questions} if size >= FEWEST_COMPARED)
