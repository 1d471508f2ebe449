"""Recognises answers that say, whole or in part, that they cannot answer; in the languages golden sets come in."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from faithbot.judge.lexicon import REFUSAL_SIGNS, pattern
from faithbot.judge.sentences import plain_text, states_fact
from faithbot.judge.splitting import split_sentences

if TYPE_CHECKING:
    from collections.abc import Iterator

_REFUSAL = pattern("refusal", "english", "other", "unspaced")
# "If you don't know the size, measure ..." gives advice; it does not refuse.
_CONDITIONAL = pattern("refusal", "conditional")
# What goes with a refusal and adds no fact to it.
_COURTESY = pattern("refusal", "courtesy")
# Where a refusal ends and an answer begins: "I do not know X, but Y".
_TURN = pattern("refusal", "turn")


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
        rest = _after_turn(sentence) if _is_refusal(sentence) else sentence
        bare = plain_text(rest)
        if bare and states_fact(bare) and not _COURTESY.match(bare.replace("’", "'")):
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
    if not any(sign in lowered for sign in REFUSAL_SIGNS):
        return False
    text = plain_text(sentence).replace("’", "'")
    return not _CONDITIONAL.match(text) and _REFUSAL.search(text) is not None


def _after_turn(sentence: str) -> str:
    """The part of a refusing sentence that goes on to state something; "" where none does."""
    for match in _TURN.finditer(sentence):
        before, after = sentence[: match.start()], sentence[match.end() :]
        if not _is_refusal(after) and _is_refusal(before):
            return after[:1].upper() + after[1:]
        if _is_refusal(after) and not _is_refusal(before) and states_fact(plain_text(before)):
            return before.rstrip(",; ") + "."
    return ""
