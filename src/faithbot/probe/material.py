"""Sentences of a team's documents, each with the passages that a question about it would retrieve."""

from __future__ import annotations

import hashlib
import re
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from faithbot.judge.sentences import plain_text, states_fact
from faithbot.judge.splitting import HEADING, LIST_ITEM, TABLE_ROW, split_sentences

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_COMPLETE = re.compile(r"[\"“(]?[^\W_a-z].*[.!。！][\"”)]?$", re.DOTALL)
# What somebody says of themselves, replies to somebody, or says about the document is no fact of the documents.
_NO_FACT_OF_DOCUMENTS = re.compile(
    r"\b(?:I|I['’]\w+|[Mm]y|me)\b|^(?:Yes|No|Sure|Thank|Please|Note)\b|^(?:Question|Answer|Review)\b|https?:|\?"
    r"|\b[Ww]e (?:are|understand|recognize|believe|hope|strive|appreciate|value)\b|\bany questions\b"
    r"|\b(?:this|the) (?:user )?(?:guide|manual|document|page|section)\b|: [A-Z]\w+:"
)
_PLACEHOLDER = re.compile(r"\[[A-Za-z ]+\](?!\()")
"""``[Your Company]``: a text that was never filled in."""
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
MOST_SENTENCES = 5000
"""Many more than are needed: a kind that is rare in large documents must not take minutes to look for."""
_FEWEST_WORDS = 5
_FEWEST_UNSPACED = 10
"""Characters of a sentence in a script without spaces."""
_LONGEST = 300
"""Characters."""
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\u0e00-\u0e7f]")


class Passage(NamedTuple):
    """A piece of a document, as the judge is given it."""

    text: str
    document: str


class Sentence:
    """A whole sentence of a passage, Markdown marks removed, and what stands around it."""

    def __init__(self, text: str, home: Passage, find_contexts: Callable[[str, Passage], tuple[str, ...]]) -> None:
        self.text = text
        self.home = home
        self._find_contexts = find_contexts

    @cached_property
    def contexts(self) -> tuple[str, ...]:
        """The passages that the judge is given with it, its own among them. Looked up on demand: it takes a search."""
        return self._find_contexts(self.text, self.home)


def read_sentences(
    passages: Iterable[Passage], find_contexts: Callable[[str, Passage], tuple[str, ...]]
) -> list[Sentence]:
    """Sentences that state a fact, in an order that is mixed, but the same on every machine.

    Of sentences that differ by a name or a number only, as in product sheets, one is kept. Of many passages some are
    read: until there are :data:`MOST_SENTENCES`.
    """
    found: dict[str, Sentence] = {}
    for passage in sorted(passages, key=lambda passage: _mixed(passage.text)):
        for text in _whole_sentences(passage.text):
            found.setdefault(_pattern(text), Sentence(text, passage, find_contexts))
        if len(found) >= MOST_SENTENCES:
            break
    return sorted(found.values(), key=lambda sentence: _mixed(sentence.text))


def _mixed(text: str) -> bytes:
    """A key that sorts as if by chance."""
    return hashlib.sha256(text.encode(errors="replace")).digest()


def _whole_sentences(text: str) -> Iterator[str]:
    for span in split_sentences(text):
        raw = text[span.start : span.end]
        if HEADING.match(raw) or TABLE_ROW.match(raw) or _PLACEHOLDER.search(raw):
            continue
        marker = LIST_ITEM.match(raw)
        sentence = plain_text(raw[marker.end() :] if marker else raw)
        if _is_whole(sentence):
            yield sentence


def _is_whole(sentence: str) -> bool:
    long_enough = (
        len(sentence) >= _FEWEST_UNSPACED
        if _UNSPACED.search(sentence)
        else len(_WORD.findall(sentence)) >= _FEWEST_WORDS
    )
    return (
        long_enough
        and len(sentence) <= _LONGEST
        and _COMPLETE.match(sentence) is not None
        and _NO_FACT_OF_DOCUMENTS.search(sentence) is None
        and states_fact(sentence)
    )


def _pattern(sentence: str) -> str:
    """What is left of a sentence without names and numbers."""
    words = _WORD.findall(sentence)
    return " ".join(word for word in words if not word[0].isupper()) or sentence
