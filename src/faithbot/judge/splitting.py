"""Texts to sentences with exact character spans: plain text, Markdown, text taken out of PDF files, any script."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from faithbot.judge.lexicon import ABBREVIATIONS, ABBREVIATIONS_THAT_MAY_END, MONTHS
from faithbot.judge.words import fold

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_SENTENCE = 1000
"""Characters after which text without an end is cut at a space: junk and tables must not make one huge sentence."""

_MARK = re.compile(r"[.!?…؟۔।。！？｡]+[\"'”’»)\]*_」』）】]*|[·•▪◦](?=\s)")
_BULLETS = "·•▪◦"
_UNSPACED_MARKS = "。！？｡"
# "... the fee.Tips for ...": text taken out of PDF files loses the space between sentences.
_GLUED = re.compile(r"(?<=[a-z]{3}[.!?])[A-Z][a-z]+\s")
_LINE = re.compile(r"[^\n\r\u2028\u2029]+")
LIST_ITEM = re.compile(
    r"\s*(?:(?:[Ss]tep|Schritt|[ÉE]tape|[Pp]aso)\s+\d+\s*[:.)]|[-*+•·▪◦–]|\(?\d{1,3}[.)]|\(?[a-zA-Z][.)])\s+"
)
HEADING = re.compile(r"\s*(?:#{1,6}\s|\*\*[^*]+\*\*:?\s*$)")
TABLE_ROW = re.compile(r"\s*\|.*\|\s*$")
FENCE = re.compile(r"\s*(?:```|~~~)")
_SENTENCE_ENDS = tuple(f"{mark}{closing}" for mark in ".!?…؟۔।。！？｡:" for closing in ("", '"', "”", ")", "]", "»"))
_WRAPPED_LINE = 60
_WORD = re.compile(r"\w+")

_FINISHED = re.compile(r"[.!?…。！？؟][\"'”’»)\]*_]*$")


class Span(NamedTuple):
    """A piece of a text: ``text[start:end]``."""

    start: int
    end: int


def split_sentences(text: str) -> list[Span]:
    """Sentences of plain or Markdown text in order; white space around them belongs to none.

    Splits at sentence ends, list items, headings, table rows and blank lines, never inside a wrapped line, a number,
    an abbreviation, an address or a file name. Linear in the length of the text.
    """
    spans: list[Span] = []
    for block in _blocks(text):
        spans.extend(_split_block(text, block))
    return spans


def _blocks(text: str) -> Iterator[Span]:
    """Runs of lines that belong together: paragraphs with their wrapped lines, list items, table rows."""
    start = end = -1
    for match in _LINE.finditer(text):
        line = match.group()
        if not line.strip():
            continue
        if start >= 0 and _continues(text, start, end, match):
            end = match.end()
            continue
        if start >= 0:
            yield Span(start, end)
        start, end = match.span()
    if start >= 0:
        yield Span(start, end)


def _continues(text: str, start: int, end: int, line: re.Match[str]) -> bool:
    """Whether a line goes on with the sentence of the block before it."""
    between = text[end : line.start()]
    if between not in ("\n", "\r\n", "\r") or _starts_block(line.group()):
        return False
    last_line = text[max(start, text.rfind("\n", start, end) + 1) : end].rstrip()
    if HEADING.match(last_line) or TABLE_ROW.match(last_line) or last_line.endswith(_SENTENCE_ENDS):
        return False
    first = line.group().lstrip()[:1]
    return first.islower() or len(last_line) >= _WRAPPED_LINE


def _starts_block(line: str) -> bool:
    return bool(LIST_ITEM.match(line) or HEADING.match(line) or TABLE_ROW.match(line) or FENCE.match(line))


def _split_block(text: str, block: Span) -> Iterator[Span]:
    start = block.start
    marker = LIST_ITEM.match(text, block.start, block.end)
    search_from = marker.end() if marker else block.start
    for match in _MARK.finditer(text, search_from, block.end):
        if _ends_sentence(text, start, match, block.end):
            # A bullet inside a line begins the next item; any other mark belongs to the sentence that it ends.
            end = match.start() if match.group() in _BULLETS else match.end()
            yield from _cut_long(text, start, end)
            start = end
    yield from _cut_long(text, start, block.end)


def _ends_sentence(text: str, start: int, match: re.Match[str], limit: int) -> bool:
    mark, end = match.group(), match.end()
    if end >= limit or mark[0] in _UNSPACED_MARKS or mark in _BULLETS:
        return True
    if not text[end].isspace():
        return len(mark) == 1 and _GLUED.match(text, end) is not None
    if mark[0] in "!?؟":
        return True
    following = text[end : min(end + 12, limit)].lstrip("\"'“‘«([*_ \t\n\r")[:1]
    if following.islower():
        # A mark set apart by spaces ends a sentence of tokenised text, whatever follows.
        return text[match.start() - 1 : match.start()].isspace()
    before = text[max(start, match.start() - 24) : match.start()].split()
    last = before[-1].lstrip("(\"'[*_").casefold() if before else ""
    if last in ABBREVIATIONS:
        return last in ABBREVIATIONS_THAT_MAY_END and following.isupper()
    if mark == "." and last.isdecimal() and len(last) <= 2 and _starts_with_month(text[end : min(end + 16, limit)]):
        return False  # "am 5. März"
    return not (len(last) == 1 and last.isalpha() and mark == ".")


def _starts_with_month(text: str) -> bool:
    word = _WORD.search(text)
    return word is not None and fold(word.group()) in MONTHS


def _cut_long(text: str, start: int, end: int) -> Iterator[Span]:
    while end - start > MAX_SENTENCE:
        cut = text.rfind(" ", start + MAX_SENTENCE // 2, start + MAX_SENTENCE)
        cut = cut if cut > start else start + MAX_SENTENCE
        yield from _trimmed(text, start, cut)
        start = cut
    yield from _trimmed(text, start, end)


def _trimmed(text: str, start: int, end: int) -> Iterator[Span]:
    piece = text[start:end]
    left = len(piece) - len(piece.lstrip())
    right = len(piece.rstrip())
    if right > left:
        yield Span(start + left, start + right)


def finished_part(text: str) -> str:
    """A text that broke off without its last, unfinished sentence; the whole text where there is no other."""
    spans = split_sentences(text)
    if len(spans) < 2 or _FINISHED.search(text[: spans[-1].end]):
        return text
    return text[: spans[-2].end]
