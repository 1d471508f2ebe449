"""The word lists of ``lists.toml``."""

from __future__ import annotations

import tomllib
from importlib import resources
from typing import NamedTuple


class Unit(NamedTuple):
    """A unit as it is written, singular and plural."""

    singular: str
    plural: str


_LISTS = tomllib.loads((resources.files("faithbot.probe") / "lists.toml").read_text(encoding="utf-8"))


def _antonyms() -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for pair in _LISTS["antonyms"].split():
        one, other = pair.split("/")
        found[one] = (*found.get(one, ()), other)
        found[other] = (*found.get(other, ()), one)
    return found


ANTONYMS = _antonyms()
"""Word to the words that say the opposite."""
BASE_FORMS: dict[str, str] = dict(entry.split("=") for entry in _LISTS["verbs"].split())
"""Verb in the third person to its base form."""
THIRD_PERSON = {base: third for third, base in BASE_FORMS.items()}
IMPERATIVES = frozenset(_LISTS["imperatives"].split())
OTHER_UNITS: dict[str, str] = {
    spelling: other
    for singular, (plural, other_singular, other_plural) in _LISTS["units"].items()
    for spelling, other in ((singular, other_singular), (plural, other_plural))
}
"""Unit to another one of its kind, in the same grammatical number."""
CONVERSIONS: dict[str, tuple[int, str]] = {
    spelling: (factor, smaller)
    for singular, (plural, factor, smaller) in _LISTS["conversions"].items()
    for spelling in (singular, plural)
}
"""Unit to how many of a smaller unit it is, and that unit."""
