"""Why a claim lost its support, told by the passages alone: gone, still there, new, or none that speaks of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from faithbot.judge.evidence import nearest_passage
from faithbot.results import ClaimSource

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from faithbot.claim_statements import Statement
    from faithbot.results import AnswerRecord, Reason, SideName
    from faithbot.systems.protocol import Context

SPEAKS_OF = 0.5
"""Weighted share of a claim's words from which on a passage speaks of it. A passage that is merely the nearest of all
explains nothing: on northwind 99 of 100 supported claims reach this share, and 6 of 100 beside the passages of another
question."""


class Origin(NamedTuple):
    """Where a claim comes from, as far as the passages tell."""

    evidence: str | None
    """The passage that supported it on base; else the nearest one that either side retrieved."""
    source: ClaimSource | None
    reason: Reason


def find_origin(statement: Statement, side: SideName, sides: Mapping[SideName, Sequence[AnswerRecord]]) -> Origin:
    """Where a statement that a side makes without support comes from; no model is asked."""
    contexts = {name: _distinct_contexts(records) for name, records in sides.items()}
    if side == "head" and (before := statement.support_on_base()) is not None:
        evidence, context = before
        source = _source(evidence.quote, context, evidence.start, contexts)
        return Origin(evidence.quote, source, _reason(source))
    pool = list({**contexts["head"], **contexts["base"]}.values())
    claim = statement.unsupported(side)[0].claim.text
    nearest = nearest_passage(claim, [context.text for context in pool])
    if nearest is None:
        return Origin(None, None, "no_passage")
    evidence, coverage = nearest
    source = _source(evidence.quote, pool[evidence.context], evidence.start, contexts)
    return Origin(evidence.quote, source, _reason(source) if coverage >= SPEAKS_OF else "no_passage")


def _reason(source: ClaimSource) -> Reason:
    reasons: dict[str, Reason] = {"base": "retrieval", "both": "generation", "head": "new_passage"}
    return reasons[source.retrieved]


def _source(
    quote: str, context: Context, start: int, contexts: Mapping[SideName, Mapping[str, Context]]
) -> ClaimSource:
    # By the quote, not by the chunk: where only the chunking changed, the passage is still there.
    on_head, on_base = (any(quote in text for text in contexts[side]) for side in ("head", "base"))
    return ClaimSource(
        document=context.source,
        start=None if context.start is None else context.start + start,
        retrieved="both" if on_head and on_base else "head" if on_head else "base",
    )


def _distinct_contexts(records: Iterable[AnswerRecord]) -> dict[str, Context]:
    return {context.text: context for record in records for context in record.contexts}
