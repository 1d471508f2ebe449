"""Which words of the documents are names, and how sentences of them can be put together."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from faithbot.judge.lexicon import STOP_WORDS

if TYPE_CHECKING:
    from collections.abc import Iterable

_LOWER_WORD = re.compile(r"\b[a-z]+\b")
# Behind a word in lower case only names are capitalised.
_NAME_INSIDE = re.compile(r"(?<![\w'’-])([a-z][a-z'’-]*)[,;]? \(?([A-Z][\w’'-]*\w(?: (?:[A-Z]|\d)[\w-]*)*)")
_FIRST_WORD = re.compile(r"[A-Z][a-z]*(?![\w-])")
MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_POINTS_BACK = re.compile(
    r"(?:It|Its|It['’]s|They|Their|This|These|That|Those|He|She|His|Her|Such|There|Then|However|Also|Additionally|Both"
    r"|In addition|For example|Moreover|Otherwise|Therefore|Instead|Finally|Next|DO)\b"
)
_LONGEST_FOLLOWER = 160
"""Characters."""
_LONGEST_ABBREVIATION = 3
"""Letters of "UV" or "USB", which are no names."""
_NO_NAMES = frozenset([*MONTHS, *WEEKDAYS, *(f"{day}s" for day in WEEKDAYS), "I", "OK", "FAQ", "Note"])


class CorpusWords:
    """Words that occur in lower case, and names: what occurs only capitalised, with the words that stood before it."""

    def __init__(self, texts: Iterable[str]) -> None:
        texts = tuple(texts)
        self.common = STOP_WORDS | {word for text in texts for word in _LOWER_WORD.findall(text)}
        neighbours: dict[str, Counter[str]] = defaultdict(Counter)
        for text in texts:
            for match in _NAME_INSIDE.finditer(text):
                before, name = match.groups()
                name = name.removesuffix("'s").removesuffix("’s")
                if self._is_name(name):
                    neighbours[name][before] += 1
        self.names: dict[str, Counter[str]] = dict(sorted(neighbours.items()))

    def _is_name(self, name: str) -> bool:
        first = re.split(r"[ -]", name)[0]
        is_abbreviation = name.isupper() and len(name) <= _LONGEST_ABBREVIATION
        return not is_abbreviation and first not in _NO_NAMES and first.casefold() not in self.common

    def uncapitalised(self, sentence: str) -> str:
        """The sentence as it goes on behind a comma: only names keep their capital."""
        first = _FIRST_WORD.match(sentence)
        is_common = first is not None and first.group().casefold() in self.common
        return sentence[0].lower() + sentence[1:] if is_common else sentence

    def can_follow(self, sentence: str) -> bool:
        """Whether a sentence says the same behind another one: it does not point back, and is not long or a list."""
        first = _FIRST_WORD.match(sentence)
        is_known = (
            first is None
            or first.group().casefold() in self.common
            or any(name.startswith(first.group()) for name in self.names)
        )
        return (
            is_known
            and len(sentence) <= _LONGEST_FOLLOWER
            and not any(mark in sentence for mark in ":;")
            and _POINTS_BACK.match(sentence) is None
        )


def joined(first: str, second: str, words: CorpusWords) -> str:
    """Two sentences as one."""
    if re.search(r"[。！]$", first):
        return f"{first[:-1]}；{second}"
    return f"{first.rstrip('.!')}; {words.uncapitalised(second)}"
