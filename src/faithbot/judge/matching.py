"""Whether two claims say the same: rewording keeps a claim, another number or a negation makes a new one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from faithbot.judge.context_index import RELATED_CREDIT
from faithbot.judge.quantities import Quantity, quantities
from faithbot.judge.words import EXCLUSIVE_KEYS, content_tokens, is_negated, related_keys, tokenize

SAME_CLAIM = 0.6
"""Smallest score of two claims that say the same."""


@dataclass(frozen=True, slots=True)
class ClaimSignature:
    """What of a claim is compared; made once per claim."""

    words: frozenset[str]
    """Keys of the content words; numbers and their units are left out."""
    related: frozenset[str]
    """Synonym groups and word beginnings of these words."""
    keys: frozenset[str]
    """Keys of all words, function words too."""
    quantities: tuple[Quantity, ...]
    negated: bool

    @classmethod
    def of(cls, claim: str) -> ClaimSignature:
        """Signature of a claim; remembered, since a claim is compared with many."""
        return _signature(claim)


@lru_cache(maxsize=8192)
def _signature(claim: str) -> ClaimSignature:
    tokens = tokenize(claim)
    words = frozenset(token.key for token in content_tokens(tokens))
    return ClaimSignature(
        words=words,
        related=frozenset(related for word in words for related in related_keys(word)),
        keys=frozenset(token.key for token in tokens),
        quantities=quantities(claim),
        negated=is_negated(claim),
    )


def match_score(a: ClaimSignature, b: ClaimSignature) -> float:
    """How much two claims overlap, 0 to 1; 0 where numbers, polarity or an opposite tell them apart.

    Dice coefficient over content words, a synonym counting RELATED_CREDIT; 1 for two claims of the same words.
    """
    if a.negated != b.negated or not _same_quantities(a.quantities, b.quantities) or _opposed(a, b):
        return 0.0
    size = len(a.words) + len(b.words)
    if size == 0:
        return float(bool(a.quantities))
    return (_covered(a, b) + _covered(b, a)) / size


def _covered(a: ClaimSignature, b: ClaimSignature) -> float:
    """Words of one claim that the other holds, synonyms at less credit."""
    only_a = a.words - b.words
    if not only_a or a.related.isdisjoint(b.related):
        return float(len(a.words) - len(only_a))
    akin = sum(not b.related.isdisjoint(related_keys(word)) for word in only_a)
    return len(a.words) - len(only_a) + RELATED_CREDIT * akin


def _same_quantities(a: tuple[Quantity, ...], b: tuple[Quantity, ...]) -> bool:
    """Each number of one claim has its equal in the other; how often it is repeated does not matter."""
    return all(any(x.equals(y) for y in b) for x in a) and all(any(y.equals(x) for x in a) for y in b)


def _opposed(a: ClaimSignature, b: ClaimSignature) -> bool:
    """Whether one claim has a word whose opposite the other has in its place."""
    only_b = b.keys - a.keys
    return any(not only_b.isdisjoint(EXCLUSIVE_KEYS.get(key, ())) for key in a.keys - b.keys)
