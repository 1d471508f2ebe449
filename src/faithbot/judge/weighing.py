"""From the probabilities that a model gives to a claim, and from the claims of an answer to its judgement."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from faithbot.judge.context_index import ClaimWords
from faithbot.judge.evidence import evidence_of
from faithbot.judge.number_guard import LIKELIHOOD_RATIOS, compare_numbers, weigh_numbers
from faithbot.judge.protocol import STATES_NO_FACT, SUPPORTED_FROM, Claim, Judgement

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faithbot.judge.context_index import ContextIndex
    from faithbot.judge.protocol import NumberCheck, Support
    from faithbot.judge.windows import SupportProbabilities

OPTIONS: dict[str, Any] = {"threshold": SUPPORTED_FROM, "numbers": LIKELIHOOD_RATIOS}
"""What decides a support here, for a judge's fingerprint."""


def weighed_claim(text: str, contexts: Sequence[str], index: ContextIndex, asked: SupportProbabilities) -> Claim:
    """The claim with what a model says of it and what its numbers say together, and the passage nearest to it.

    ``index`` is of these contexts, made once for all claims of an answer.
    """
    words = ClaimWords.of(text)
    match = index.match(words)
    numbers = compare_numbers(words, match)
    supported = weigh_numbers(asked.supported, numbers)
    return Claim(
        text=text,
        support=_support(supported, asked, numbers),
        probability=supported,
        evidence=None if match is None else evidence_of(match, contexts),
        numbers=numbers,
    )


def judgement_of(claims: Sequence[Claim]) -> Judgement:
    """Faithfulness over the claims that have a support; unscored, with the first reason, where none has."""
    if not claims:
        return Judgement(unscored=STATES_NO_FACT)
    supports = [claim.support for claim in claims if claim.support is not None]
    if not supports:
        return Judgement(claims=tuple(claims), unscored=claims[0].unscored)
    return Judgement(claims=tuple(claims), faithfulness=supports.count("supported") / len(supports))


def _support(supported: float, asked: SupportProbabilities, numbers: NumberCheck | None) -> Support:
    if supported >= SUPPORTED_FROM:
        return "supported"
    return "contradicted" if numbers == "conflict" or asked.contradicted > asked.not_found else "not_found"
