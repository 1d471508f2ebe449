"""Days of a text: a month beside the number of a day, or all in digits as ISO 8601 has it."""

from __future__ import annotations

import re

from faithbot.judge.lexicon import MONTHS

ORDINAL_ENDINGS = frozenset({"st", "nd", "rd", "th"})
BETWEEN_DAY_AND_MONTH = frozenset({"of", "de"})
_ISO_DATE = re.compile(r"(?<![\d-])(\d{4})-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])(?![\d-])T?")
_ENGLISH = {number: name for name, number in reversed(MONTHS.items())}
"""Number of a month to its English name, which is the first of its names."""


def is_day(value: float) -> bool:
    """Whether a number may be that of a day."""
    return 1 <= value <= 31 and value == int(value)


def spell_dates(text: str) -> str:
    """``2023-03-05`` as March 5, 2023; a time of day may follow. What is no day of the calendar stays."""
    return _ISO_DATE.sub(_spelled, text) if "-" in text else text


def months_in_digits(text: str) -> dict[int, str]:
    """Where in a text a month stands in digits, to its English name."""
    return {found.start(2): _ENGLISH[int(found[2])] for found in _ISO_DATE.finditer(text)}


def _spelled(found: re.Match[str]) -> str:
    year, month, day = found.groups()
    return f"{_ENGLISH[int(month)]} {int(day)}, {year} "
