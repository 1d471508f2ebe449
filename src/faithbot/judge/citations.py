"""Citations in an answer, and which of them name a passage that the answer was never given."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from faithbot.judge.splitting import FENCE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_CODE_SPAN = re.compile(r"(`{1,3})[^`\n]{1,500}\1")
_FOOTNOTE = re.compile(r"(?m)^\s{0,3}\[(?P<label>\^?[^\[\]\n]{1,60})\]:")
# In order: 【3†source】, [doc7] but no [text](link), no ![image] and no a[0], (source: x.md).
_MENTION = re.compile(
    r"【(?P<corner>[^【】\n]{1,200})】"
    r"|(?<!\b\w)(?<!!)\[(?P<square>[^\[\]\n]{1,200})\](?!\(|\]\()"
    r"|[(（]\s*(?:sources?|refs?|references?|quellen?|fuentes?|fontes?|fonti|bron(?:nen)?|来源|來源|出典|출처)\s*[:：]\s*"
    r"(?P<said>[^()（）\n]{1,200})[)）]"
    r"|[(（](?P<numbered>\s*(?:passage|document|doc|source|context|chunk)\s+\d{1,4}\s*)[)）]",
    re.IGNORECASE,
)
_PARTS = re.compile(r"\s*[,;|，、；]\s*")
_LEAD_IN = re.compile(r"(?:sources?|refs?|see)\s*[:：]\s*", re.IGNORECASE)
_DAGGER = re.compile(r"(?:\d+:)?(?P<number>\d+)†(?P<name>.*)")
_FILE = re.compile(
    r"[^#?\n]{1,160}\.(?:md|mdx|markdown|html?|txt|rst|adoc|tex|pdf|docx?|odt|rtf|pptx?|xlsx?|csv|tsv|jsonl?|ya?ml|xml|epub)"
    r"(?:#\S*)?",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"https?://\S+", re.IGNORECASE)
_NUMBER = re.compile(
    r"(?:\^|#|(?:passage|document|doc|source|context|chunk|ref|reference|citation|excerpt|snippet|dokument|quelle|documento|"
    r"fuente|fonte|bron|文档|文件|资料|来源|文檔|資料|來源|出典|문서|출처)\s?[-_#:]?\s?)?(?P<number>\d{1,3})",
    re.IGNORECASE,
)
_RANGE = re.compile(r"\^?(\d{1,3})\s?[-–]\s?(\d{1,3})")
_LONGEST_RANGE = 20
_DIGITS = re.compile(r"\d+")


class Citations(NamedTuple):
    """What an answer cites, as it writes it, in order; a citation that stands twice is there twice."""

    valid: tuple[str, ...]
    """They name a passage that was given."""
    fabricated: tuple[str, ...]
    """They look like citations, and name none that was given."""


def check_citations(answer: str, sources: Sequence[str | None], texts: Sequence[str] = ()) -> Citations:
    """Sort the citations of an answer by whether their passage was given.

    ``sources`` are the names of the given passages in order, None where one has none, so that ``[3]`` is the third of
    them unless they are named by numbers themselves. ``texts`` are the passages: what stands there in the same words
    was read, not made up. Read are ``[doc7]``, ``[1, 2]``, ``[Doc 7]``, ``[file.pdf#page=4]``, ``[^2]``,
    ``【3†source】`` and ``(source: x.md)``. Brackets with other words, links, check boxes and code cite nothing; nor
    does a file name where no passage has a name to compare it with.
    """
    given = _Given(sources, texts)
    valid: list[str] = []
    fabricated: list[str] = []
    for label in _labels(answer):
        is_given = given.holds(label)
        if is_given is not None:
            (valid if is_given else fabricated).append(label)
    return Citations(tuple(valid), tuple(fabricated))


def _labels(answer: str) -> Iterator[str]:
    """What stands in the brackets, one label at a time; not what the answer itself explains in a footnote."""
    prose = _CODE_SPAN.sub(" ", _without_code_blocks(answer))
    explained = {match["label"] for match in _FOOTNOTE.finditer(prose)}
    for match in _MENTION.finditer(prose):
        inside = _LEAD_IN.sub("", match[match.lastgroup or 0].strip(), count=1)
        if inside in explained:
            continue
        if dagger := _DAGGER.fullmatch(inside):
            yield dagger["name"] if _FILE.fullmatch(dagger["name"]) else dagger["number"]
            continue
        for part in _PARTS.split(inside):
            yield from _of_range(part.strip("`*_\"' "))


def _of_range(label: str) -> Iterator[str]:
    match = _RANGE.fullmatch(label)
    numbers = range(int(match[1]), int(match[2]) + 1) if match else range(0)
    if 1 < len(numbers) <= _LONGEST_RANGE:
        yield from map(str, numbers)
    else:
        yield label


def _without_code_blocks(answer: str) -> str:
    prose: list[str] = []
    in_code = False
    for line in answer.split("\n"):
        if FENCE.match(line):
            in_code = not in_code
        elif not in_code:
            prose.append(line)
    return "\n".join(prose)


class _Given:
    """The passages that an answer was given, by every way to name one."""

    def __init__(self, sources: Sequence[str | None], texts: Sequence[str]) -> None:
        self._count = len(sources)
        named = [source.strip().casefold() for source in sources if source]
        self._whole = {*named, *(PurePosixPath(name).name for name in named)}
        without_page = {name.partition("#")[0] for name in self._whole}
        stems = {PurePosixPath(name).stem for name in without_page}
        self._names = self._whole | without_page | {stem for stem in stems if not stem.isdecimal()}
        self._paged = {name.partition("#")[0] for name in self._whole if "#" in name}
        self._shapes = {_shape(name) for name in self._names if _is_numbered(name)}
        self._texts = [text.casefold() for text in texts]

    def holds(self, label: str) -> bool | None:
        """Whether the label names a given passage; None where it is no citation, or nothing can be told of it."""
        name = label.casefold()
        if self._is_name(name):
            return True
        number = _NUMBER.fullmatch(name)
        if _shape(name) in self._shapes:
            return self._stands_in_text(label, name)
        if number:
            return int(number["number"]) <= self._count > 0 or self._stands_in_text(label, name)
        if _FILE.fullmatch(name) or _ADDRESS.fullmatch(name):
            return self._stands_in_text(label, name) or (None if self._count and not self._names else False)
        return None

    def _is_name(self, name: str) -> bool:
        """By path, file name or stem. A page or section counts where the passages of that file tell theirs."""
        if name in self._names:
            return len(name) > 1 or name.isdecimal()  # [x] is a ticked box
        bare = name.partition("#")[0].removeprefix("./")
        file = PurePosixPath(bare).name
        if bare != name and {bare, file} & self._paged:
            return name in self._whole or f"{file}#{name.partition('#')[2]}" in self._whole
        return bool(_FILE.fullmatch(name)) and (bare in self._names or ("/" not in bare and file in self._names))

    def _stands_in_text(self, label: str, name: str) -> bool:
        """In the same words: a number only in brackets, since alone it stands for anything."""
        wanted = f"[{name}]" if _NUMBER.fullmatch(label) else name
        return any(wanted in text for text in self._texts)


def _is_numbered(name: str) -> bool:
    """Whether such names tell passages apart by a number: `doc7` and `KB-12` do, the year in `2024.md` does not."""
    return bool(_DIGITS.search(name)) and not _FILE.fullmatch(name)


def _shape(name: str) -> str:
    return _DIGITS.sub("0", name)
