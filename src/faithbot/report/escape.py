"""Makes text that a model, a document or a pull request wrote safe inside a comment on GitHub.

The rendered comment reads like the original, but nothing in it is markup, links, or calls anybody.

Markup is switched off with character references (``&#42;`` for ``*``): unlike backslashes they mean the same in a
paragraph, in a table cell and inside raw HTML such as ``<summary>``, so one function serves every place.

Mentions, issue numbers, commit ids, addresses and emoji names are a different matter: GitHub looks for them in the
finished text, after references and backslashes are gone (github/cmark-gfm#181, github/markup#1168). Only a character
in between stops it. The zero-width space is the one that Dependabot and Renovate rely on; mentions get it inside code
too, because a reply by e-mail quotes the comment as plain text (dependabot/dependabot-core#3157). A dollar sign is
wrapped in ``<span>``, as GitHub's documentation advises: a backslash does not stop formulas (github/markup#1746).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from faithbot.plain_text import cut, one_line, visible

if TYPE_CHECKING:
    from collections.abc import Container

BREAK = "\u200b"
"""Zero-width space."""

NUMBER = re.compile(rf"(?<![\w.,{BREAK}])\d+(?:[.,{BREAK}]\d+)*(?![\w{BREAK}])")

_CALLS = re.compile(
    r"""
      @                              # @user, @org/team, a@b.org, user@commit
    | \#(?=\d)                       # #1, org/repo#1
    | GH-(?=\d)                      # GH-1
    | :(?=//)                        # https://
    | www(?=\.)                      # www.
    | :(?=[\w+-]+(?::|$))            # :tada:, whose second colon may be ours, after the text
    | [0-9a-f]{6}(?=[0-9a-f])        # a commit id has 7 hexadecimal digits or more
    """,
    re.VERBOSE | re.IGNORECASE,
)
_MARKUP = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", "$": "<span>$</span>"} | {mark: f"&#{ord(mark)};" for mark in "\\`*_~[]|"}
)
_BLOCK_START = re.compile(r"^(?:(?=[-+=#])|(\d+)(?=[.)](?:\s|$)))(.)")
_CALLS_IN_CODE = re.compile(r"@(?=\w)|<!(?=--\s*faithbot)", re.IGNORECASE)
"""Mentions, and the marker of our own comments."""


def escape_text(text: str, limit: int = 600) -> str:
    """Text for a paragraph, a table cell or a ``<summary>``: one line, at most ``limit`` characters before escaping."""
    return _as_references(_calm(cut(one_line(text), limit)))


def escape_emphasised(text: str, numbers: Container[str], limit: int = 600) -> str:
    """Like `escape_text`, with the given numbers in bold."""
    line = _calm(cut(one_line(text), limit))
    parts, end = [], 0
    for match in NUMBER.finditer(line):
        if match[0].replace(BREAK, "") in numbers:
            parts += [_as_references(line[end : match.start()]), f"<strong>{match[0]}</strong>"]
            end = match.end()
    return "".join([*parts, _as_references(line[end:])])


def escape_code(text: str, limit: int = 120) -> str:
    """A code span, as HTML: one in backticks could not hold a table's pipe or stand in a ``<summary>``."""
    return f"<code>{escape_text(text, limit)}</code>"


def fence(text: str, language: str = "", max_lines: int = 200, max_columns: int = 400) -> str:
    """A fenced code block, its fence longer than any run of backticks in the text."""
    lines = [cut(visible(line), max_columns) for line in text.splitlines()]
    if len(lines) > max_lines:
        lines = [*lines[:max_lines], f"… {len(lines) - max_lines} more lines"]
    body = _CALLS_IN_CODE.sub(lambda match: match[0] + BREAK, "\n".join(lines))
    longest = max((len(run) for run in re.findall("`+", body)), default=0)
    ticks = "`" * max(3, longest + 1)
    return f"{ticks}{language}\n{body}\n{ticks}"


def _calm(line: str) -> str:
    return _CALLS.sub(lambda match: match[0] + BREAK, line)


def _as_references(line: str) -> str:
    return _BLOCK_START.sub(lambda match: f"{match[1] or ''}&#{ord(match[2])};", line.translate(_MARKUP))
