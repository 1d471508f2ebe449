"""Answer relevance: how well an answer meets its question, 1 to 5 by the judge's model, shown as 0 to 1.

Source: a form filled in by a model, its grade weighted by the probabilities of the grades (G-Eval, Liu et al. 2023,
arXiv 2303.16634). Does not say whether the answer is right or supported: an invented one can be fully relevant. An
abstention has none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from faithbot.metrics.metric import Metric

if TYPE_CHECKING:
    from faithbot.golden import Question
    from faithbot.results import AnswerRecord


def _score(record: AnswerRecord, _question: Question) -> float | None:
    return record.judgement.relevance if record.judgement else None


METRIC = Metric("answer_relevance", "answer relevance", "higher", _score)
