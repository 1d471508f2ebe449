"""How well contexts cover a claim, as numbers: what the evidence judge's weights are multiplied with.

Lexical evidence only: covered words, order, names, numbers by value, polarity, opposites, conditions. Contexts are
indexed once an answer; a claim then costs a few small matrix operations.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from typing import TYPE_CHECKING

import numpy as np

from faithbot.judge.lexicon import CHATTER, CONDITIONS, EXCLUSIVE, FIRST_PERSON, STRENGTHENERS
from faithbot.judge.quantities import Quantity, is_derived, quantities
from faithbot.judge.sentences import Span, split_sentences
from faithbot.judge.words import Token, is_negator, related_keys, tokenize

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    Vector = npt.NDArray[np.float64]

RELATED_CREDIT = 0.6
"""What a synonym or a word with the same first letters counts, the same word being 1."""
_CACHED_LENGTH = 20_000
_NEAR = 4
_OPENING = CHATTER | FIRST_PERSON | frozenset({"that", "so", "and", "but", "well", "not"})

FEATURE_NAMES = (
    "sentence_coverage",
    "window_coverage",
    "context_coverage",
    "all_coverage",
    "exact_coverage",
    "longest_uncovered_run",
    "rarest_uncovered",
    "ordered",
    "bigrams",
    "inversions",
    "substitutions",
    "names_uncovered",
    "name_swap",
    "numbers_uncovered",
    "numbers_elsewhere",
    "number_conflict",
    "polarity_differs",
    "opposite",
    "condition_dropped",
    "strengthened",
)


@cache
def _rarity() -> dict[str, float]:
    """Stem to a weight between 0 and 1; words that are not listed are rare and weigh 1."""
    table: dict[str, float] = json.loads((resources.files("faithbot.judge") / "word_rarity.json").read_text("utf-8"))
    return table


@dataclass(frozen=True, slots=True)
class ContextSentence:
    """A sentence of a context, analysed."""

    span: Span
    text: str
    tokens: tuple[Token, ...]
    quantities: tuple[Quantity, ...]


def _analyse(context: str) -> tuple[ContextSentence, ...]:
    sentences = []
    for span in split_sentences(context):
        text = context[span.start : span.end]
        tokens = tuple(tokenize(text))
        has_number = any(token.key.startswith("#") for token in tokens)
        sentences.append(ContextSentence(span, text, tokens, tuple(quantities(text)) if has_number else ()))
    return tuple(sentences)


@lru_cache(maxsize=512)
def _analyse_cached(context: str) -> tuple[ContextSentence, ...]:
    return _analyse(context)


def analyse_context(context: str) -> tuple[ContextSentence, ...]:
    """Sentences of a context. Contexts of the usual size are remembered, since every run is judged against them."""
    return _analyse_cached(context) if len(context) <= _CACHED_LENGTH else _analyse(context)


@dataclass(frozen=True, slots=True)
class ClaimWords:
    """A claim, analysed: everything that does not depend on the contexts."""

    tokens: tuple[Token, ...]
    content: tuple[Token, ...]
    """Content tokens, the first of each key, in order."""
    quantities: tuple[Quantity, ...]
    is_name: npt.NDArray[np.bool_]
    is_number: npt.NDArray[np.bool_]
    rarity: Vector
    """Per content word, how little to be expected in any text, 0 to 1."""

    @classmethod
    def of(cls, claim: str) -> ClaimWords:
        """Analyse a claim."""
        tokens = tuple(_without_opening(tokenize(claim)))
        first_of_key: dict[str, Token] = {}
        for token in tokens:
            if token.is_content:
                first_of_key.setdefault(token.key, token)
        content = tuple(first_of_key.values())
        opening = tokens[0].start if tokens else 0
        return cls(
            tokens,
            content,
            tuple(quantities(claim)),
            np.array([token.is_name and token.start != opening for token in content], dtype=bool),
            np.array([token.key.startswith("#") for token in content], dtype=bool),
            np.array([_rarity().get(token.key, 1.0) for token in content]),
        )


def _without_opening(tokens: list[Token]) -> list[Token]:
    """Tokens without the chatter that a reply opens with: "Yes, I think that ..."."""
    start = next((i for i, token in enumerate(tokens) if token.form not in _OPENING), 0)
    return tokens[start:]


@dataclass(frozen=True, slots=True)
class Nearest:
    """The passage nearest to a claim: one sentence or two neighbouring ones of the same context."""

    context: int
    sentences: tuple[ContextSentence, ...]
    coverage: float
    """Weighted share of the claim's content words that stand in it, 0 to 1."""

    @property
    def span(self) -> Span:
        """Where it stands in its context."""
        return Span(self.sentences[0].span.start, self.sentences[-1].span.end)


class ContextIndex:
    """The contexts of one answer, indexed by word."""

    def __init__(self, contexts: Sequence[str]) -> None:
        self.sentences: list[ContextSentence] = []
        owners: list[int] = []
        for number, context in enumerate(contexts):
            analysed = analyse_context(context)
            self.sentences.extend(analysed)
            owners.extend([number] * len(analysed))
        self._owner = np.array(owners, dtype=np.intp)
        self._context_starts = np.flatnonzero(np.diff(self._owner, prepend=-1))
        self._same_context = np.append(self._owner[1:] == self._owner[:-1], False)
        self._postings: dict[str, list[int]] = {}
        self._related: dict[str, list[int]] = {}
        for number, sentence in enumerate(self.sentences):
            for key in {token.key for token in sentence.tokens if token.is_content}:
                self._postings.setdefault(key, []).append(number)
        for key, numbers in self._postings.items():
            for related in related_keys(key):
                self._related.setdefault(related, []).extend(numbers)
        self._quantities = [quantity for sentence in self.sentences for quantity in sentence.quantities]

    def coverage(self, words: ClaimWords) -> Vector:
        """Credit per content word and sentence, shape (content words, sentences), each 0, RELATED_CREDIT or 1."""
        matrix = np.zeros((len(words.content), len(self.sentences)))
        for row, token in zip(matrix, words.content, strict=True):
            for related in related_keys(token.key):
                row[self._related.get(related, [])] = RELATED_CREDIT
            row[self._postings.get(token.key, [])] = 1.0
        return matrix

    def match(self, words: ClaimWords) -> Match | None:
        """The evidence for a claim, or None where no content word of it stands in any context."""
        if not self.sentences or not words.content:
            return None
        by_sentence = self.coverage(words)
        weights = _weights(by_sentence) * words.rarity
        total = float(weights.sum())
        sentence_scores = weights @ by_sentence
        best = int(sentence_scores.argmax())
        if sentence_scores[best] <= 0:
            return None
        windows = by_sentence.copy()
        windows[:, :-1] = np.maximum(by_sentence[:, :-1], by_sentence[:, 1:] * self._same_context[:-1])
        window_scores = weights @ windows
        first = int(window_scores.argmax())
        by_context = np.maximum.reduceat(by_sentence, self._context_starts, axis=1)
        context_scores = weights @ by_context
        # A second sentence has to bring a word of its own, or the quote would only be longer.
        pair = window_scores[first] > sentence_scores[best] + 0.05 * total
        start, size = (first, 2) if pair else (best, 1)
        chosen = tuple(self.sentences[start : start + size])
        credit = windows[:, first] if pair else by_sentence[:, best]
        return Match(
            words=words,
            nearest=Nearest(int(self._owner[start]), chosen, float(weights @ credit) / total),
            weights=weights / total,
            credit=credit,
            sentence_coverage=float(sentence_scores[best]) / total,
            window_coverage=float(window_scores[first]) / total,
            context_coverage=float(context_scores.max()) / total,
            all_credit=by_sentence.max(axis=1),
            all_quantities=self._quantities,
        )


def _weights(by_sentence: Vector) -> Vector:
    """Rare words weigh more: inverse sentence frequency, between 1 and 2."""
    n_sentences = by_sentence.shape[1]
    frequency = (by_sentence > 0).sum(axis=1)
    rarity: Vector = 1.0 + np.log((n_sentences + 1.0) / (frequency + 1.0)) / np.log(n_sentences + 1.0)
    return rarity


@dataclass(frozen=True, slots=True)
class Match:
    """A claim laid beside its evidence."""

    words: ClaimWords
    nearest: Nearest
    weights: Vector
    """Per content word, sum 1."""
    credit: Vector
    """Per content word, in the nearest passage."""
    sentence_coverage: float
    window_coverage: float
    context_coverage: float
    all_credit: Vector
    """Per content word, in any sentence of any context."""
    all_quantities: list[Quantity]

    def features(self) -> Vector:
        """Values in the order of FEATURE_NAMES."""
        words, credit = self.words, self.credit
        uncovered = self.all_credit == 0
        passage = [token for sentence in self.nearest.sentences for token in sentence.tokens]
        order = _alignment(words.content, passage)
        missing = missing_quantities(self)
        names = words.is_name & ~words.is_number
        forms = {token.form for token in words.tokens}
        passage_forms = {token.form for token in passage}
        size = len(words.content)
        values = (
            self.sentence_coverage,
            self.window_coverage,
            self.context_coverage,
            float(self.weights @ self.all_credit),
            float((credit == 1).sum()) / size,
            _longest_run(credit == 0) / size,
            float(words.rarity[uncovered].max(initial=0.0)),
            order.ordered,
            order.bigrams,
            order.inversions,
            order.substitutions,
            float((names & uncovered).sum()) / max(1, int(names.sum())),
            order.name_swap,
            missing.anywhere,
            missing.here,
            float(missing.conflict),
            float(polarity_differs(self)),
            float(opposite(self) is not None),
            float(bool(passage_forms & CONDITIONS) and not forms & CONDITIONS),
            float(bool(forms & STRENGTHENERS - passage_forms)),
        )
        return np.array(values, dtype=np.float64)


@dataclass(frozen=True, slots=True)
class _Alignment:
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


def _alignment(content: tuple[Token, ...], passage: list[Token]) -> _Alignment:
    """Order-aware comparison; the subsequence is found by patience sorting (Hunt and Szymanski, 1977)."""
    text = [token for token in passage if token.is_content]
    positions: dict[str, list[int]] = {}
    for index, token in enumerate(text):
        positions.setdefault(token.key, []).append(index)
        for related in related_keys(token.key):
            positions.setdefault(related, []).append(index)
    places = [_places(token, positions) for token in content]
    chain = _longest_increasing(places)
    neighbours = list(zip(places, places[1:], strict=False))
    matched_pairs = [(left, right) for left, right in neighbours if left and right]
    close = sum(any(0 < b - a <= 2 for a in left for b in right) for left, right in matched_pairs)
    inverted = sum(max(right) < min(left) for left, right in matched_pairs)
    substituted, swapped = _substituted(content, text, places, chain)
    return _Alignment(
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
    content: tuple[Token, ...], text: list[Token], places: list[list[int]], chain: list[tuple[int, int]]
) -> tuple[int, bool]:
    """How many claim words stand in a gap of the chain where the passage has words, too; whether names differ there."""
    count, swapped = 0, False
    borders = [(-1, -1), *chain, (len(content), len(text))]
    for (left, left_place), (right, right_place) in zip(borders, borders[1:], strict=False):
        mine = [content[index] for index in range(left + 1, right) if not places[index]]
        theirs = text[left_place + 1 : right_place]
        if not mine or not theirs or len(theirs) > len(mine) + _NEAR:
            continue
        count += len(mine)
        swapped = swapped or (any(token.is_name for token in mine) and any(token.is_name for token in theirs))
    return count, swapped


def _longest_run(flags: npt.NDArray[np.bool_]) -> int:
    longest = run = 0
    for flag in flags.tolist():
        run = run + 1 if flag else 0
        longest = max(longest, run)
    return longest


@dataclass(frozen=True, slots=True)
class MissingQuantities:
    """Numbers of a claim that its evidence does not hold, as shares of its numbers."""

    anywhere: float
    """In no context at all, nor the sum or difference of two numbers of the nearest passage."""
    here: float
    """Not in the nearest passage."""
    conflict: bool
    """The nearest passage has another value for what looks like the same thing."""


def missing_quantities(match: Match) -> MissingQuantities:
    """Compare the claim's numbers by value with those of the nearest passage, then of all contexts."""
    wanted = match.words.quantities
    if not wanted:
        return MissingQuantities(0.0, 0.0, False)
    near = [quantity for sentence in match.nearest.sentences for quantity in sentence.quantities]
    not_here = [quantity for quantity in wanted if not any(quantity.equals(other) for other in near)]
    not_here = [quantity for quantity in not_here if not is_derived(quantity, near)]
    nowhere = [quantity for quantity in not_here if not any(quantity.equals(other) for other in match.all_quantities)]
    # A value of the passage that the claim states as well is not the claim's other number changed.
    free = [other for other in near if not any(other.equals(quantity) for quantity in wanted)]
    conflict = any(quantity.conflicts(other) for quantity in not_here for other in free)
    return MissingQuantities(len(nowhere) / len(wanted), len(not_here) / len(wanted), conflict)


def polarity_differs(match: Match) -> bool:
    """Whether claim or passage, not both, denies a word that both have."""
    mine = _denied(match.words.tokens)
    theirs = {key for sentence in match.nearest.sentences for key in _denied(sentence.tokens)}
    own = {token.key for token in match.words.content}
    passage = {token.key for sentence in match.nearest.sentences for token in sentence.tokens}
    return bool((mine - theirs) & passage or (theirs - mine) & own)


def _denied(tokens: Sequence[Token]) -> set[str]:
    """Keys of the first content word after each negator."""
    keys = set()
    denied = False
    for token in tokens:
        if is_negator(token):
            denied = True
        elif denied and token.is_content:
            keys.add(token.key)
            denied = False
    return keys


def opposite(match: Match) -> tuple[str, str] | None:
    """A word of the claim and its opposite, which the nearest passage has in its place; None where there is none."""
    mine = {token.form for token in match.words.tokens}
    passage = [token for sentence in match.nearest.sentences for token in sentence.tokens]
    theirs = {token.form for token in passage}
    for form in sorted(mine - theirs):
        for other in sorted(EXCLUSIVE.get(form, frozenset()) & theirs - mine):
            if _neighbours(match.words.tokens, form) & _neighbours(passage, other):
                return form, other
    return None


def _neighbours(tokens: Sequence[Token], form: str) -> set[str]:
    """Keys of the content words next to a form."""
    keys = set()
    for index, token in enumerate(tokens):
        if token.form == form:
            before = [other.key for other in tokens[max(0, index - _NEAR) : index] if other.is_content]
            after = [other.key for other in tokens[index + 1 : index + 1 + _NEAR] if other.is_content]
            keys.update(before[-1:] + after[:1])
    return keys
