"""Sentences for tests of planters and rewritings, with the passages around them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faithbot.probe.corpus_words import CorpusWords
from faithbot.probe.material import Passage, Sentence

if TYPE_CHECKING:
    from collections.abc import Iterable


def standing_in(text: str, *others: str, document: str = "a.md") -> Sentence:
    """A sentence whose passage holds nothing else, retrieved together with other passages."""
    return Sentence(text, Passage(text, document), lambda *_: (text, *others))


def words_of(texts: Iterable[str]) -> CorpusWords:
    return CorpusWords(texts)
