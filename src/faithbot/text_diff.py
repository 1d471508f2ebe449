"""Diffs of texts that anybody may have written, in a time that is limited for all of them together."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MAX_DIFF_LINES = 200
MAX_DIFFED_CHARACTERS = 500_000
MAX_STEPS = 1_000_000
"""About a second. Counted, not timed: the same texts have the same diffs on every machine."""
_CONTEXT_LINES = 1
_NO_FINAL_NEWLINE = "\\ No newline at end of file"


class Differ:
    """Compares text after text until its steps are used up: difflib's effort grows with the cube of the lines."""

    def __init__(self) -> None:
        self._steps_left = MAX_STEPS

    def diff(self, before: str, after: str) -> str | None:
        """Unified diff without file names; None for texts too large to be read, or compared with the steps left."""
        if max(len(before), len(after)) > MAX_DIFFED_CHARACTERS:
            return None
        old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
        try:
            self._pay(len(old) + len(new))
            lines = _unified(_PayingMatcher(old, new, self._pay))
        except _TooManyStepsError:
            return None
        if len(lines) > MAX_DIFF_LINES:
            lines = [*lines[:MAX_DIFF_LINES], f"… {len(lines) - MAX_DIFF_LINES} more lines"]
        return "\n".join(lines)

    def _pay(self, steps: int) -> None:
        if steps > self._steps_left:
            raise _TooManyStepsError
        self._steps_left -= steps


class _TooManyStepsError(Exception):
    """The steps that are left do not suffice for the next part of a comparison."""


class _PayingMatcher(difflib.SequenceMatcher[str]):
    """Pays for each of its searches beforehand: a step for each line, and one for each place where it may match."""

    b2j: dict[str, list[int]]

    def __init__(self, before: list[str], after: list[str], pay: Callable[[int], None]) -> None:
        super().__init__(None, before, after)
        self.before, self.after = before, after
        self._pay = pay

    def find_longest_match(
        self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None
    ) -> difflib.Match:
        self._pay(sum(1 + len(self.b2j.get(line, ())) for line in self.before[alo:ahi]))
        return super().find_longest_match(alo, ahi, blo, bhi)


def _unified(matcher: _PayingMatcher) -> list[str]:
    lines: list[str] = []
    for group in matcher.get_grouped_opcodes(_CONTEXT_LINES):
        (_, old_start, _, new_start, _), (_, _, old_end, _, new_end) = group[0], group[-1]
        lines.append(f"@@ -{_range(old_start, old_end)} +{_range(new_start, new_end)} @@")
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                lines += _shown(" ", matcher.before[i1:i2])
            else:
                lines += [*_shown("-", matcher.before[i1:i2]), *_shown("+", matcher.after[j1:j2])]
    return lines


def _range(start: int, end: int) -> str:
    """Lines from the one with index ``start`` to before ``end``, as a hunk's head counts them: from 1."""
    length = end - start
    if length == 1:
        return str(start + 1)
    return f"{start + 1 if length else start},{length}"


def _shown(sign: str, lines: list[str]) -> Iterator[str]:
    """Lines without their ends; as in git's diffs, a remark follows where a file's last line has none."""
    for line in lines:
        [text] = line.splitlines()
        yield sign + text
        if text == line:
            yield _NO_FINAL_NEWLINE
