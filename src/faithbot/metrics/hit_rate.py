"""Hit rate: 1 where a passage of a relevant document is among those given, else 0.

Source: success@k of retrieval evaluation (trec_eval), k being the number of passages given. Does not say at which rank
(`mrr`), nor whether the right part of the document came (`context_recall`).
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
    return None if relevant is None else float(any(relevant))


METRIC = Metric("hit_rate", "right document retrieved", "higher", _score, needs_field="relevant_ids")
