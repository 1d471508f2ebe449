"""Rewritings that leave a sentence true: each returns None where there is nothing to rewrite."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from faithbot.probe.clauses import capitalised, split_condition
from faithbot.probe.corpus_words import joined
from faithbot.probe.lists import CONVERSIONS
from faithbot.probe.number_words import VALUES, spelled

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

    from faithbot.probe.corpus_words import CorpusWords
    from faithbot.probe.material import Sentence

_ONE_WORD = "|".join(VALUES)
_COUNTED = "|".join(word for word, value in VALUES.items() if value > 1)
_NUMBER = r"(?<![A-Za-z0-9_.,:/#+$€£–-])(?<!\d )"
_GROUPED = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?![\d.,]\d)")
_UNGROUPED = re.compile(rf"{_NUMBER}[1-9]\d{{4,6}}(?![\d.,:/-]\d|\d)")
_DIGITS = re.compile(rf"{_NUMBER}(\d{{1,2}}|[1-9]000?)(?=(?: |-)[a-z]|[.,;]?$|[.,;] [A-Za-z])")
_WORDS = re.compile(rf"\b(?:{_COUNTED})\b(?![ -](?:{_ONE_WORD}|hundred|thousand|million)\b)")
_CURRENCY = re.compile(r"\$(\d[\d,]*(?:\.\d+)?)(?![\d.,]*\d| (?:million|billion))")
_PERCENT = re.compile(r"(?<![\d.,])(\d{1,2}) ?%( of\b)?")
_MEASURE = re.compile(rf"{_NUMBER}(\d{{1,3}}|{_ONE_WORD})([ -])([A-Za-z]+)\b(?! (?:a|an|per) )")
_CLOCK = re.compile(r"(?<![\d:.])([01]?\d|2[0-3]):00(?![\d:])(?! ?[ap]\.?m)")
_LABEL = re.compile(r"(?:step|chapter|section|page|figure|item|pier|no|number)\.? $", re.IGNORECASE)
_LIST = re.compile(r"\b([a-z]+), ([a-z]+),? (and|or) ([a-z]+)(?=[.,;]|$)")
_YEAR_FIRST = re.compile(r"^(In (?:1\d|20)\d\d), ([^;:]+?)([.])$")


def other_spelling(text: str, rng: random.Random) -> str | None:
    """One number of the same value, written in another way: 1,000 as 1000, 4 as four, 30 % as 0.3, 2 h as 120 min."""
    options = [
        f"{text[: match.start()]}{new}{text[match.end() :]}"
        for pattern, rewrite in _SPELLINGS
        for match in pattern.finditer(text)
        if not _LABEL.search(text[: match.start()]) and (new := rewrite(match)) is not None
    ]
    return rng.choice(options) if options else None


def reordered(text: str, words: CorpusWords) -> str | None:
    """The condition at the other end, the year at the end, or a list of three from its end."""
    parts = split_condition(text)
    if parts and parts.leads and not re.search(r", (?:and|but|or|as|so)\b", parts.main):
        return f"{capitalised(parts.main)} {parts.condition}{parts.end}"
    # "Do A and B if C": it is not clear whether C goes with A.
    if parts and not parts.leads and not re.search(r",| (?:and|or|but|that|which|who) ", parts.main):
        return f"{capitalised(parts.condition)}, {words.uncapitalised(parts.main)}{parts.end}"
    if match := _YEAR_FIRST.match(text):
        return f"{capitalised(match[2])} {match[1].lower()}{match[3]}"
    if match := _LIST.search(text):
        first, second, conjunction, third = match.groups()
        return f"{text[: match.start()]}{third}, {second}, {conjunction} {first}{text[match.end() :]}"
    return None


def with_neighbour(
    sentence: Sentence, others: Sequence[Sentence], words: CorpusWords, rng: random.Random
) -> str | None:
    """Goes on with a sentence of another passage that the judge is given as well."""
    given = set(sentence.contexts) - {sentence.home.text}
    neighbours = [
        other
        for other in others
        if other.home.text in given and other.text not in sentence.home.text and words.can_follow(other.text)
    ]
    return joined(sentence.text, rng.choice(neighbours).text, words) if neighbours else None


def _without_commas(match: re.Match[str]) -> str:
    return match.group().replace(",", "")


def _with_commas(match: re.Match[str]) -> str:
    return f"{int(match.group()):,}"


def _in_words(match: re.Match[str]) -> str | None:
    value = int(match.group(1))
    return spelled(value) if value != 1 else None


def _in_digits(match: re.Match[str]) -> str:
    return str(VALUES[match.group()])


def _in_dollars(match: re.Match[str]) -> str:
    return f"{match.group(1)} dollars"


def _as_share(match: re.Match[str]) -> str:
    """``30% of`` is ``0.3 of``; elsewhere only the sign is spelled out."""
    return f"{int(match.group(1)) / 100:g} of" if match.group(2) else f"{match.group(1)} percent"


def _converted(match: re.Match[str]) -> str | None:
    number, gap, unit = match.groups()
    if unit not in CONVERSIONS:
        return None
    factor, smaller = CONVERSIONS[unit]
    value = factor * (VALUES[number] if number in VALUES else int(number))
    return f"{value}-{smaller.removesuffix('s')}" if gap == "-" else f"{value:,} {smaller}"


def _on_twelve_hours(match: re.Match[str]) -> str:
    hour = int(match.group(1))
    return f"{(hour - 1) % 12 + 1} {'am' if hour < 12 else 'pm'}"


_SPELLINGS = (
    (_GROUPED, _without_commas),
    (_UNGROUPED, _with_commas),
    (_DIGITS, _in_words),
    (_WORDS, _in_digits),
    (_CURRENCY, _in_dollars),
    (_PERCENT, _as_share),
    (_MEASURE, _converted),
    (_CLOCK, _on_twelve_hours),
)
