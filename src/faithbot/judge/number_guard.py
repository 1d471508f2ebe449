"""The numbers of a claim against those of its contexts, compared by code: a second opinion beside a model's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faithbot.judge.context_index import ClaimWords, ContextIndex
from faithbot.judge.exactness import missing_quantities

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faithbot.judge.context_index import Match
    from faithbot.judge.protocol import NumberCheck

_ALIGNED = 0.5
"""Share of a claim's words that its nearest passage holds, from which on another number there is for the same thing."""

LIKELIHOOD_RATIOS: dict[NumberCheck, float] = {"agree": 1.86, "missing": 0.18, "conflict": 0.06}
"""How much more often a supported claim looks like that than an unsupported one.

Over the human-labelled training claims, each of the seven sources weighted alike: ``scripts/measure_number_guard.py``.
"""


def check_numbers(claim: str, contexts: Sequence[str]) -> NumberCheck | None:
    """:func:`compare_numbers` of a claim and contexts as text."""
    words = ClaimWords.of(claim)
    return compare_numbers(words, ContextIndex(contexts).match(words))


def compare_numbers(words: ClaimWords, match: Match | None) -> NumberCheck | None:
    """Whether all numbers of a claim stand in the contexts; None where it has none.

    The same value in another form or unit agrees, and so does the sum or difference of two numbers beside the nearest
    passage. A conflict: a number stands nowhere, and the nearest passage has another one for what looks like the same.
    """
    if not words.quantities:
        return None
    if match is None:
        return "missing"
    missing = missing_quantities(match)
    if missing.anywhere == 0:
        return "agree"
    return "conflict" if missing.conflict and _frame_coverage(match) >= _ALIGNED else "missing"


def _frame_coverage(match: Match) -> float:
    """Weighted share of the claim that its nearest passage holds, the numbers that it lacks left aside.

    They are what is in question: counted in, one wrong number would outweigh all words of a short claim.
    """
    n_words = len(match.words.content)
    is_frame = match.credit > 0
    is_frame[:n_words] = True
    weight = float(match.weights[is_frame].sum())
    return float((match.weights * match.credit).sum()) / weight if weight else 0.0


def weigh_numbers(supported: float, numbers: NumberCheck | None) -> float:
    """P(supported) after the numbers were compared: the odds times the likelihood ratio (Bayes' rule).

    A model that is certain, 0 or 1, stays so.
    """
    if numbers is None:
        return supported
    weighed = supported * LIKELIHOOD_RATIOS[numbers]
    return weighed / (weighed + (1.0 - supported))
