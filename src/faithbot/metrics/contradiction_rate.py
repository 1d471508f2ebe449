"""Contradiction rate: contradicted claims over scored claims of an answer, 0 to 1.

Source: the third label of natural language inference (Bowman et al. 2015, arXiv 1508.05326). Does not count claims that
no passage mentions: they are unsupported as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from faithbot.metrics.metric import Metric

if TYPE_CHECKING:
    from faithbot.golden import Question
    from faithbot.results import AnswerRecord


def _score(record: AnswerRecord, _question: Question) -> float | None:
    supports = [claim.support for claim in record.judgement.claims if claim.support] if record.judgement else []
    return supports.count("contradicted") / len(supports) if supports else None


METRIC = Metric("contradiction_rate", "contradiction rate", "lower", _score, needs_claims=True)
