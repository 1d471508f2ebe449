"""From the noise of recorded results to the questions and runs that it takes to see a drop."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from pydantic import BaseModel, ConfigDict

from faithbot.errors import EvaluationError
from faithbot.metrics import first_gated
from faithbot.noise_sources import variance_of_runs
from faithbot.sample_size import questions_for, smallest_drop
from faithbot.side_table import SideTable

if TYPE_CHECKING:
    from faithbot.results import Results

RUNS = (2, 3, 4, 6)
_SIZES = (10, 20, 30, 50, 75, 100, 150, 200, 300, 500, 1000, 2000, 5000)


class RunsPlan(BaseModel):
    """What some number of runs a side takes and sees."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    runs: int
    questions: int | None
    """The fewest with which the drop is seen in 8 of 10 comparisons; None: more than anybody asks."""
    answers: int | None
    """Of both sides together."""
    seen: dict[int, float]
    """Smallest drop that is seen in 8 of 10 comparisons, by number of questions."""


class Plan(BaseModel):
    """How many questions × runs it takes to see a drop of one metric."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    metric: str
    drop: float
    variance: float
    """Of one run's score around its question's mean, in the metric's unit squared."""
    n_questions: int
    """Of the results that the variance was measured in."""
    options: tuple[RunsPlan, ...]


def plan_for(results: Results, drop: float) -> Plan:
    """A plan for the first gated metric, from the noise within the sides of recorded results.

    Raises :class:`EvaluationError` where they hold no two scored runs of a question, or runs that all agree.
    """
    metric = first_gated(results.metrics)
    if metric is None or not any(side.answers for side in results.sides.values()):
        raise EvaluationError("these results hold no scores, so no noise to plan with: compare something that changed.")
    tables = [SideTable(results.questions, side.answers, results.runs) for side in results.sides.values()]
    variance = variance_of_runs(np.concatenate([table.scores(metric) for table in tables]))
    if variance is None:
        raise EvaluationError(f"no question has two runs with a {metric.name}, so no noise: compare with --runs 2.")
    if variance == 0:
        raise EvaluationError(
            f"all runs of a question came out the same, so {metric.name} has no noise to plan with: "
            "any drop that moves 4 questions or more can be seen."
        )
    n_questions = len(results.questions)
    sizes = _sizes_around(n_questions)
    return Plan(
        metric=metric.name,
        drop=drop,
        variance=variance,
        n_questions=n_questions,
        options=tuple(_option(drop, variance, runs, sizes) for runs in RUNS),
    )


def _option(drop: float, variance: float, runs: int, sizes: list[int]) -> RunsPlan:
    questions = questions_for(drop, variance, runs)
    return RunsPlan(
        runs=runs,
        questions=questions,
        answers=None if questions is None else 2 * questions * runs,
        seen={size: smallest_drop(variance, size, runs) for size in sizes},
    )


def _sizes_around(n_questions: int) -> list[int]:
    """Numbers of questions to show: the golden set's own, some smaller ones, more larger ones."""
    smaller = [size for size in _SIZES if size < n_questions / 1.1][-3:]
    larger = [size for size in _SIZES if size > n_questions * 1.1][:5]
    return [*smaller, max(2, n_questions), *larger]
