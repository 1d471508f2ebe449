"""Faults in numbers, dates and units: each planter changes one and returns None where there is none to change."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from faithbot.judge.quantities import is_derived, quantities
from faithbot.probe.corpus_words import MONTHS, WEEKDAYS
from faithbot.probe.lists import OTHER_UNITS
from faithbot.probe.number_words import VALUES, spelled

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator, Sequence

    from faithbot.probe.material import Sentence

_MONTH = rf"(?:{'|'.join(MONTHS)})"
_ONE_WORD = "|".join(VALUES)
_COUNTED = "|".join(word for word, value in VALUES.items() if value > 1)
_FREE = r"(?<![A-Za-z0-9_.,:/#+–-])"
# No part of a name ("X4"), a clock time, an address, a range, a telephone number or a version.
_DIGITS = re.compile(
    rf"{_FREE}(?<!\d )(?:\d{{1,3}}(?:,\d{{3}})+|\d+)(?:\.\d+)?(?![\d:/–]|[.,]\d| \d|-\d|st\b|nd\b|rd\b|th\b)"
)
_SPELLED = re.compile(rf"\b(?:{_COUNTED})\b(?!-(?:{_ONE_WORD}))")
_NUMBERED = re.compile(
    r"\b(?:step|chapter|section|page|figure|item|no|number|passage|table|pier|version|level|phase)\.? $", re.IGNORECASE
)
_BESIDE_MONTH = re.compile(rf"{_MONTH} $")
_YEAR_CUE = re.compile(
    rf"(?:\b(?:in|since|from|until|to|by|of|and|between|before|after|year|around|{_MONTH})|,|\()\s?$", re.IGNORECASE
)
_YEAR = re.compile(r"(?<![\d.,-])(?:1[0-9]|20)\d\d(?![\d.,]\d|\d|-\d)")
_ISO_DATE = re.compile(r"\b\d{4}-\d{2}-(\d{2})\b")
_WEEKDAY = re.compile(rf"\b({'|'.join(WEEKDAYS)})(s?)\b")
# "May" and "March" are months beside a number or behind a preposition only.
_MONTH_NAME = re.compile(
    rf"\b(?:(?:in|from|since|until|to|by|of|during|early|late|mid) |\d(?:st|nd|rd|th)? )({_MONTH})\b"
    rf"|\b({_MONTH})(?= \d)"
)
_CLOCK = re.compile(r"(?<![\d:.])([01]?\d|2[0-3]):([0-5]\d)(?![\d:])")
_HOUR = re.compile(r"(?<![\d:.])(\d{1,2})(?= ?(?:am|pm|a\.m\.|p\.m\.))")
_AMOUNT = re.compile(rf"{_FREE}(\d[\d.,]*|{_ONE_WORD})([ -]?)([A-Za-z]+)\b(?! \()")
_CURRENCY = re.compile(r"([$€£])(?=\d)")
_PERCENT = re.compile(rf"{_FREE}(\d+) ?(?:%|percent\b)")
_OTHER_CURRENCY = {"$": "€", "€": "$", "£": "$"}


def other_number(sentence: Sentence, rng: random.Random) -> str | None:
    """Another number, of which no passage states the value, nor two that it is the sum or difference of."""
    found = [*_numbers(sentence.text)]
    rng.shuffle(found)
    for match, value in found:
        written = match.group()
        others = _other_values(value, in_percent=sentence.text[match.end() :].lstrip().startswith(("%", "percent")))
        rng.shuffle(others)
        for other in others:
            text = _spliced(sentence.text, match, _written_like(written, other))
            if text is not None and _is_new(text, sentence):
                return text
    return None


def _numbers(text: str) -> Iterator[tuple[re.Match[str], float]]:
    for match in _DIGITS.finditer(text):
        before, after = text[: match.start()], text[match.end() :]
        labels = _NUMBERED.search(before) or _BESIDE_MONTH.search(before) or re.match(rf" {_MONTH}", after)
        if not labels and not _is_year(text, match) and not (match.group() == "1" and after[:1] != "-"):
            yield match, float(match.group().replace(",", ""))
    for match in _SPELLED.finditer(text):
        yield match, float(VALUES[match.group()])


def _is_year(text: str, match: re.Match[str]) -> bool:
    return _YEAR.fullmatch(match.group()) is not None and _YEAR_CUE.search(text[: match.start()]) is not None


def _other_values(value: float, *, in_percent: bool) -> list[float]:
    """Values of the same size and roundness."""
    if value != int(value):
        steps = [0.5, 0.7, 1.2, -0.3]
    else:
        unit = next(
            size for size in (1_000_000, 100_000, 10_000, 1_000, 100, 10, 5, 1) if value % size == 0 or size == 1
        )
        steps = [unit * step for step in (1, 2, 3, 4, 6, -1, -2, -3)]
    others = [round(value + step, 2) for step in steps]
    return [other for other in others if other > 0 and other != 1 and not (in_percent and other > 100)]


def _written_like(written: str, value: float) -> str | None:
    """The value as the number that it replaces is written; None where that cannot be."""
    if written[0].isalpha():
        return spelled(int(value))
    if "." in written:
        return f"{value:.{len(written.split('.')[1])}f}"
    return f"{value:,.0f}" if "," in written else f"{value:.0f}"


def other_date(sentence: Sentence, rng: random.Random) -> str | None:
    """Another year, month, weekday, day or time of day, which no passage holds."""
    planters: list[Callable[[str, random.Random], list[str]]] = [
        _other_years, _other_days, _other_months, _other_weekdays, _other_times,
    ]  # fmt: skip
    candidates = [text for plant in planters for text in plant(sentence.text, rng)]
    rng.shuffle(candidates)
    return next((text for text in candidates if _holds_new_word(text, sentence)), None)


def _other_years(text: str, rng: random.Random) -> list[str]:
    years = [match for match in _YEAR.finditer(text) if _is_year(text, match)]
    return [
        _replaced(text, match, str(int(match.group()) + rng.choice([-7, -4, -3, -2, 2, 3, 4, 6]))) for match in years
    ]


def _other_days(text: str, rng: random.Random) -> list[str]:
    return [
        text[: match.start(1)] + f"{(int(match.group(1)) + rng.randint(2, 9)) % 28 + 1:02d}" + text[match.end(1) :]
        for match in _ISO_DATE.finditer(text)
    ]


def _other_months(text: str, rng: random.Random) -> list[str]:
    found = []
    for match in _MONTH_NAME.finditer(text):
        group = 1 if match.group(1) else 2
        month = rng.choice([month for month in MONTHS if month not in text and month not in ("May", "March")])
        found.append(text[: match.start(group)] + month + text[match.end(group) :])
    return found


def _other_weekdays(text: str, rng: random.Random) -> list[str]:
    days = [day for day in WEEKDAYS if day not in text]
    return [_replaced(text, match, rng.choice(days) + match.group(2)) for match in _WEEKDAY.finditer(text) if days]


def _other_times(text: str, rng: random.Random) -> list[str]:
    found = [
        _replaced(
            text,
            match,
            f"{(int(match.group(1)) + rng.choice([-2, -1, 1, 2])) % 24:0{len(match.group(1))}d}:{match.group(2)}",
        )
        for match in _CLOCK.finditer(text)
    ]
    hours = [
        _replaced(text, match, str((int(match.group(1)) + rng.choice([1, 2, 10]) - 1) % 12 + 1))
        for match in _HOUR.finditer(text)
    ]
    return found + hours


def other_unit(sentence: Sentence, rng: random.Random) -> str | None:
    """The same number with another unit, which no passage states."""
    text = sentence.text
    candidates = [_replaced(text, match, _OTHER_CURRENCY[match.group()]) for match in _CURRENCY.finditer(text)]
    for match in _AMOUNT.finditer(text):
        number, gap, unit = match.groups()
        if unit in OTHER_UNITS:
            candidates.append(_replaced(text, match, f"{number}{gap}{OTHER_UNITS[unit]}"))
    candidates += [_replaced(text, match, f"${match.group(1)}") for match in _PERCENT.finditer(text)]
    rng.shuffle(candidates)
    return next((text for text in candidates if _is_new(text, sentence)), None)


def _is_new(text: str, sentence: Sentence) -> bool:
    """Whether the text states a quantity that the passages do not state, in any unit, nor as a sum or a difference."""
    own = quantities(sentence.text)
    stated = [quantity for context in sentence.contexts for quantity in quantities(context)]
    changed = [quantity for quantity in quantities(text) if quantity not in own]
    return any(
        not any(quantity.equals(other) for other in stated) and not is_derived(quantity, stated) for quantity in changed
    )


def _holds_new_word(text: str, sentence: Sentence) -> bool:
    """Whether the text has a word that neither the sentence nor any passage has."""
    passages = " ".join((sentence.text, *sentence.contexts))
    return any(not re.search(rf"(?<!\w){re.escape(word)}", passages) for word in _pieces(text))


def _pieces(text: str) -> Sequence[str]:
    return [word.strip(".,;()").removesuffix("s") for word in text.split()]


def _replaced(text: str, match: re.Match[str], new: str) -> str:
    return text[: match.start()] + new + text[match.end() :]


def _spliced(text: str, match: re.Match[str], new: str | None) -> str | None:
    return None if new is None else _replaced(text, match, new)
