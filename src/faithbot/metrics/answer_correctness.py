"""Answer correctness: the share of the reference's claims that the answer supports, 0 to 1.

Source: the recall half of Ragas' factual correctness; the judge reads the answer as the only passage. Does not say
whether the answer adds something false: `faithfulness` does. An abstention has 0; on a question with
`answerable: false` it is the right answer and has 1, and an answer that states facts there has 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from faithbot.metrics.metric import Metric

if TYPE_CHECKING:
    from faithbot.golden import Question
    from faithbot.results import AnswerRecord


def _score(record: AnswerRecord, _question: Question) -> float | None:
    return record.correctness


METRIC = Metric("answer_correctness", "answer correctness", "higher", _score, needs_field="reference")
