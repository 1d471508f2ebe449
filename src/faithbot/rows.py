"""Rows out of people's files: JSON lines, a JSON list, or a table in CSV."""

from __future__ import annotations

import csv
import io
import json
from functools import partial
from typing import TYPE_CHECKING, Any

from faithbot.errors import UsageError
from faithbot.json_text import parse_json

if TYPE_CHECKING:
    from collections.abc import Iterator

_LONGEST_CELL = 10_000_000
"""Characters. Python's own limit of 131,072 is less than the passages of one long answer."""


def json_rows(
    text: str, name: str, expected: str, *, nan_is_missing: bool = False
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Places (`line 3`, `item 3`) and rows of a JSON list or of JSON lines, which shows in the first character.

    ``name`` of the file and what a row is ``expected`` to be are for the :class:`UsageError` of one that is not.
    """
    parse = partial(parse_json, nan_is_missing=nan_is_missing)
    if text.lstrip().startswith("["):
        numbered = ((f"item {number}", item) for number, item in enumerate(parse(text, name), start=1))
    else:
        numbered = (
            (f"line {number}", parse(line, f"{name}, line {number}"))
            for number, line in enumerate(text.split("\n"), start=1)
            if line.strip()
        )
    for place, row in numbered:
        if not isinstance(row, dict):
            raise UsageError(f"{name}, {place}: expected {expected}, found {json.dumps(row)[:60]}.")
        yield place, row


def csv_rows(text: str, name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Places and rows of a table with a header, columns parted by commas, semicolons or tabs; empty cells are None."""
    header = text.split("\n", 1)[0]
    csv.field_size_limit(_LONGEST_CELL)
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=header.count), strict=True)
    try:
        for row in reader:
            place = f"line {reader.line_num}"
            if None in row:
                raise UsageError(f"{name}, {place}: more cells than the header has: put cells with commas in quotes.")
            yield place, {column: cell or None for column, cell in row.items() if column}
    except csv.Error as error:
        raise UsageError(f"{name}, line {reader.line_num}: not valid CSV: {error}.") from None
