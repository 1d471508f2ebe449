"""Text of anybody as one line of plain text; numbers with their noun."""

from __future__ import annotations

import unicodedata

_INVISIBLE = {"Cc", "Cf", "Cs"}
"""Control characters, format characters (bidirectional overrides, zero width), lone surrogates."""


def plain(text: str, limit: int = 600) -> str:
    """One line for a terminal: no escape sequence, nothing invisible, at most ``limit`` characters."""
    return cut(one_line(text), limit)


def one_line(text: str) -> str:
    """The text on one line: runs of white space become one space, invisible characters go."""
    return " ".join(visible(text).split())


def cut(text: str, limit: int) -> str:
    """At most ``limit`` characters, cut at the end of a word where there is one, with an ellipsis."""
    if len(text) <= limit:
        return text
    start, space, _ = text[:limit].rpartition(" ")
    return (start if space else text[: limit - 1]).rstrip() + "…"


def visible(text: str) -> str:
    """The text without invisible characters; a control character that separates words becomes a space."""
    if text.isprintable():
        return text
    return "".join(_visible_char(char) for char in text)


def _visible_char(char: str) -> str:
    if char == "\t" or unicodedata.category(char) not in _INVISIBLE:
        return char
    return " " if char.isspace() else ""


def two_decimals(value: float) -> str:
    """``0.79``, ``−0.12``, ``0.00``: figures of one kind that stand beside each other."""
    digits = f"{abs(value):.2f}"
    return f"−{digits}" if value < 0 and digits != "0.00" else digits


def count(n: int, thing: str) -> str:
    """``1 claim``, ``5 claims``."""
    return f"{n} {thing}" if n == 1 else f"{n} {thing}s"
