"""Where in the changed files a regression comes from: short notes for the lines of a pull request."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from faithbot.report import changes, wording

if TYPE_CHECKING:
    from collections.abc import Iterator

    from faithbot.results import Results, SettingChange

MAX_ANNOTATIONS = 10
"""GitHub shows no more of one kind in a step."""
_HUNK = re.compile(r"^@@ -\d+(?:,\d+)? \+(\d+)(?:,\d+)? @@")


class Annotation(NamedTuple):
    """A note at a line of a file on head."""

    file: str
    line: int
    title: str
    message: str


def find_annotations(results: Results) -> list[Annotation]:
    """One for each changed place that a regression can come from, prompts first; none where the verdict is another."""
    if results.verdict != "regression":
        return []
    order = ("prompt", "setting", "document", "trigger")
    tested = sorted(changes.under_test(results), key=lambda change: order.index(change.kind))
    title = wording.headline(results)
    found = [
        Annotation(change.file, line, title, f"Changed here: {changes.one_change(change)}")
        for change in tested
        if change.file is not None
        for line in _lines(change)
    ]
    return found[:MAX_ANNOTATIONS]


def _lines(change: SettingChange) -> Iterator[int]:
    """Lines on head at which the changed places begin."""
    if change.line is not None:
        yield change.line
    elif change.diff is None:
        yield 1
    else:
        yield from _first_changed_lines(change.diff)


def _first_changed_lines(diff: str) -> Iterator[int]:
    """In each hunk, the first line that is new, or that follows what was removed."""
    number, is_found = 0, True
    for line in diff.splitlines():
        if hunk := _HUNK.match(line):
            number, is_found = max(1, int(hunk[1])), False
        elif line.startswith(("+", "-")) and not is_found:
            is_found = True
            yield number
        elif line.startswith((" ", "+")):
            number += 1
