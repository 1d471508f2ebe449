"""Precision@k: the share of the passages given that come from a relevant document, 0 to 1.

Source: precision at a cut-off (Manning et al. 2008, Introduction to Information Retrieval, section 8.4), k being the
number of passages given; 0 where none was found. Counts passages of a relevant document that do not answer the
question, and falls where `top_k` is raised, though nothing got worse.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from faithbot.metrics.metric import Metric
from faithbot.metrics.retrieved import relevant_passages

if TYPE_CHECKING:
    from faithbot.golden import Question
    from faithbot.results import AnswerRecord


def _score(record: AnswerRecord, question: Question) -> float | None:
    relevant = relevant_passages(record, question)
    if relevant is None:
        return None
    return sum(relevant) / len(relevant) if relevant else 0.0


METRIC = Metric("precision_at_k", "relevant passages (precision)", "higher", _score, needs_field="relevant_ids")
