"""Whether two claims say the same: rewording keeps a claim, another number, name or negation makes a new one.

By words alone, without embeddings. Of 330 reworded claims of two equal configurations (northwind, `baseline` against
`baseline2`) this misses about 12 by a reading of 50 pairs; of 20 changed claims that were read it explains none.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from faithbot.judge.context_index import RELATED_CREDIT
from faithbot.judge.quantities import Quantity, quantities
from faithbot.judge.words import EXCLUSIVE_KEYS, content_tokens, is_negated, related_keys, tokenize

SAME_CLAIM = 0.6
"""Smallest score of two claims that say the same."""
_LEAD_IN = ": "
"""Between the words that introduce a list and an item of it, where a judge makes a claim of each item."""


@dataclass(frozen=True, slots=True)
class ClaimSignature:
    """What of a claim is compared; made once per claim."""

    words: frozenset[str]
    """Keys of the content words; numbers and their units are left out."""
    keys: frozenset[str]
    """Keys of all words, function words too."""
    quantities: tuple[Quantity, ...]
    negated: bool
    names: frozenset[str]
    """Keys of the capitalised words after the first, which every sentence capitalises."""
    listed: frozenset[str] | None
    """Words of the item alone where the claim is one of a list, "Covered are: glasses"; None for other claims."""

    @classmethod
    def of(cls, claim: str) -> ClaimSignature:
        """Signature of a claim; remembered, since a claim is compared with many."""
        return _signature(claim)


@lru_cache(maxsize=8192)
def _signature(claim: str) -> ClaimSignature:
    tokens = tokenize(claim)
    content = content_tokens(tokens)
    words = frozenset(token.key for token in content)
    item_start = claim.rfind(_LEAD_IN) + len(_LEAD_IN)
    return ClaimSignature(
        words=words,
        keys=frozenset(token.key for token in tokens),
        quantities=quantities(claim),
        negated=is_negated(claim),
        names=frozenset(token.key for token in content if token.is_name and token is not tokens[0]),
        listed=frozenset(token.key for token in content if token.start >= item_start) if _LEAD_IN in claim else None,
    )


def match_score(a: ClaimSignature, b: ClaimSignature) -> float:
    """How much two claims overlap, 0 to 1; 0 where numbers, names, polarity or an opposite tell them apart.

    Dice coefficient over content words, a synonym counting RELATED_CREDIT; 1 for two claims of the same words. Items of
    lists overlap no more than the items themselves do: the words that introduce the list are the same for all of it.
    """
    if a.negated != b.negated or _renamed(a, b) or _opposed(a, b) or not _same_quantities(a.quantities, b.quantities):
        return 0.0
    if not a.words and not b.words:
        return float(bool(a.quantities))
    score = _overlap(a.words, b.words)
    return min(score, _overlap(a.listed, b.listed)) if a.listed and b.listed else score


def _overlap(a: frozenset[str], b: frozenset[str]) -> float:
    return (_covered(a, b) + _covered(b, a)) / (len(a) + len(b))


def _covered(words: frozenset[str], others: frozenset[str]) -> float:
    """Words that stand among the others, synonyms at less credit."""
    missing = words - others
    if len(missing) == len(words):  # synonyms alone make no two claims alike
        return 0.0
    akin = sum(not _related(others).isdisjoint(related_keys(word)) for word in missing)
    return len(words) - len(missing) + RELATED_CREDIT * akin


@lru_cache(maxsize=8192)
def _related(words: frozenset[str]) -> frozenset[str]:
    """Synonym groups and word beginnings of the words."""
    return frozenset(related for word in words for related in related_keys(word))


def _same_quantities(a: tuple[Quantity, ...], b: tuple[Quantity, ...]) -> bool:
    """Each number of one claim has its equal in the other; how often it is repeated does not matter."""
    if not a or not b:
        return not a and not b
    return all(any(x.equals(y) for y in b) for x in a) and all(any(y.equals(x) for x in a) for y in b)


def _opposed(a: ClaimSignature, b: ClaimSignature) -> bool:
    """Whether one claim has a word whose opposite the other has in its place."""
    only_b = b.keys - a.keys
    return any(not only_b.isdisjoint(EXCLUSIVE_KEYS.get(key, ())) for key in a.keys - b.keys)


def _renamed(a: ClaimSignature, b: ClaimSignature) -> bool:
    """Whether each claim names something that the other does not: two things, however alike the rest is."""
    return not a.names <= b.words and not b.names <= a.words
