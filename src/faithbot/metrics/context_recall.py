"""Context recall: the share of the reference's claims that the passages support, 0 to 1.

Source: Ragas' context recall; the same judge as for faithfulness. Does not say how much else was retrieved
(`precision_at_k`), nor whether the answer used it (`answer_correctness`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from faithbot.metrics.metric import Metric

if TYPE_CHECKING:
    from faithbot.golden import Question
    from faithbot.results import AnswerRecord


def _score(record: AnswerRecord, _question: Question) -> float | None:
    return record.context_recall


METRIC = Metric("context_recall", "context recall", "higher", _score, needs_field="reference")
