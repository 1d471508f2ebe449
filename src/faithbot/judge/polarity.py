"""What a claim denies and a passage states, or the other way round."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faithbot.judge.lexicon import FLAT_NEGATORS
from faithbot.judge.words import Token, is_negator

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet


def contested(claim: Sequence[Token], passage: Sequence[Token]) -> set[str]:
    """Keys of the words that one side flatly denies and the other side states without any negator."""
    return _denied_alone(claim, passage) | _denied_alone(passage, claim)


def agrees(claim: Sequence[Token], passage: Sequence[Token], keys: AbstractSet[str]) -> bool:
    """Whether a passage holds contested words, and denies them where the claim does, and only there.

    A passage with a negator that denies another word states nothing for sure.
    """
    denied = {token.key for token in _denied(passage)}
    if not keys <= {token.key for token in passage}:
        return False
    if keys.isdisjoint(token.key for token in _denied(claim)):
        return not any(map(is_negator, passage))
    return keys <= denied


def _denied_alone(tokens: Sequence[Token], other: Sequence[Token]) -> set[str]:
    """Keys that the tokens deny, and nowhere state, and that the other tokens hold without a negator."""
    if any(map(is_negator, other)):
        return set()
    denied = _denied(tokens)
    stated = {token.key for token in tokens if token not in denied}
    return ({token.key for token in denied} - stated) & {token.key for token in other}


def _denied(tokens: Sequence[Token]) -> list[Token]:
    """The first content word after each flat denial; "not only" and "if not" deny nothing."""
    found = []
    denied = False
    forms = ["", *(token.form for token in tokens), ""]
    for token, before, after in zip(tokens, forms, forms[2:], strict=False):
        if token.form in FLAT_NEGATORS:
            denied = after not in ("only", "just") and before not in ("if", "or", "whether")
        elif denied and token.is_content:
            found.append(token)
            denied = False
    return found
