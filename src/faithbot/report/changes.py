"""What differs between the sides, as plain text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faithbot.plain_text import count, cut, one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faithbot.results import Results, SettingChange

MOST_NAMED = 3
_VALUE_LIMIT = 60
_NAME_LIMIT = 200
"""Of a path: the summary is the only place that shows it."""


def under_test(results: Results) -> list[SettingChange]:
    """Changes that the answers depend on."""
    return [change for change in results.changes if change.kind != "grading"]


def of_grading(results: Results) -> list[SettingChange]:
    """Changes of golden set, judge and gate."""
    return [change for change in results.changes if change.kind == "grading"]


def grading_notice(results: Results) -> str:
    """The sentence that stands above the verdict where the pull request edits how it is graded; else empty."""
    edits = of_grading(results)
    if not edits:
        return ""
    version = "the base branch's version" if results.graded_by == "base" else "its own version"
    return f"This pull request changes how it is graded: {summary(edits)}. Graded with {version}."


def summary(changes: Sequence[SettingChange]) -> str:
    """``prompts/answer.md (2 lines), retrieval.top_k 4 → 1, and 3 more``."""
    named = [one_change(change) for change in changes[:MOST_NAMED]]
    more = [f"and {len(changes) - MOST_NAMED} more"] if len(changes) > MOST_NAMED else []
    return ", ".join(named + more)


def is_told_by_summary(changes: Sequence[SettingChange], *, with_diffs: bool) -> bool:
    """Whether a list of the changes, with the diffs of those that have one, would only repeat `summary`."""
    return len(changes) <= MOST_NAMED and not (with_diffs and any(change.diff is not None for change in changes))


def one_change(change: SettingChange) -> str:
    """``prompts/answer.md (2 lines)``, ``retrieval.top_k 4 → 1``."""
    name = cut(one_line(change.name), _NAME_LIMIT)
    if change.diff is not None:
        return f"{name} ({_extent(change, change.diff)})"
    return f"{name} {setting_values(change)}"


def setting_values(change: SettingChange) -> str:
    """``4 → 1``, ``new: 4``, ``removed``; for a file without a diff ``new`` or ``changed``."""
    before, after = (_value(value) for value in (change.before, change.after))
    if change.before is None:
        return "new" if change.after == change.name else f"new: {after}"
    if change.after is None:
        return "removed"
    return "changed" if before == after else f"{before} → {after}"


def _value(value: str | None) -> str:
    return cut(one_line(value or "").strip('"'), _VALUE_LIMIT)


def _extent(change: SettingChange, diff: str) -> str:
    if change.before is None:
        return "new"
    if change.after is None:
        return "removed"
    lines = diff.splitlines()
    edited = max(sum(line.startswith(sign) for line in lines) for sign in "+-")
    is_cut = bool(lines) and lines[-1].startswith("…")
    return f"more than {count(edited, 'line')}" if is_cut else count(edited, "line")
