"""Order-aware comparison of a claim's words with those of a passage."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from faithbot.judge.words import Token, related_keys

if TYPE_CHECKING:
    from collections.abc import Sequence

_GAP = 4
"""How many more words than the claim the passage may have in a gap that counts as a substitution."""


@dataclass(frozen=True, slots=True)
class Alignment:
    """How the content words of a claim follow those of a passage."""

    ordered: float
    """Share of the claim's content words in the longest common subsequence."""
    bigrams: float
    """Share of neighbouring content words of the claim that are near each other, in order, in the passage."""
    inversions: float
    """Share of neighbouring matched words that come in the other order."""
    substitutions: float
    """Share of the claim's content words that stand where the passage has others, between matched neighbours."""
    name_swap: float
    """1 where a name of the claim stands in the place of another name of the passage."""


def align(content: Sequence[Token], passage: Sequence[Token]) -> Alignment:
    """Order-aware comparison; the subsequence is found by patience sorting (Hunt and Szymanski, 1977)."""
    if not content:
        return Alignment(ordered=1.0, bigrams=1.0, inversions=0.0, substitutions=0.0, name_swap=0.0)
    text = [token for token in passage if token.is_content]
    positions: dict[str, list[int]] = {}
    for index, token in enumerate(text):
        positions.setdefault(token.key, []).append(index)
        for related in related_keys(token.key):
            positions.setdefault(related, []).append(index)
    places = [_places(token, positions) for token in content]
    chain = _longest_increasing(places)
    neighbours = list(pairwise(places))
    matched_pairs = [(left, right) for left, right in neighbours if left and right]
    close = sum(any(0 < b - a <= 2 for a in left for b in right) for left, right in matched_pairs)
    inverted = sum(max(right) < min(left) for left, right in matched_pairs)
    substituted, swapped = _substituted(content, text, places, chain)
    return Alignment(
        ordered=len(chain) / len(content),
        bigrams=close / len(neighbours) if neighbours else float(bool(places and places[0])),
        inversions=inverted / len(matched_pairs) if matched_pairs else 0.0,
        substitutions=substituted / len(content),
        name_swap=float(swapped),
    )


def _places(token: Token, positions: dict[str, list[int]]) -> list[int]:
    exact = positions.get(token.key)
    if exact is not None:
        return exact
    return sorted({index for related in related_keys(token.key) for index in positions.get(related, ())})


def _longest_increasing(places: list[list[int]]) -> list[tuple[int, int]]:
    """Longest chain of (claim index, passage index) that increases in both."""
    tails: list[int] = []
    nodes: list[tuple[int, int, int]] = []  # claim index, passage index, node before
    tail_nodes: list[int] = []
    for index, options in enumerate(places):
        for place in reversed(options):
            rank = bisect_left(tails, place)
            nodes.append((index, place, tail_nodes[rank - 1] if rank else -1))
            if rank == len(tails):
                tails.append(place)
                tail_nodes.append(len(nodes) - 1)
            else:
                tails[rank] = place
                tail_nodes[rank] = len(nodes) - 1
    chain = []
    current = tail_nodes[-1] if tail_nodes else -1
    while current >= 0:
        index, place, current = nodes[current]
        chain.append((index, place))
    return chain[::-1]


def _substituted(
    content: Sequence[Token], text: Sequence[Token], places: list[list[int]], chain: list[tuple[int, int]]
) -> tuple[int, bool]:
    """How many claim words stand in a gap of the chain where the passage has words, too; whether names differ there."""
    count, swapped = 0, False
    borders = [(-1, -1), *chain, (len(content), len(text))]
    for (left, left_place), (right, right_place) in pairwise(borders):
        mine = [content[index] for index in range(left + 1, right) if not places[index]]
        theirs = text[left_place + 1 : right_place]
        if not mine or not theirs or len(theirs) > len(mine) + _GAP:
            continue
        count += len(mine)
        swapped = swapped or (any(token.is_name for token in mine) and any(token.is_name for token in theirs))
    return count, swapped
