"""What every metric is: one number an answer, or nothing where it does not apply."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable

    from faithbot.config import MetricName
    from faithbot.golden import Question
    from faithbot.results import AnswerRecord


@dataclass(frozen=True)
class Metric:
    """A number per answer; a question's value is the mean over its runs, a side's the mean over questions."""

    name: MetricName
    label: str
    """How reports call it, in the middle of a sentence."""
    better: Literal["higher", "lower"]
    score: Callable[[AnswerRecord, Question], float | None]
    needs_claims: bool = False
    """Says nothing with a judge that gives one label to a whole answer."""
    needs_field: Literal["reference", "relevant_ids"] | None = None
    """Says nothing of a golden question without this field."""
