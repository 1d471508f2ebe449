"""Abstention rate: 1 for an answer that says that it cannot answer, else 0.

Source: the unanswerable questions of SQuAD 2.0 (Rajpurkar et al. 2018, arXiv 1806.03822). Does not say whether the
passages held the answer: `context_recall` does. Questions with `answerable: false` are left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from faithbot.metrics.judged import judged
from faithbot.metrics.metric import Metric

if TYPE_CHECKING:
    from faithbot.golden import Question
    from faithbot.results import AnswerRecord


def _score(record: AnswerRecord, question: Question) -> float | None:
    judgement = judged(record)
    if judgement is None or question.answerable is False:
        return None
    return float(judgement.abstained)


METRIC = Metric("abstention_rate", "share of questions not answered", "lower", _score)
