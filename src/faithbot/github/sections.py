"""A comment in named sections: each judge's result has one, and each is replaced alone.

Markers are lines of their own, in HTML comments that readers do not see::

    <!-- faithbot:KEY -->
    <!-- faithbot-section main 0123abc -->
    The report ...

    <!-- faithbot-section stronger 0123abc -->
    Another judge's report ...

Only a line that is exactly a marker is one. Text that others wrote cannot make one: reports escape its ``<``, and what
looks like a marker inside a section's text loses its meaning here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from faithbot.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

MAIN = "main"
"""The section of the configured judge. It stands first."""
LIMIT = 65_000
"""Characters of a comment; GitHub refuses more than 65,536."""
CUT_NOTICE = "_The rest is too long for a comment: the job summary and `results.json` hold it._"

WORD = re.compile(r"[A-Za-z0-9]+(?:[._-][A-Za-z0-9]+)*")
"""What can name a comment or a section: nothing that could end an HTML comment."""
_LONGEST_KEY = 100
_SECTION = re.compile(rf"<!-- faithbot-section ({WORD.pattern}) ([0-9a-f]{{7,64}}) -->")
_FENCE = re.compile(r"^(?:```|~~~)", re.MULTILINE)
_FORGED = re.compile(rf"^<(?={_SECTION.pattern.removeprefix('<')}$)", re.MULTILINE)


@dataclass(frozen=True)
class Section:
    """One result of a comment: its Markdown, and the commit that it is about."""

    name: str
    commit: str
    text: str


def marker(key: str) -> str:
    """The first line of the comment with this key."""
    if not WORD.fullmatch(key) or len(key) > _LONGEST_KEY:
        raise UsageError(
            f"comment-key {key!r}: use letters and digits, with single dots, dashes or underscores between them "
            f"(at most {_LONGEST_KEY} characters)"
        )
    return f"<!-- faithbot:{key} -->"


def parse_sections(body: str) -> dict[str, Section]:
    """The sections of a comment in their order; what stands before the first is not one. Of a name the last counts."""
    found: dict[str, tuple[str, list[str]]] = {}
    text: list[str] = []
    for line in _lines(body):
        match = _SECTION.fullmatch(line)
        if match:
            text = []
            found[match[1]] = match[2], text
        else:
            text.append(line)
    return {name: Section(name, commit, _joined_lines(text)) for name, (commit, text) in found.items()}


def update_sections(sections: Mapping[str, Section], section: Section) -> dict[str, Section]:
    """The sections with one replaced or added. A new commit's main section ends those of other commits."""
    kept = {name: other for name, other in sections.items() if section.name != MAIN or other.commit == section.commit}
    return kept | {section.name: section}


def is_lost(section: Section, before: Mapping[str, Section], now: Mapping[str, Section]) -> bool:
    """Whether a run that knew the sections as they were ``before`` this one has put them back over it.

    What stands in its place and is new came later, and so did a new main section of another commit, which ends it.
    """
    found, main = now.get(section.name), now.get(MAIN)
    if found is not None:
        return _is_same(found, before.get(section.name)) and not _is_same(found, section)
    return main is None or main.commit == section.commit or _is_same(main, before.get(MAIN))


def restore_section(section: Section, before: Mapping[str, Section], now: Mapping[str, Section]) -> dict[str, Section]:
    """The sections ``now`` with a lost one in its place again, and with all that others wrote since ``before``."""
    newer = {name: other for name, other in now.items() if not _is_same(other, before.get(name))}
    return update_sections(now, section) | newer


def _is_same(one: Section, other: Section | None) -> bool:
    """Whether both are one result, of which a full comment may show less."""
    if other is None or one.commit != other.commit:
        return False
    short, long = sorted((one.text, other.text), key=len)
    return short == long or (short.endswith(CUT_NOTICE) and long.startswith(short.removesuffix(CUT_NOTICE)))


def join_sections(key: str, sections: Mapping[str, Section]) -> str:
    """The comment's body, at most :data:`LIMIT` characters: if it would be longer, each section gets an equal share."""
    ordered = sorted(sections.values(), key=lambda section: section.name != MAIN)
    body = _joined(key, ordered)
    if len(body) <= LIMIT:
        return body
    room = LIMIT - len(_joined(key, [replace(section, text="") for section in ordered]))
    return _joined(key, [replace(section, text=shorten(section.text, room // len(ordered))) for section in ordered])


def shorten(text: str, limit: int) -> str:
    """The text's first paragraphs and a notice, at most ``limit`` characters; never cut inside a fence or a fold."""
    if len(text) <= limit:
        return text
    kept = end = fences = folds = 0
    for paragraph in text.split("\n\n"):
        end += len(paragraph) + 2
        if end + len(CUT_NOTICE) > limit:
            break
        fences += len(_FENCE.findall(paragraph))
        folds += paragraph.count("<details") - paragraph.count("</details>")
        if fences % 2 == 0 and folds == 0:
            kept = end
    return text[:kept] + CUT_NOTICE


def _joined(key: str, sections: list[Section]) -> str:
    return "\n".join([marker(key), "\n\n".join(_rendered(section) for section in sections), ""])


def _rendered(section: Section) -> str:
    heading = f"<!-- faithbot-section {section.name} {section.commit} -->"
    if not _SECTION.fullmatch(heading):
        raise ValueError(f"not a section's name and commit: {section.name!r} {section.commit!r}")
    return f"{heading}\n{_FORGED.sub('&lt;', _joined_lines(_lines(section.text)))}"


def _lines(text: str) -> list[str]:
    """GitHub keeps the ends of lines as they were sent; its editor in the browser sends ``\\r\\n``."""
    return re.split(r"\r\n|\r|\n", text)


def _joined_lines(lines: list[str]) -> str:
    return "\n".join(lines).strip("\n")
