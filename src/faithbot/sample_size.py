"""How many questions and runs it takes to see a change of a given size. Numbers in, numbers out.

The rule that is planned for is that of :func:`faithbot.noise.compare_runs`: a change is seen in 8 of 10 cases where it
is larger by Student's 80 % quantile than both the 95 % quantile and the smallest effect that counts. Quantiles are in
standard errors, sqrt(2 * variance / (questions * runs)), with 2 * questions * (runs - 1) degrees of freedom.
"""

from __future__ import annotations

import math

from faithbot.noise import POWER
from faithbot.student import student_quantile

MOST_QUESTIONS = 100_000
"""Beyond it no golden set is planned."""


def smallest_drop(variance: float, questions: int, runs: int, *, alpha: float = 0.05, min_effect: float = 0.0) -> float:
    """The smallest change seen in 8 of 10 comparisons, in the metric's unit, if it is spread over all questions.

    ``variance`` is that of one run's score around its question's mean; a change up to ``min_effect`` is not flagged.
    ``runs`` is 2 or more a side: one run measures no noise. inf where so few runs have too few relabellings for any
    p-value to reach ``alpha``. Raises ValueError where there are fewer runs or no question.
    """
    if runs < 2 or questions < 1:
        raise ValueError(f"it takes 2 runs and 1 question at least, not {runs} and {questions}")
    if math.log(0.5) - questions * math.log(math.comb(2 * runs, runs)) > math.log(alpha):
        return math.inf
    df = 2 * questions * (runs - 1)
    standard_error = math.sqrt(2 * variance / (questions * runs))
    critical = student_quantile(1 - alpha, df) * standard_error
    return max(critical, min_effect) + student_quantile(POWER, df) * standard_error


def questions_for(
    drop: float, variance: float, runs: int, *, alpha: float = 0.05, min_effect: float = 0.0
) -> int | None:
    """The fewest questions with which ``drop`` is seen in 8 of 10 comparisons; None beyond :data:`MOST_QUESTIONS`."""
    if smallest_drop(variance, MOST_QUESTIONS, runs, alpha=alpha, min_effect=min_effect) > drop:
        return None
    too_few, enough = 0, MOST_QUESTIONS
    while enough - too_few > 1:
        middle = (too_few + enough) // 2
        if smallest_drop(variance, middle, runs, alpha=alpha, min_effect=min_effect) <= drop:
            enough = middle
        else:
            too_few = middle
    return enough
