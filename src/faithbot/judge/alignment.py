"""Whether the words of a claim stand together in a passage as they do in the claim."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from faithbot.judge.words import Token, content_tokens, related_keys

if TYPE_CHECKING:
    from collections.abc import Sequence

_NEAR = 2


def kept_neighbours(content: Sequence[Token], passage: Sequence[Token]) -> float:
    """Share of neighbouring content words of a claim that are near each other, in order, in a passage; 1 without any.

    A synonym counts as the word itself.
    """
    if not content:
        return 1.0
    positions: dict[str, list[int]] = {}
    for index, token in enumerate(content_tokens(passage)):
        for key in (token.key, *related_keys(token.key)):
            positions.setdefault(key, []).append(index)
    places = [_places(token, positions) for token in content]
    if len(places) == 1:
        return float(bool(places[0]))
    kept = sum(any(0 < b - a <= _NEAR for a in left for b in right) for left, right in pairwise(places))
    return kept / (len(places) - 1)


def _places(token: Token, positions: dict[str, list[int]]) -> list[int]:
    exact = positions.get(token.key)
    if exact is not None:
        return exact
    return [index for related in related_keys(token.key) for index in positions.get(related, ())]
