"""Answers that no judge has to read: those that say nothing, and those that say that they cannot answer."""

from __future__ import annotations

from faithbot.judge.abstention import is_abstention
from faithbot.judge.protocol import Judgement


def unjudged(answer: str) -> Judgement | None:
    """Of an empty answer or an abstention, whatever its contexts; None where there is something to judge."""
    if not answer.strip():
        return Judgement(unscored="the answer is empty")
    return Judgement(abstained=True) if is_abstention(answer) else None
