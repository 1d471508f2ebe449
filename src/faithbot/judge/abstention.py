"""Recognises answers that say, whole or in part, that they cannot answer; in the languages golden sets come in."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from faithbot.judge.lexicon import REFUSAL_SIGNS, refusal_in, refusal_pattern
from faithbot.judge.sentences import plain_text, states_fact
from faithbot.judge.splitting import split_sentences

if TYPE_CHECKING:
    from collections.abc import Iterator


def is_abstention(answer: str) -> bool:
    """Whether the answer says that it cannot answer and states nothing besides.

    A follow-up offer, an apology or the advice to ask elsewhere does not turn a refusal into an answer. What a document
    denies ("the warranty does not cover water damage") is no refusal.
    """
    return _refuses(answer) and not without_abstention(answer)


def without_abstention(answer: str) -> str:
    """What the answer states besides refusing: "I do not know X, but Y." gives "Y.".

    Unchanged where it refuses nothing. Where a part refuses, courtesies that go with it are left out, too; "" where
    nothing else is stated.
    """
    if not _refuses(answer):
        return answer
    kept: list[str] = []
    for sentence in _sentences(answer):
        rest = _stated_beside(sentence) if _is_refusal(sentence) else sentence
        bare = plain_text(rest)
        if bare and states_fact(bare) and not refusal_pattern("courtesy").match(bare.replace("’", "'")):
            kept.append(rest)
    return "\n".join(kept)


def _refuses(answer: str) -> bool:
    return any(_is_refusal(sentence) for sentence in _sentences(answer))


def _sentences(answer: str) -> Iterator[str]:
    for span in split_sentences(answer):
        yield answer[span.start : span.end]


@lru_cache(maxsize=4096)
def _is_refusal(sentence: str) -> bool:
    lowered = sentence.casefold()
    languages = [name for name, signs in REFUSAL_SIGNS.items() if any(sign in lowered for sign in signs)]
    if not languages:
        return False
    text = plain_text(sentence).replace("’", "'")
    return not refusal_pattern("conditional").match(text) and any(refusal_in(name).search(text) for name in languages)


def _stated_beside(sentence: str) -> str:
    """What a refusing sentence states before or after it refuses; "" where that is nothing."""
    ends = [match.end() for match in refusal_pattern("turn").finditer(sentence)]
    if concession := refusal_pattern("concession").match(sentence):
        ends.insert(0, concession.end())
    for end in ends:
        if _is_refusal(sentence[:end]) and not _is_refusal(sentence[end:]):
            return sentence[end : end + 1].upper() + sentence[end + 1 :]
    starts = (match.start() for name in ("turn", "addition") for match in refusal_pattern(name).finditer(sentence))
    for start in starts:
        before, after = sentence[:start], sentence[start:]
        if _is_refusal(after) and not _is_refusal(before) and states_fact(plain_text(before)):
            return before.rstrip(",; ") + "."
    return ""
