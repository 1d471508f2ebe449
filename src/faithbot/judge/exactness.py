"""What must agree exactly between a claim and its evidence, compared by code: numbers, polarity, opposites."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from faithbot.judge.alignment import kept_neighbours
from faithbot.judge.lexicon import PARTIAL, TOTAL
from faithbot.judge.words import EXCLUSIVE_KEYS, Token, word_key

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faithbot.judge.context_index import Match

_TOTAL_KEYS, _PARTIAL_KEYS = (frozenset(map(word_key, words)) for words in (TOTAL, PARTIAL))
_NEAR = 4
_ALIGNED = 0.5
_VERBATIM_COVERAGE = 0.8
_VERBATIM_ORDER = 0.6


@dataclass(frozen=True, slots=True)
class MissingQuantities:
    """Numbers of a claim that its evidence does not hold, as shares of its numbers."""

    anywhere: float
    """In no context at all, nor the sum or difference of two numbers of the nearest passage."""
    here: float
    """Not in the nearest passage."""
    conflict: bool
    """The nearest passage has another value for what looks like the same thing."""
    replaced: bool
    """A number is not in the nearest passage, which has one that the claim does not state."""


def missing_quantities(match: Match) -> MissingQuantities:
    """Compare the claim's numbers by value with those of the nearest passage, then of all contexts."""
    wanted = match.words.quantities
    if not wanted:
        return MissingQuantities(0.0, 0.0, conflict=False, replaced=False)
    here = match.credit[-len(wanted) :].tolist()
    anywhere = match.all_credit[-len(wanted) :].tolist()
    not_here = [quantity for quantity, credit in zip(wanted, here, strict=True) if not credit]
    near = [quantity for sentence in match.nearest.sentences for quantity in sentence.quantities]
    # A value of the passage that the claim states as well is not the claim's other number changed.
    free = [other for other in near if not any(other.equals(quantity) for quantity in wanted)]
    return MissingQuantities(
        anywhere.count(0.0) / len(wanted),
        len(not_here) / len(wanted),
        conflict=any(quantity.conflicts(other) for quantity in not_here for other in free),
        replaced=bool(not_here and free),
    )


def conflicts(match: Match) -> bool:
    """Whether the nearest passage aligns with the claim but for a number, the polarity or an opposite."""
    if match.nearest.coverage < _ALIGNED:
        return False
    return missing_quantities(match).conflict or bool(match.contested) or opposite(match) is not None


def breaks_exactness(match: Match) -> bool:
    """Whether exactness forbids support: a number that no context states, or a near-verbatim claim with a conflict."""
    missing = missing_quantities(match)
    if missing.anywhere > 0:
        return True
    if match.nearest.coverage < _VERBATIM_COVERAGE or not (missing.replaced or conflicts(match)):
        return False
    return kept_neighbours(match.words.content, match.nearest.tokens) >= _VERBATIM_ORDER


def opposite(match: Match) -> tuple[str, str] | None:
    """Key of a word of the claim and of the one that the nearest passage has in its place and that excludes it.

    An opposite, or a word that claims less: "some" is not "all". None without one.
    """
    passage = match.nearest.tokens
    mine = {token.key for token in match.words.tokens}
    theirs = {token.key for token in passage}
    for key in sorted(mine - theirs):
        for other in sorted(_not_supporting(key) & theirs - mine):
            if _neighbours(match.words.tokens, key) & _neighbours(passage, other):
                return key, other
    return None


def _not_supporting(key: str) -> frozenset[str]:
    return EXCLUSIVE_KEYS.get(key, frozenset()) | (_PARTIAL_KEYS if key in _TOTAL_KEYS else frozenset())


def _neighbours(tokens: Sequence[Token], key: str) -> set[str]:
    """Keys of the content words next to a word."""
    keys = set()
    for index, token in enumerate(tokens):
        if token.key == key:
            before = [other.key for other in tokens[max(0, index - _NEAR) : index] if other.is_content]
            after = [other.key for other in tokens[index + 1 : index + 1 + _NEAR] if other.is_content]
            keys.update(before[-1:] + after[:1])
    return keys
