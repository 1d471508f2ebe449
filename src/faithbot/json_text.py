"""JSON from people's files: plain data that can be written again, or one error with its place."""

from __future__ import annotations

import json
import math
from typing import Any

from faithbot.errors import UsageError

MAX_DEPTH = 50
"""Levels of lists and objects. The parser's own limit differs between Python versions, and may end the process."""


def parse_json(text: str, place: str, *, nan_is_missing: bool = False) -> Any:
    """Parse a whole text; ``place`` (a file, or a file and a line) starts the message of every :class:`UsageError`.

    Refused besides broken JSON is what Python reads but cannot pass on as UTF-8 or as JSON: half characters (lone
    surrogates), numbers without an end (NaN, Infinity, 1e999) or of thousands of digits, and very deep nesting. With
    ``nan_is_missing`` the words NaN and Infinity, which data frames write for what they do not have, are null.
    """
    try:
        value = json.loads(text, parse_constant=(lambda _: None) if nan_is_missing else None)
    except json.JSONDecodeError as error:
        line = f", line {error.lineno}" if "\n" in text else ""
        raise UsageError(f"{place}{line}, column {error.colno}: not valid JSON: {error.msg}.") from None
    except ValueError:  # int() refuses long ones
        raise UsageError(f"{place}: a number has too many digits: write it as a text, in quotes.") from None
    except RecursionError:
        raise _too_deep(place) from None
    _check(value, place)
    return value


def _check(value: Any, place: str) -> None:
    """Walk over all keys and values, without recursion: see MAX_DEPTH."""
    waiting = [(value, 0)]
    while waiting:
        item, depth = waiting.pop()
        if depth > MAX_DEPTH:
            raise _too_deep(place)
        if isinstance(item, str):
            _check_characters(item, place)
        elif isinstance(item, float) and not math.isfinite(item):
            raise UsageError(f"{place}: {item} is not a number in JSON: write a finite one, or null.")
        elif isinstance(item, list | dict):
            children = [*item, *item.values()] if isinstance(item, dict) else item
            waiting.extend((child, depth + 1) for child in children)


def _check_characters(text: str, place: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        around = ascii(text[max(0, error.start - 20) : error.end + 20])
        raise UsageError(f"{place}: {around} holds half a character: write both halves, or leave it out.") from None


def _too_deep(place: str) -> UsageError:
    return UsageError(f"{place}: lists or objects are nested more than {MAX_DEPTH} levels deep: flatten them.")
