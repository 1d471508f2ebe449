"""Requests that the tests of models share."""

from __future__ import annotations

from typing import Any

from faithbot.models.protocol import ChatRequest, Message, SamplingOptions
from faithbot.models.transport import Patience

QUICK = Patience(first_wait=0.01, jitter=0.0)
"""The same number of tries, without the waiting."""

YES_OR_NO = {"type": "object", "properties": {"answer": {"enum": ["yes", "no"]}}, "required": ["answer"]}


def ask(text: str, *, temperature: float = 0.0, max_tokens: int = 8, **fields: Any) -> ChatRequest:
    options = SamplingOptions(temperature=temperature, max_tokens=max_tokens)
    return ChatRequest(messages=(Message(role="user", content=text),), options=options, **fields)
