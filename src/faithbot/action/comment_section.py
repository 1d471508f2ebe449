"""A result as one section of the comment on a pull request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faithbot.github.sections import LIMIT, Section
from faithbot.report.comment import render_comment

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faithbot.results import Results

_ROOM_FOR_OTHERS = 5_000
"""Characters of a comment that one section leaves to the markers and to a shortened other section."""


def compose_section(results: Results, name: str, commit: str, run_url: str, notes: Iterable[str]) -> Section:
    """The section, with the notes as paragraphs of Markdown above the result."""
    body = render_comment(results, run_url=run_url, limit=LIMIT - _ROOM_FOR_OTHERS)
    return Section(name, commit, "\n\n".join([*notes, body]))
