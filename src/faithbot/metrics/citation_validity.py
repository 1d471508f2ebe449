"""Citation validity: the share of an answer's citations that name a passage it was given, 0 to 1.

Source: what comes before the citation precision of ALCE (Gao et al. 2023, arXiv 2305.14627): is there such a passage at
all? Does not say whether the passage supports the sentence, nor whether a citation is missing. An answer without
citations has none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from faithbot.judge.citations import check_citations
from faithbot.metrics.metric import Metric

if TYPE_CHECKING:
    from faithbot.golden import Question
    from faithbot.results import AnswerRecord


def _score(record: AnswerRecord, _question: Question) -> float | None:
    if record.answer is None:
        return None
    contexts = record.contexts
    found = check_citations(
        record.answer, [context.source for context in contexts], [context.text for context in contexts]
    )
    total = len(found.valid) + len(found.fabricated)
    return len(found.valid) / total if total else None


METRIC = Metric("citation_validity", "valid citations", "higher", _score)
