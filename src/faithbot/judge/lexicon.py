"""Word lists and patterns of the evidence judge, from ``lexicon.toml``, ``patterns.toml`` and ``refusals.toml``."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib import resources
from typing import Any


def _load(name: str) -> dict[str, Any]:
    return tomllib.loads((resources.files("faithbot.judge") / name).read_text(encoding="utf-8"))


_LISTS = _load("lexicon.toml")
_PATTERNS = _load("patterns.toml")
_REFUSALS = _load("refusals.toml")


def _words(name: str) -> frozenset[str]:
    return frozenset(_LISTS[name].split())


def _partners(groups: str) -> dict[str, frozenset[str]]:
    partners: dict[str, set[str]] = {}
    for group in groups.split():
        words = group.split("/")
        for word in words:
            partners.setdefault(word, set()).update(other for other in words if other != word)
    return {word: frozenset(others) for word, others in partners.items()}


def _by_word(table: dict[str, str]) -> dict[str, float]:
    return {word: float(value) for value, words in table.items() for word in words.split()}


STOP_WORDS = _words("stop_words")
NEGATORS = _words("negators")
FLAT_NEGATORS = NEGATORS - _words("indirect_negators")
"""Negators that deny the word after them, so that the same word without them says the opposite."""
NEGATING_CHARACTERS = tuple(_LISTS["negating_characters"].split())
NOT_NEGATING = tuple(_LISTS["not_negating"])
EXCLUSIVE = _partners(_LISTS["exclusive"])
"""Word to the words that cannot hold in its place."""
SYNONYMS = tuple(frozenset(group.split("/")) for group in _LISTS["synonyms"].split())
TOTAL = _words("total")
"""Claim more than the words of PARTIAL in the same place."""
PARTIAL = _words("partial")
CONDITIONS = _words("conditions")
SPEAKERS = _words("speakers")
ABBREVIATIONS = _words("abbreviations")
ABBREVIATIONS_THAT_MAY_END = _words("abbreviations_that_may_end")
OPENING_CHATTER = _words("opening_chatter")
IRREGULAR = {
    form: base
    for base, _, forms in (entry.partition("=") for entry in _LISTS["irregular_forms"].split())
    for form in forms.split(",")
}
"""Irregular form to its base form."""
UNSTEMMED = _words("unstemmed")
NUMBER_WORDS = _by_word(_LISTS["number_words"])
MONTHS = {word: int(number) for word, number in _by_word(_LISTS["months"]).items()}
"""Name of a month to its number."""
NUMBER_SCALES = _by_word(_LISTS["number_scales"])
UNITS = {
    name: (dimension, float(factor))
    for dimension, units in _LISTS["units"].items()
    for factor, names in units.items()
    for name in names.split()
}
"""Unit as written to its dimension and the factor to the dimension's base unit."""


def pattern(section: str, name: str) -> re.Pattern[str]:
    """A pattern of ``patterns.toml``."""
    return _compiled(_PATTERNS[section][name])


REFUSAL_SIGNS: dict[str, tuple[str, ...]] = {
    name: tuple(language["signs"]) for name, language in _REFUSALS["language"].items()
}
"""Per language, substrings without one of which no refusal stands there."""


def refusal_pattern(name: str) -> re.Pattern[str]:
    """A pattern about a sentence of a refusal, in any language."""
    return _compiled(_REFUSALS["sentence"][name])


def refusal_in(language: str) -> re.Pattern[str]:
    """The pattern of a refusal in a language."""
    return _compiled(_REFUSALS["language"][language]["pattern"])


@cache  # when it is first needed: all together take longer than the start of a command
def _compiled(text: str) -> re.Pattern[str]:
    for name, part in _REFUSALS["parts"].items():
        text = text.replace(f"{{{name}}}", f"(?:{part})")
    return re.compile(text, re.VERBOSE | re.IGNORECASE)
