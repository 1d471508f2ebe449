"""Whole numbers as words, and back."""

from __future__ import annotations

_UNITS = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")

VALUES: dict[str, int] = {
    **{word: value for value, word in enumerate(_UNITS)},
    **{word: 10 * tens for tens, word in enumerate(_TENS, start=2)},
}
"""Numbers that are one word."""


def spelled(value: int) -> str | None:
    """``12`` is twelve, ``1000`` one thousand; None where it would take more than three words."""
    if value < 20:
        return _UNITS[value] if value >= 0 else None
    if value < 100:
        tens, units = divmod(value, 10)
        return _TENS[tens - 2] + (f"-{_UNITS[units]}" if units else "")
    for size, name in ((1_000_000, "million"), (1_000, "thousand"), (100, "hundred")):
        count, rest = divmod(value, size)
        if count and not rest and count < 100:
            return f"{spelled(count)} {name}"
    return None
