"""Numbers of a text by value: 1,000 = 1000 = "one thousand", 30 % = 0.3, 2 h = 120 minutes."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import TYPE_CHECKING

from faithbot.judge.dates import BETWEEN_DAY_AND_MONTH, ORDINAL_ENDINGS, is_day, spell_dates
from faithbot.judge.lexicon import MONTHS, NUMBER_SCALES, NUMBER_WORDS, STOP_WORDS, UNITS
from faithbot.judge.words import fold, stem

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_NUMBER = (
    r"(?<!\d)\d{1,3}(?:[\u00a0\u202f ]\d{3})+(?!\d)|\d{1,3}(?:[.,'’]\d{3})+(?![.,]?\d)"
    r"|\d{1,3}(?:,\d{3})+\.\d+|\d{1,3}(?:\.\d{3})+,\d+"
    r"|(?<!\d,)\d+(?:[.,]\d+(?![.,]\d))?|\d+|%|°\s?[CFcf]\b|[$€£¥]"
)
_PIECE = re.compile(
    r"[^\W\d_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|" + _NUMBER
)
_ASCII_PIECE = re.compile(f"[A-Za-z]+|{_NUMBER}")
"""Finds the same in plain ASCII, twice as fast."""
_DAY_OF_MONTH = "day of month"
_CURRENCIES = "$€£¥"
_LABELS = frozenset({"passage", "passages", "step", "steps", "source", "sources", "document"})
"""What is numbered, not counted: "passage 3" states no number."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number of a text. ``3.500`` may be read in two ways, so it has two values."""

    values: tuple[float, ...]
    """As written, number words and scales resolved."""
    dimension: str | None = None
    """time, length, ratio, dollars, day of a month, ...; None where no unit stands beside it."""
    factor: float = 1.0
    """To the dimension's base unit."""
    noun: str | None = None
    """Stem of the word after it, where that is no unit: "20 guests"."""

    def equals(self, other: Quantity) -> bool:
        """The same value: in the base unit where the dimensions agree, as written where one has none."""
        if self.dimension == other.dimension:
            return _any_close(self.base_values(), other.base_values())
        if self.dimension is None or other.dimension is None:
            return _any_close(self.values, other.values) or (
                "ratio" in (self.dimension, other.dimension) and _any_close(self.base_values(), other.base_values())
            )
        return False

    def conflicts(self, other: Quantity) -> bool:
        """Another value for what looks like the same thing: same unit, both years, or the same noun."""
        if self.equals(other):
            return False
        if self.dimension or other.dimension:
            return self.dimension == other.dimension
        if self.is_year or other.is_year:
            return self.is_year and other.is_year
        return self.noun is not None and self.noun == other.noun

    @property
    def is_day(self) -> bool:
        """The day of a date."""
        return self.dimension is not None and self.dimension.startswith(_DAY_OF_MONTH)

    @property
    def is_year(self) -> bool:
        """Looks like a calendar year."""
        return self.dimension is None and len(self.values) == 1 and 1000 <= self.values[0] <= 2100 and self.noun is None

    def all_values(self) -> set[float]:
        """The values as written and in the base unit: equal quantities share one."""
        return {*self.values, *self.base_values()}

    def base_values(self) -> tuple[float, ...]:
        """The values in the dimension's base unit."""
        return tuple(value * self.factor for value in self.values)


def value_key(value: float) -> str:
    """Key that values share which differ by rounding errors only."""
    return f"{value:.6g}"


def _any_close(left: Iterable[float], right: Sequence[float]) -> bool:
    return any(math.isclose(a, b, rel_tol=1e-9) for a in left for b in right)


@lru_cache(maxsize=8192)
def quantities(text: str) -> tuple[Quantity, ...]:
    """All numbers of a sentence, in order, with the units beside them."""
    text = spell_dates(text)
    pieces = (_ASCII_PIECE if text.isascii() else _PIECE).findall(text)
    found: list[Quantity] = []
    end = 0
    for position in [number for number, piece in enumerate(pieces) if _starts_number(piece)]:
        if position < end:
            continue
        quantity, length = _read(pieces, position)
        if quantity is not None:
            found.append(quantity)
        end = position + length
    return tuple(found)


@lru_cache(maxsize=65536)
def _starts_number(piece: str) -> bool:
    return piece[0].isdecimal() or fold(piece) in NUMBER_WORDS


def is_derived(quantity: Quantity, sources: Sequence[Quantity]) -> bool:
    """Whether the quantity is the sum or the difference of two source quantities of its dimension; no day is."""
    if quantity.is_day:
        return False
    same = [source for source in sources if source.dimension == quantity.dimension][:12]
    targets = quantity.base_values()
    for a, b in combinations(same, 2):
        left, right = a.base_values()[0], b.base_values()[0]
        if _any_close(targets, (left + right, abs(left - right))):
            return True
    return False


def _read(pieces: list[str], position: int) -> tuple[Quantity | None, int]:
    """The quantity that starts at a number piece and how many pieces it takes; None where it counts nothing."""
    values, length = _read_value(pieces, position)
    after = _piece(pieces, position + length)
    before = pieces[position - 1] if position else ""
    if before.casefold() in _LABELS:
        return None, length
    if before in _CURRENCIES and before:
        dimension, factor = UNITS[before]
        return Quantity(values, dimension, factor), length
    if after in ORDINAL_ENDINGS:
        length += 1
        return Quantity(values, _month_beside(pieces, position, length, values) or "ordinal"), length
    unit = _unit(*pieces[position + length : position + length + 2])
    if unit is not None:
        dimension, factor, n_pieces = unit
        return Quantity(values, dimension, factor), length + n_pieces
    if length == 1 and values == (1.0,) and not pieces[position].isdecimal():
        return None, length  # "one" without a unit is mostly a pronoun
    month = _month_beside(pieces, position, length, values)
    if month is not None:
        return Quantity(values, month), length
    noun = stem(after) if after and after not in STOP_WORDS and after.isalpha() and after not in MONTHS else None
    return Quantity(values, noun=noun), length


def _piece(pieces: list[str], position: int) -> str:
    """A piece folded; empty behind the last."""
    return fold(pieces[position]) if position < len(pieces) else ""


@lru_cache(maxsize=65536)
def _unit(*following: str) -> tuple[str, float, int] | None:
    """Dimension, factor and number of pieces of the unit that at most two pieces begin with."""
    # Units of unspaced scripts come one character a piece: 小时 before 小.
    for n_pieces in range(len(following), 0, -1):
        unit = UNITS.get("".join(fold(piece).replace(" ", "") for piece in following[:n_pieces]))
        if unit is not None:
            return *unit, n_pieces
    return None


def _month_beside(pieces: list[str], position: int, length: int, values: tuple[float, ...]) -> str | None:
    """The dimension of a day whose number, so many pieces long, has its month before or after it."""
    if not is_day(values[0]):
        return None
    after = position + length
    after += _piece(pieces, after) in BETWEEN_DAY_AND_MONTH
    month = MONTHS.get(fold(pieces[position - 1]) if position else "") or MONTHS.get(_piece(pieces, after))
    return f"{_DAY_OF_MONTH} {month}" if month else None


def _read_value(pieces: list[str], position: int) -> tuple[tuple[float, ...], int]:
    """Values of the number at a piece, scales included, and how many pieces it takes."""
    piece = pieces[position]
    if piece[0].isdecimal():
        values, length = _digit_values(piece), 1
    else:
        spelled, length = _spelled_value(pieces, position)
        values = (spelled,)
    while position + length < len(pieces):
        scale = NUMBER_SCALES.get(fold(pieces[position + length]))
        if scale is None:
            break
        values = tuple(value * scale for value in values)
        length += 1
    return values, length


def _spelled_value(pieces: list[str], position: int) -> tuple[float, int]:
    value = NUMBER_WORDS[fold(pieces[position])]
    following = NUMBER_WORDS.get(fold(pieces[position + 1])) if position + 1 < len(pieces) else None
    if value >= 20 and value % 10 == 0 and following is not None and 1 <= following <= 9:
        return value + following, 2
    return value, 1


def _digit_values(digits: str) -> tuple[float, ...]:
    """Readings of digits with separators: ``1,234.5``, ``1.234,5``, ``1'000``, ``3.500`` (3.5 or 3500)."""
    plain = re.sub(r"['’\u00a0\u202f ]", "", digits)
    separators = [character for character in plain if character in ".,"]
    if not separators:
        return (float(plain),)
    if len(set(separators)) == 2:
        decimal = separators[-1]
        thousands = "," if decimal == "." else "."
        head, _, tail = plain.replace(thousands, "").rpartition(decimal)
        return (float(f"{head.replace(decimal, '')}.{tail}"),)
    grouped = all(len(group) == 3 for group in re.split("[.,]", plain)[1:])
    whole = float(re.sub("[.,]", "", plain))
    if len(separators) > 1:
        return (whole,)
    decimal_value = float(plain.replace(",", "."))
    if not grouped:
        return (decimal_value,)
    return (whole,) if separators[0] == "," else (decimal_value, whole)
