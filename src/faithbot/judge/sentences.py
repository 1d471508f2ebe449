"""Answers and contexts to sentences, with exact character spans; which sentences of an answer state a fact."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_SENTENCE = 1000
"""Characters after which text without an end is cut at a space: junk and tables must not make one huge sentence."""

_ABBREVIATIONS = frozenset(
    """
    e.g i.e cf etc vs approx dr mr mrs ms prof st sr jr no nr fig eq vol pp ed inc ltd co corp dept est gen gov sen rep col sgt capt
    u.s u.k u.n a.m p.m al ca bzw z.b d.h usw ca abb str tel mme mlle m p.ex sra art num pag av ave blvd jan feb mar apr jun jul aug
    sep sept oct nov dec
    """.split()
)
# Abbreviations that may end a sentence as well: a capital after them starts a new one.
_MAY_END = frozenset("etc inc ltd co corp usw u.s u.k u.n a.m p.m al".split())
_END = re.compile(r"[.!?…؟۔।]+[\"'”’»)\]*_]*(?=\s|$)|[。！？｡]+[」』”’）】]*")
_LAST_WORD = re.compile(r"(\S+)$")
_LINE = re.compile(r"[^\n\r\u2028\u2029]+")
_LIST_ITEM = re.compile(r"\s*(?:[-*+•·▪◦–]|\(?\d{1,3}[.)]|\(?[a-zA-Z][.)])\s+")
_HEADING = re.compile(r"\s*(?:#{1,6}\s|\*\*[^*]+\*\*:?\s*$)")
_TABLE_ROW = re.compile(r"\s*\|.*\|\s*$")
_TABLE_RULE = re.compile(r"[\s|:+=-]*$")
_FENCE = re.compile(r"\s*(?:```|~~~)")
_WRAPPED_LINE = 60

_IMAGE_OR_LINK = re.compile(r"!?\[([^\[\]]*)\]\((?:[^()\s]|\([^()\s]*\))*(?:\s\"[^\"]*\")?\)")
_CITATION = re.compile(r"\[\^?[^\[\]\n]{1,200}\]|【[^【】\n]{1,200}】|<sup>[^<]{0,40}</sup>")
_TAG = re.compile(r"</?[a-zA-Z][^<>\n]{0,200}>")
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


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a text: ``text[start:end]``."""

    start: int
    end: int


def split_sentences(text: str) -> list[Span]:
    """Sentences of plain or Markdown text in order; white space around them belongs to none.

    Splits at sentence ends, list items, headings, table rows and blank lines, never inside a wrapped line, a number,
    an abbreviation, an address or a file name. Linear in the length of the text.
    """
    spans = []
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
    if _HEADING.match(last_line) or _TABLE_ROW.match(last_line) or _END.search(last_line[-3:]) or last_line.endswith(":"):
        return False
    first = line.group().lstrip()[:1]
    return first.islower() or len(last_line) >= _WRAPPED_LINE


def _starts_block(line: str) -> bool:
    return bool(_LIST_ITEM.match(line) or _HEADING.match(line) or _TABLE_ROW.match(line) or _FENCE.match(line))


def _split_block(text: str, block: Span) -> Iterator[Span]:
    start = block.start
    marker = _LIST_ITEM.match(text, block.start, block.end)
    search_from = marker.end() if marker else block.start
    for match in _END.finditer(text, search_from, block.end):
        if match.end() < block.end and not _ends_sentence(text, start, match, block.end):
            continue
        yield from _cut_long(text, start, match.end())
        start = match.end()
    yield from _cut_long(text, start, block.end)


def _ends_sentence(text: str, start: int, match: re.Match[str], limit: int) -> bool:
    if match.group()[0] in "。！？｡!?؟":
        return True
    following = text[match.end() : min(match.end() + 12, limit)].lstrip("\"'“‘«([*_ \t\n\r")[:1]
    if following.islower():
        # A mark set apart by spaces ends a sentence of tokenised text, whatever follows.
        return text[match.start() - 1 : match.start()].isspace()
    word = _LAST_WORD.search(text, max(start, match.start() - 24), match.start())
    last = word.group(1).lstrip("(\"'[*_").casefold() if word else ""
    if last in _ABBREVIATIONS:
        return last in _MAY_END and following.isupper()
    return not (len(last) == 1 and last.isalpha() and match.group() == ".")


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


def plain_text(markdown: str) -> str:
    """Text without Markdown marks, citations such as ``[doc1.pdf#page=3]``, tags and control characters."""
    text = _CONTROL.sub("", markdown)
    text = _IMAGE_OR_LINK.sub(r"\1", text)
    text = _CITATION.sub("", text)
    text = _SOURCE_MENTION.sub("", text)
    text = _TAG.sub(" ", text)
    text = _EMPHASIS.sub(lambda match: match.group(2) or match.group(3), text)
    text = _SPACE_BEFORE_MARK.sub("", text)
    return " ".join(text.split())


# --- what states a fact -----------------------------------------------------------------------------------------------

_FILLER = re.compile(
    r"""(?ix)^(?:
    (?:sure|certainly|of\ course|absolutely|great|okay|ok|hello|hi|hey|thanks?|thank\ you|yes|no|yeah|you'?re\ welcome|welcome|
       good\ (?:morning|afternoon|evening|question)|great\ question|no\ problem|my\ pleasure|hallo|guten\ tag|gerne|
       bonjour|bien\ s[uû]r|hola|claro|por\ supuesto|ciao|certo|certamente|ol[aá]|你好|您好|当然|こんにちは|はい|안녕하세요|네)
       (?:[\s,]+(?:there|thing|again|so\ much|thing|everyone|for\ (?:your|the|asking|reaching)\b.*|i(?:'d|\ would)\ be\ happy\ to\ help.*|
         (?:you'?re\ )?welcome.*))?
    | (?:please\ )?(?:feel\ free\ to|don'?t\ hesitate\ to|do\ not\ hesitate\ to|let\ me\ know|just\ let\ me\ know)\b.*
    | (?:i|we)\ (?:really\ )?hope\ (?:this|that|it|you|i|my)\b.*
    | (?:i'?m|i\ am|we'?re|we\ are)\ (?:happy|glad|here|always\ here|delighted|pleased)\ to\ .*
    | (?:is|was)\ there\ anything\ else\b.*
    | if\ you\ (?:have|need|want|would\ like|'d\ like|require)\b.*
        \b(?:let\ me\ know|feel\ free|(?:don'?t|do\ not)\ hesitate|just\ ask|please\ ask|i(?:'m|'ll|\ am|\ can|\ will)\ (?:be\ )?(?:happy|glad|here|help))\b.*
    | (?:have\ a|enjoy\ your)\ (?:great|nice|good|wonderful)?\ ?(?:day|evening|time|weekend|adventure|trip)\b.*
    | (?:happy|safe)\ (?:trails|travels|camping|hiking|shopping|coding)\b.*
    | here(?:'s|\ is|\ are)\ (?:the|a|an|some|what|how|my|your)\b[^.]{0,120}(?::|\b(?:answer|information|summary|steps|list|details|overview|breakdown)\b[^.:]{0,60}[:.]?)
    | (?:can|could|may|shall|should|would)\ (?:i|you)\b.*\?
    | (?:i|we)\ (?:can|could|will|'ll|would|'d)\ (?:gladly|happily|be\ (?:happy|glad)|love|like)\ to\b.*
    | (?:(?:oh|wow|yes|yeah|yep|ah|well|haha|no|and|so|but)[\s,!.]+)*
       (?:that'?s|that\ is|that\ was|it'?s|it\ is|how|what\ an?|sounds?|this\ is)\s+(?:so|very|really|pretty|quite|a|all|just|truly)?\s*
       (?:great|awesome|cool|interesting|nice|amazing|true|right|correct|good|funny|awful|sad|fun|bad|wonderful|fascinating|neat|crazy|
       impressive|a\ lot|like\ fun|exciting|beautiful|terrible)(?:\s+(?:to\ (?:know|hear)|idea|point|question|news|fact|thing))?
    | (?:(?:oh|wow|yes|yeah|yep|ah|well|haha|no|and|so|but)[\s,!.]+)*
       i\s+(?:really\s+|also\s+|do\s+|so\s+|totally\s+|just\s+|would\s+|definitely\s+|can\s+)*
       (?:love|like|enjoy|agree|see|bet|think\ so|guess(?:\ so)?|hope\ so|know|understand|am\ not\ sure|don't\ know|wish|imagine)
       (?:\s+(?!because|since|that)\S+){0,5}
    | (?:ich\ hoffe|falls\ sie\ (?:weitere|noch)|wenn\ sie\ (?:weitere|noch)|lassen\ sie\ (?:es\ )?mich\ wissen|gerne\ helfe)\b.*
    | (?:j'esp[eè]re|n'h[eé]sitez\ pas|si\ vous\ avez\ (?:d'autres|des)\ questions)\b.*
    | (?:espero\ que|no\ dud[ea]s?\ en|si\ tienes?\ (?:m[aá]s|otras?|alguna)|espero\ ter|se\ (?:você\ )?tiver\ (?:mais|outras|alguma))\b.*
    | (?:spero\ (?:che|di)|non\ esitare|se\ hai\ (?:altre|bisogno))\b.*
    | (?:ik\ hoop|als\ u\ (?:nog|meer)|laat\ het\ (?:me|mij)\ weten)\b.*
    | (?:希望|如果您?还?有|如有|请随时|何かご|他にご|お役に立|도움이\ 되|더\ 궁금|추가\ 질문).*
    )[\s.!,:;~]*$"""
)
_QUESTION = re.compile(r"[?？؟]\s*[\"'”’»)\]]*$")
_HAS_WORD = re.compile(r"[^\W_]")


def states_fact(sentence: str) -> bool:
    """Whether a sentence, marks removed, says something that can be checked: no greeting, offer, question or lead-in."""
    if not _HAS_WORD.search(sentence) or _QUESTION.search(sentence):
        return False
    words = "".join(c for c in sentence if c.isalnum() or c in " '’.,!?:;-()").strip().replace("’", "'")
    return not _FILLER.match(words)


_SHORT_ITEM_WORDS = 6
_LEAD_IN = re.compile(r"[:：]\s*$")


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
        is_item = bool(_LIST_ITEM.match(raw))
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
    marker = _LIST_ITEM.match(raw)
    return raw[marker.end() :] if marker else raw


def _raw_sentences(answer: str) -> Iterator[tuple[str, bool]]:
    """Sentences as written and whether they are code; headings, table rules and table heads are left out."""
    code: list[str] | None = None
    prose: list[str] = []
    for line in answer.splitlines(keepends=True):
        if _FENCE.match(line):
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
    for sentence, following in zip(sentences, [*sentences[1:], ""], strict=True):
        if _HEADING.match(sentence) or _TABLE_RULE.match(sentence):
            continue
        if _TABLE_ROW.match(sentence):
            if following and _TABLE_RULE.match(following):
                continue
            sentence = ", ".join(cell.strip() for cell in sentence.strip().strip("|").split("|") if cell.strip())
        yield sentence, False
