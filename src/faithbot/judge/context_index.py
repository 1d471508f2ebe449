"""Claims laid beside contexts: which words of a claim stand where, and the passage nearest to it.

A context is analysed once and remembered; a claim then costs a few small matrix operations.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from importlib import resources
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from faithbot.judge.lexicon import NUMBER_SCALES, NUMBER_WORDS, OPENING_CHATTER
from faithbot.judge.polarity import agrees, contested
from faithbot.judge.quantities import Quantity, is_derived, quantities, value_key
from faithbot.judge.splitting import HEADING, Span, split_sentences
from faithbot.judge.words import Token, content_keys, content_tokens, related_keys, stem, tokenize

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet

    import numpy.typing as npt

    Vector = npt.NDArray[np.float64]

RELATED_CREDIT = 0.6
"""What a synonym or a word with the same first letters counts, the same word being 1."""
_CACHED_LENGTH = 20_000
_HEADING_STANDING = 0.7
"""A heading names what the sentences below it state: they are better evidence where they hold nearly as much."""
_SECOND_SENTENCE_GAIN = 0.05
_AS_NEAR = 0.8
"""Share of the nearest passage's overlap from which on a sentence that agrees in polarity is better evidence."""
_AROUND = 4
"""Words before and after a denied one that a sentence has to be about as well."""
_NUMBER_KEYS = frozenset([*map(stem, NUMBER_SCALES), *(f"#{value}" for value in NUMBER_WORDS.values())])
"""Keys of the words that a number may be written in."""
_DIGIT = re.compile(r"\d")


class ContextSentence(NamedTuple):
    """A sentence of a context."""

    span: Span
    text: str
    keys: AbstractSet[str]
    """Of its content words and numbers."""
    related: AbstractSet[str]
    """Synonym groups and word beginnings of its content words."""

    @classmethod
    def of(cls, span: Span, text: str) -> ContextSentence:
        """Analyse a sentence."""
        keys = content_keys(text)
        return cls(span, text, keys, set(chain.from_iterable(map(related_keys, keys))))

    @property
    def tokens(self) -> tuple[Token, ...]:
        """Its words and numbers."""
        return tokenize(self.text)

    @property
    def quantities(self) -> tuple[Quantity, ...]:
        """Its numbers by value."""
        return quantities(self.text)

    @property
    def may_hold_number(self) -> bool:
        """False where it holds none for sure."""
        return not _NUMBER_KEYS.isdisjoint(self.keys) or _DIGIT.search(self.text) is not None


@dataclass(frozen=True)
class AnalysedContext:
    """Sentences of a context and what they state."""

    sentences: tuple[ContextSentence, ...]

    @classmethod
    def of(cls, context: str) -> AnalysedContext:
        """Analyse a context."""
        spans = split_sentences(context)
        return cls(tuple(ContextSentence.of(span, context[span[0] : span[1]]) for span in spans))

    def stating(self, quantity: Quantity) -> list[int]:
        """Numbers of the sentences that hold the same value."""
        keys = {value_key(value) for value in quantity.all_values()}
        found = (entry for key in keys for entry in self._by_value.get(key, ()))
        return [number for number, other in found if quantity.equals(other)]

    @cached_property
    def _by_value(self) -> dict[str, list[tuple[int, Quantity]]]:
        by_value: dict[str, list[tuple[int, Quantity]]] = {}
        for number, sentence in enumerate(self.sentences):
            for quantity in sentence.quantities if sentence.may_hold_number else ():
                for value in quantity.all_values():
                    by_value.setdefault(value_key(value), []).append((number, quantity))
        return by_value


@lru_cache(maxsize=512)
def _analyse_cached(context: str) -> AnalysedContext:
    return AnalysedContext.of(context)


def analyse_context(context: str) -> AnalysedContext:
    """Contexts of the usual size are remembered, since every run is judged against them."""
    return _analyse_cached(context) if len(context) <= _CACHED_LENGTH else AnalysedContext.of(context)


def forget_contexts() -> None:
    """Drop what is remembered: frees memory, and lets a measurement start cold."""
    for remembered in (_analyse_cached, tokenize, quantities):
        remembered.cache_clear()


@dataclass(frozen=True, slots=True)
class ClaimWords:
    """A claim, analysed: everything that does not depend on the contexts.

    What is looked up in the contexts are its items: the content words in order, then the numbers by value.
    """

    tokens: tuple[Token, ...]
    content: tuple[Token, ...]
    """Content words, the first of each key, in order; numbers and their units are left out."""
    quantities: tuple[Quantity, ...]
    is_name: npt.NDArray[np.bool_]
    """Per content word."""
    rarity: Vector
    """Per item, how little to be expected in any text, 0 to 1."""
    rows: dict[str, int]
    """Key of a content word to its place among the items."""
    related_rows: dict[str, list[int]]
    """Synonym group or word beginning to the places of the content words of it."""

    @property
    def size(self) -> int:
        """How many items there are."""
        return len(self.content) + len(self.quantities)

    @classmethod
    def of(cls, claim: str) -> ClaimWords:
        """Analyse a claim."""
        tokens = _without_opening(tokenize(claim))
        first_of_key: dict[str, Token] = {}
        for token in content_tokens(tokens):
            first_of_key.setdefault(token.key, token)
        content = tuple(first_of_key.values())
        opening = tokens[0].start if tokens else 0
        numbers = quantities(claim)
        related: dict[str, list[int]] = {}
        for row, token in enumerate(content):
            for key in related_keys(token.key):
                related.setdefault(key, []).append(row)
        return cls(
            tokens,
            content,
            numbers,
            np.array([token.is_name and token.start != opening for token in content], dtype=bool),
            np.array([_rarity().get(token.key, 1.0) for token in content] + [1.0] * len(numbers)),
            {token.key: row for row, token in enumerate(content)},
            related,
        )

    def rows_around(self, keys: AbstractSet[str], reach: int) -> list[int]:
        """Places of the items that stand at most so many words from a word of the keys, and of all numbers."""
        places = [index for index, token in enumerate(self.tokens) if token.key in keys]
        near = [token.key for place in places for token in self.tokens[max(0, place - reach) : place + reach + 1]]
        numbers = range(len(self.content), self.size)
        return [*{self.rows[key] for key in near if key in self.rows}, *numbers]


def _tokens(sentences: Sequence[ContextSentence]) -> list[Token]:
    return [token for sentence in sentences for token in sentence.tokens]


def _without_opening(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    """Tokens without the chatter that a reply opens with: "Yes, I think that ..."."""
    start = next((i for i, token in enumerate(tokens) if token.form not in OPENING_CHATTER), 0)
    return tokens[start:]


@dataclass(frozen=True, slots=True)
class Nearest:
    """The passage nearest to a claim: one sentence or two neighbouring ones of the same context."""

    context: int
    sentences: tuple[ContextSentence, ...]
    coverage: float
    """Weighted share of the claim's items that stand in it, 0 to 1."""

    @property
    def tokens(self) -> list[Token]:
        """Its words and numbers."""
        return _tokens(self.sentences)

    @property
    def span(self) -> Span:
        """Where it stands in its context."""
        return Span(self.sentences[0].span.start, self.sentences[-1].span.end)


@dataclass(frozen=True, slots=True)
class Match:
    """A claim laid beside its evidence."""

    words: ClaimWords
    nearest: Nearest
    contested: frozenset[str]
    """Keys of the words that either the claim or the nearest passage denies, no other passage as near agreeing."""
    weights: Vector
    """Per item of the claim, sum 1."""
    credit: Vector
    """Per item, in the nearest passage; the sum or difference of two numbers near it counts as stated."""
    passage_coverage: float
    """Weighted share of the items that stand in the best two neighbouring sentences."""
    all_credit: Vector
    """Per item, in any sentence of any context."""


class ContextIndex:
    """The contexts of one answer, by word."""

    def __init__(self, contexts: Sequence[str]) -> None:
        self._contexts = [analyse_context(context) for context in contexts]
        self.sentences = [sentence for context in self._contexts for sentence in context.sentences]
        sizes = [len(context.sentences) for context in self._contexts]
        self._offsets = np.cumsum([0, *sizes[:-1]]).tolist()
        self._owner = np.repeat(np.arange(len(sizes)), sizes)
        self._standing = np.array([_HEADING_STANDING if HEADING.match(s.text) else 1.0 for s in self.sentences])
        self._same_context = self._owner[1:] == self._owner[:-1]

    def coverage(self, words: ClaimWords) -> Vector:
        """Credit per item and sentence, shape (items, sentences), each 0, RELATED_CREDIT or 1."""
        matrix = np.zeros((words.size, len(self.sentences)))
        for column, sentence in enumerate(self.sentences):
            for key in words.related_rows.keys() & sentence.related:
                for row in words.related_rows[key]:
                    matrix[row, column] = RELATED_CREDIT
            for key in words.rows.keys() & sentence.keys:
                matrix[words.rows[key], column] = 1.0
        for row, quantity in enumerate(words.quantities, start=len(words.content)):
            for context, offset in zip(self._contexts, self._offsets, strict=True):
                for number in context.stating(quantity):
                    matrix[row, offset + number] = 1.0
        return matrix

    def match(self, words: ClaimWords) -> Match | None:
        """The evidence for a claim, or None where no item of it stands in any context."""
        if not self.sentences or not words.size:
            return None
        by_sentence = self.coverage(words)
        weights = _weights(by_sentence) * words.rarity
        weights /= weights.sum()
        sentence_scores = weights @ by_sentence
        best = int((sentence_scores * self._standing).argmax())
        if sentence_scores[best] <= 0:
            return None
        windows = by_sentence.copy()
        windows[:, :-1] = np.maximum(by_sentence[:, :-1], by_sentence[:, 1:] * self._same_context)
        window_scores = weights @ windows
        first = int(window_scores.argmax())
        # A second sentence has to bring an item of its own, or the quote would only be longer.
        pair = window_scores[first] > sentence_scores[best] + _SECOND_SENTENCE_GAIN
        start, size = (first, 2) if pair else (best, 1)
        credit = windows[:, first] if pair else by_sentence[:, best]
        denied = contested(words.tokens, _tokens(self.sentences[start : start + size]))
        agreeing = self._agreeing(words, denied, by_sentence, weights, credit) if denied else None
        if agreeing is not None:
            start, size, credit, denied = agreeing, 1, by_sentence[:, agreeing], set()
        derived = self._derived(words, start, size)
        credit = np.maximum(credit, derived)
        owner = int(self._owner[start])
        return Match(
            words=words,
            nearest=Nearest(owner, tuple(self.sentences[start : start + size]), min(1.0, float(weights @ credit))),
            contested=frozenset(denied),
            weights=weights,
            credit=credit,
            passage_coverage=float(window_scores[first]),
            all_credit=np.maximum(by_sentence.max(axis=1), derived),
        )

    def _agreeing(
        self, words: ClaimWords, denied: AbstractSet[str], by_sentence: Vector, weights: Vector, credit: Vector
    ) -> int | None:
        """The sentence nearest to the claim that agrees with it in the denied words; None without one.

        It has to hold nearly as much of the claim as the nearest passage, whose credit is given, and of what stands
        around the denied words, and of the numbers, no less.
        """
        around = [row for row in words.rows_around(denied, _AROUND) if credit[row]]
        scores = weights @ by_sentence
        as_near = (scores >= _AS_NEAR * float(weights @ credit)) & (by_sentence[around] > 0).all(axis=0)
        for number in np.flatnonzero(as_near)[scores[as_near].argsort(kind="stable")[::-1]].tolist():
            if agrees(words.tokens, self.sentences[number].tokens, denied):
                return int(number)
        return None

    def _derived(self, words: ClaimWords, start: int, size: int) -> Vector:
        """1 for each number of the claim that is the sum or difference of two numbers in or beside the passage."""
        derived = np.zeros(words.size)
        if words.quantities:
            around = range(max(0, start - 1), min(len(self.sentences), start + size + 1))
            near = [q for i in around if self._owner[i] == self._owner[start] for q in self.sentences[i].quantities]
            derived[len(words.content) :] = [is_derived(quantity, near) for quantity in words.quantities]
        return derived


def _weights(by_sentence: Vector) -> Vector:
    """Rare words weigh more: inverse sentence frequency, between 1 and 2."""
    n_sentences = by_sentence.shape[1]
    frequency = (by_sentence > 0).sum(axis=1)
    rarity: Vector = 1.0 + np.log((n_sentences + 1.0) / (frequency + 1.0)) / np.log(n_sentences + 1.0)
    return rarity


@cache
def _rarity() -> dict[str, float]:
    """Stem to a weight between 0 and 1; words that are not listed are rare and weigh 1."""
    table: dict[str, float] = json.loads((resources.files("faithbot.judge") / "word_rarity.json").read_text("utf-8"))
    return table
