"""Faithfulness: supported claims over scored claims of an answer, 0 to 1.

Source: Ragas (Es et al. 2023, arXiv 2309.15217). Does not say whether the passages are right, nor whether the answer
leaves something out. An abstention has none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from faithbot.metrics.metric import Metric

if TYPE_CHECKING:
    from faithbot.golden import Question
    from faithbot.results import AnswerRecord


def _score(record: AnswerRecord, _question: Question) -> float | None:
    return record.judgement.faithfulness if record.judgement else None


METRIC = Metric("faithfulness", "faithfulness", "higher", _score)
