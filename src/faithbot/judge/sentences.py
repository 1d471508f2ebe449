"""The sentences of an answer that state a fact: no greeting, offer, question or lead-in, and no Markdown marks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from faithbot.judge.lexicon import pattern
from faithbot.judge.splitting import FENCE, HEADING, LIST_ITEM, TABLE_ROW, split_sentences
from faithbot.judge.words import content_words

if TYPE_CHECKING:
    from collections.abc import Iterator

_IMAGE_OR_LINK = re.compile(r"!?\[([^\[\]]*)\]\((?:[^()\s]|\([^()\s]*\))*(?:\s\"[^\"]*\")?\)")
_CITATION = re.compile(r"\[\^?[^\[\]\n]{1,200}\]|【[^【】\n]{1,200}】|<sup>[^<]{0,40}</sup>")
# Tags of HTML, its comments, addresses, and what a chat template leaves behind, such as <|im_end|>. Not <any words>.
_TAG = re.compile(
    r"</?[a-zA-Z][\w:-]{0,40}(?:\s+[\w:-]{1,40}\s?=\s?(?:\"[^\"\n]{0,200}\"|'[^'\n]{0,200}'|[^\s<>\"']{1,200})){0,20}\s*/?>"
    r"|<\|[\w-]{1,40}\|>|<!--[^\n]{0,500}?-->|<(?:https?://|mailto:)[^\s<>]{1,200}>"
)
_EMPHASIS = re.compile(r"(\*\*\*|\*\*|__|~~|`+)(?=\S)(.+?)(?<=\S)\1|(?<!\w)[*_](?=\S)([^*_\n]+?)(?<=\S)[*_](?!\w)")
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
# "(Passage 3)" and "according to document 2," say where a fact is from; their numbers are none of the fact's.
_SOURCE_MENTION = re.compile(
    r"(?i)\s*[(\[]\s*(?:as (?:stated|mentioned) in |from |see )?(?:passages?|documents?|sources?|contexts?)\s+\d+"
    r"(?:\s*(?:,|and|&)\s*(?:passage |document |source )?\d+)*\s*[)\]]"
    r"|\b(?:according to|as (?:stated|mentioned) in|based on|in)\s+(?:passage|document|source|context)\s+\d+,?\s*"
    r"|\b(?:passage|document|source|context)\s+\d+\s+(?:also\s+)?(?:states|mentions|says|provides|suggests|notes|explains|indicates)\s+(?:that\s+)?"
)
_SPACE_BEFORE_MARK = re.compile(r"\s+(?=[.,;!?](?:\s|$))")
_TABLE_RULE = re.compile(r"[\s|:+=-]*$")
_FILLER = pattern("filler", "sentence")
_QUESTION = re.compile(r"[?？؟]\s*[\"'”’»)\]]*$")
_HAS_WORD = re.compile(r"[^\W_]")
_SHORT_ITEM_WORDS = 6
_SENTENCE_WORDS = 3
_MARKS, _UNSPACED_MARKS = (".", "!", "?", "؟", "।"), ("。", "！", "？")
_LEAD_IN = re.compile(r"[:：]\s*$")


def plain_text(markdown: str) -> str:
    """Text without Markdown marks, citations such as ``[doc1.pdf#page=3]``, tags and control characters."""
    text = _CONTROL.sub("", markdown)
    text = _IMAGE_OR_LINK.sub(r"\1", text)
    text = _CITATION.sub(_without_citation, text)
    text = _SOURCE_MENTION.sub("", text)
    text = _TAG.sub(" ", text)
    text = _EMPHASIS.sub(lambda match: match.group(2) or match.group(3), text)
    text = _SPACE_BEFORE_MARK.sub("", text)
    return " ".join(text.split())


def _without_citation(match: re.Match[str]) -> str:
    """Nothing in place of a citation; a whole sentence in brackets is no citation and stays."""
    inside = match.group()[1:-1].strip()
    is_sentence = inside.endswith(_UNSPACED_MARKS) or (
        inside.endswith(_MARKS) and len(inside.split()) >= _SENTENCE_WORDS
    )
    return f" {inside} " if is_sentence else ""


def states_fact(sentence: str) -> bool:
    """Whether a sentence, marks removed, can be checked: no greeting, offer, question or mere function words."""
    if not _HAS_WORD.search(sentence) or _QUESTION.search(sentence):
        return False
    if not content_words(sentence):
        return False
    words = "".join(c for c in sentence if c.isalnum() or c in " '’.,!?:;-()").strip().replace("’", "'")
    return not _FILLER.match(words)


def statements(answer: str) -> list[str]:
    """The sentences of an answer that state a fact, marks and citations removed, in order.

    A short list item is read together with the line that introduces the list: "Covered: acupuncture".
    """
    found: list[str] = []
    lead_in = ""
    for raw, in_code in _raw_sentences(answer):
        text = raw if in_code else plain_text(_without_marker(raw))
        if not text or not _HAS_WORD.search(text):
            continue
        is_item = bool(LIST_ITEM.match(raw))
        if _LEAD_IN.search(text):
            lead_in = _LEAD_IN.sub("", text)
            continue
        if not is_item:
            lead_in = ""
        if not states_fact(text):
            continue
        short = is_item and len(text.split()) < _SHORT_ITEM_WORDS
        found.append(f"{lead_in}: {text}" if short and lead_in and states_fact(f"{lead_in}:") else text)
    return found


def _without_marker(raw: str) -> str:
    marker = LIST_ITEM.match(raw)
    return raw[marker.end() :] if marker else raw


def _raw_sentences(answer: str) -> Iterator[tuple[str, bool]]:
    """Sentences as written and whether they are code; headings, table rules and table heads are left out."""
    code: list[str] | None = None
    prose: list[str] = []
    for line in answer.splitlines(keepends=True):
        if FENCE.match(line):
            if code is None:
                yield from _prose_sentences("".join(prose))
                prose, code = [], []
            else:
                yield " ".join(code), True
                code = None
        elif code is not None:
            code.append(line.strip())
        else:
            prose.append(line)
    if code:
        yield " ".join(code), True
    yield from _prose_sentences("".join(prose))


def _prose_sentences(text: str) -> Iterator[tuple[str, bool]]:
    sentences = [text[span.start : span.end] for span in split_sentences(text)]
    for sentence, following in zip(sentences, [*sentences[1:], ""], strict=False):
        if HEADING.match(sentence) or _TABLE_RULE.match(sentence):
            continue
        if TABLE_ROW.match(sentence):
            if following and _TABLE_RULE.match(following):
                continue
            sentence = ", ".join(cell.strip() for cell in sentence.strip().strip("|").split("|") if cell.strip())
        yield sentence, False
