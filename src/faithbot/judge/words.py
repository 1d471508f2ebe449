"""Text to comparable tokens: inflection-insensitive, for scripts with and without spaces."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from faithbot.judge.dates import BETWEEN_DAY_AND_MONTH, ORDINAL_ENDINGS, is_day, months_in_digits
from faithbot.judge.lexicon import (
    EXCLUSIVE,
    IRREGULAR,
    MONTHS,
    NEGATING_CHARACTERS,
    NEGATORS,
    NOT_NEGATING,
    NUMBER_SCALES,
    NUMBER_WORDS,
    STOP_WORDS,
    SYNONYMS,
    UNITS,
    UNSTEMMED,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

_TOKEN = re.compile(r"\d+(?:[.,'’]\d+)*|[^\W\d_]+(?:['’][^\W\d_]+)?")
_ASCII_TOKEN = re.compile(r"[A-Za-z]+(?:'[A-Za-z]+)?|[0-9]+(?:[.,'][0-9]+)*")
"""Finds the same in plain ASCII, twice as fast."""
# Scripts written without spaces, and Hangul, whose particles stick to the word: both compare best as character pairs.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff々]+"
)
_AFTER_NUMBER = UNITS.keys() | NUMBER_SCALES.keys() | ORDINAL_ENDINGS
_HIRAGANA = re.compile("[\u3040-\u309f]+")
_SUFFIXES = ("ingly", "edly", "ings", "ing", "ied", "ies", "ed", "es", "ly", "s", "e")


class Token(NamedTuple):
    """A word, number or character pair of a text."""

    key: str
    """What is compared: stem, ``#value`` of a number, or a pair of characters."""
    form: str
    """The folded surface form."""
    is_content: bool
    is_name: bool
    """Written with a capital where the script has them."""
    start: int
    """Character offset in the text."""


@lru_cache(maxsize=65536)
def fold(word: str) -> str:
    """Casefold, and drop accents and a possessive ending."""
    folded = word.casefold()
    if not folded.isascii():
        folded = folded.replace("’", "'")
        decomposed = unicodedata.normalize("NFKD", folded)
        folded = "".join(character for character in decomposed if not unicodedata.combining(character))
        folded = unicodedata.normalize("NFC", folded)
    return folded.removesuffix("'s").replace("'", "")


@lru_cache(maxsize=65536)
def stem(form: str) -> str:
    """Strip the inflection of a folded word; light, so that distinct words stay apart."""
    base = IRREGULAR.get(form)
    if base is not None:
        return stem(base)
    if len(form) <= 3 or form in UNSTEMMED:
        return form
    for suffix in _SUFFIXES:
        if form.endswith(suffix) and len(form) - len(suffix) >= 3 and not form.endswith("ss"):
            form = form[: -len(suffix)] + ("y" if suffix in ("ied", "ies") else "")
            break
    if len(form) > 3 and form[-1] == form[-2] and form[-1] not in "aeious":
        form = form[:-1]
    return form[:-1] if len(form) > 3 and form[-1] == "e" else form


_SYNONYM_KEYS: dict[str, tuple[str, ...]] = {}
for _number, _group in enumerate(SYNONYMS):
    for _word in _group:
        _key = stem(fold(_word))
        _SYNONYM_KEYS[_key] = (*_SYNONYM_KEYS.get(_key, ()), f"~{_number}")


def word_key(word: str) -> str:
    """Key of a folded word."""
    return word if word in STOP_WORDS else stem(word)


EXCLUSIVE_KEYS = {word_key(word): frozenset(map(word_key, others)) for word, others in EXCLUSIVE.items()}
"""Key of a word to the keys of those that cannot hold in its place: opposites, weekdays, months, directions."""


@lru_cache(maxsize=65536)
def related_keys(key: str) -> tuple[str, ...]:
    """Keys under which a token also matches, at less credit: synonym groups, and the first letters of a long word."""
    prefix = (f"{key[:6]}*",) if len(key) >= 7 else ()
    return prefix + _SYNONYM_KEYS.get(key, ())


def number_key(digits: str) -> str:
    """Comparable key of a number as written: ``1,000`` and ``1000`` give the same."""
    plain = digits.replace("'", "").replace("’", "")
    if re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", plain):
        plain = plain.replace(",", "")
    plain = plain.replace(",", ".")
    if plain.count(".") > 1:
        return f"#{plain.replace('.', '')}"
    return f"#{plain.rstrip('0').rstrip('.')}" if "." in plain else f"#{plain.lstrip('0') or '0'}"


@lru_cache(maxsize=65536)
def _analyse(word: str) -> tuple[str, str, bool]:
    """Key, folded form and whether the word carries content."""
    if word[0].isdecimal():
        return number_key(word), word, True
    form = fold(word)
    if form in STOP_WORDS or not form:
        return form, form, False
    if form in NUMBER_WORDS:
        return f"#{NUMBER_WORDS[form]}", form, True
    return stem(form), form, len(form) > 1


@lru_cache(maxsize=65536)
def _content_key(word: str) -> str:
    key, _, is_content = _analyse(word)
    return key if is_content else ""


@lru_cache(maxsize=8192)
def tokenize(text: str) -> tuple[Token, ...]:
    """Tokens of a sentence in order. Runs of an unspaced script give overlapping character pairs.

    An ISO date gives those of a date written out: the name of the month, the day, the year.
    """
    tokens = []
    months = months_in_digits(text) if "-" in text else {}
    for match in (_ASCII_TOKEN if text.isascii() else _TOKEN).finditer(text):
        word = months.get(match.start(), match.group())
        if not word.isascii() and _UNSPACED.search(word):
            tokens.extend(_split_unspaced(word, match.start()))
            continue
        key, form, is_content = _analyse(word)
        tokens.append(Token(key, form, is_content, word[0].isupper(), match.start()))
    for index in [index for index, token in enumerate(tokens) if token.start in months] if months else ():
        year, month, day = tokens[index - 1 : index + 2]
        tokens[index - 1 : index + 2] = month, day, year
    return tuple(tokens)


def content_keys(text: str) -> set[str]:
    """The keys of the content words of a text, without building tokens: what an index over contexts needs."""
    if not text.isascii() and _UNSPACED.search(text):
        return {token.key for token in tokenize(text) if token.is_content}
    words = (_ASCII_TOKEN if text.isascii() else _TOKEN).findall(text)
    keys = set(map(_content_key, words))
    if "-" in text:
        keys.update(map(_content_key, months_in_digits(text).values()))
    keys.discard("")
    return keys


def _split_unspaced(word: str, offset: int) -> list[Token]:
    tokens = []
    position = 0
    for run in _UNSPACED.finditer(word):
        tokens.extend(_spaced_piece(word[position : run.start()], offset + position))
        characters = run.group()
        for index in range(max(1, len(characters) - 1)):
            pair = characters[index : index + 2]
            # Japanese writes its grammar in hiragana: such pairs are its function words.
            tokens.append(Token(pair, pair, not _HIRAGANA.fullmatch(pair), False, offset + run.start() + index))
        position = run.end()
    tokens.extend(_spaced_piece(word[position:], offset + position))
    return tokens


def _spaced_piece(word: str, offset: int) -> list[Token]:
    if not word:
        return []
    key, form, is_content = _analyse(word)
    return [Token(key, form, is_content, word[0].isupper(), offset)]


def content_tokens(tokens: Sequence[Token]) -> list[Token]:
    """The content words among tokens.

    Numbers are left out, and so are the units after them and the months of days: they are compared by value.
    """
    kept = []
    after_number = False
    for index, token in enumerate(tokens):
        if not token.is_content:
            after_number = False
        elif token.key[0] == "#":
            after_number = True
        else:
            is_unit = after_number and token.form in _AFTER_NUMBER
            if not is_unit and not (token.form in MONTHS and _is_of_day(tokens, index)):
                kept.append(token)
            after_number = False
    return kept


def _is_of_day(tokens: Sequence[Token], index: int) -> bool:
    """Whether the month at an index has the number of a day after or before it."""
    if index + 1 < len(tokens) and _is_day_number(tokens[index + 1]):
        return True
    before = index - 1
    for between in (BETWEEN_DAY_AND_MONTH, ORDINAL_ENDINGS):
        before -= before >= 0 and tokens[before].form in between
    return before >= 0 and _is_day_number(tokens[before])


def _is_day_number(token: Token) -> bool:
    return token.key.startswith("#") and is_day(float(token.key[1:]))


def content_words(text: str) -> list[str]:
    """Keys of the words that carry a fact, in order, repetitions kept."""
    return [token.key for token in tokenize(text) if token.is_content]


def is_negated(text: str) -> bool:
    """Whether the text denies something. Phrases such as "not only" deny nothing."""
    if not text.isascii() and any(characters in text for characters in NEGATING_CHARACTERS):
        return True
    if not any(is_negator(token) for token in tokenize(text)):
        return False
    lowered = text.casefold()
    for phrase in NOT_NEGATING:
        lowered = lowered.replace(phrase, " ")
    return any(is_negator(token) for token in tokenize(lowered))


def is_negator(token: Token) -> bool:
    """Whether a token denies."""
    return token.form in NEGATORS
