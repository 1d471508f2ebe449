"""Mean reciprocal rank: 1 / the rank of the first passage of a relevant document, 0 where there is none; 0 to 1.

Source: Voorhees 1999, the question answering track of TREC-8. Looks at the first relevant passage alone: a second one
that the answer needs does not count.
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
    return 1.0 / (1 + relevant.index(True)) if any(relevant) else 0.0


METRIC = Metric("mrr", "rank of the right document (MRR)", "higher", _score, needs_field="relevant_ids")
