"""Reads Markdown as GitHub does, as far as it matters here: CommonMark with tables, strikethrough and raw HTML."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from markdown_it import MarkdownIt

from faithbot.report.escape import BREAK

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markdown_it.token import Token

_READER = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def tokens(markdown: str) -> list[Token]:
    return list(_flat(_READER.parse(markdown)))


def _flat(found: list[Token]) -> Iterator[Token]:
    for token in found:
        yield token
        yield from _flat(token.children or [])


def token_types(markdown: str) -> set[str]:
    return {token.type for token in tokens(markdown)}


def tags(markdown: str) -> set[str]:
    """Names of the HTML elements that stand in the Markdown, comments as ``!--``."""
    html = "".join(token.content for token in tokens(markdown) if token.type.startswith("html_"))
    return set(re.findall(r"</?(!--|[a-z]+)", html))


def shown(markdown: str) -> str:
    """The text that a reader sees, a line for each block or cell, invisible breaks included."""
    return "\n".join(_shown(token) for token in _READER.parse(markdown) if token.type in ("inline", "fence"))


def _shown(block: Token) -> str:
    inline = block.children if block.children is not None else [block]
    return "".join(token.content for token in inline if token.type in ("text", "code_inline", "fence"))


def read(markdown: str) -> str:
    """The text that a reader sees."""
    return shown(markdown).replace(BREAK, "")
