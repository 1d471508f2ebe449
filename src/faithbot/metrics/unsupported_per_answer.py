"""Unsupported claims per answer: how many are contradicted or not found, 0 and up.

Source: the atomic facts without support of FActScore (Min et al. 2023, arXiv 2305.14251), counted instead of averaged.
Grows with the length of the answers, so it does not say whether they got less careful or only longer. An abstention
has 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from faithbot.metrics.judged import judged
from faithbot.metrics.metric import Metric

if TYPE_CHECKING:
    from faithbot.golden import Question
    from faithbot.results import AnswerRecord


def _score(record: AnswerRecord, _question: Question) -> float | None:
    judgement = judged(record)
    if judgement is None:
        return None
    return float(sum(claim.support in ("contradicted", "not_found") for claim in judgement.claims))


METRIC = Metric("unsupported_per_answer", "claims without support per answer", "lower", _score, needs_claims=True)
