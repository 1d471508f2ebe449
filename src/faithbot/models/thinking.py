"""Thinking models put their reasoning before the answer: only the answer is the reply."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from faithbot.models.protocol import TokenLogprob

# Forms seen: a tagged block; a block that the token limit cut off; a lone closing tag; and, where the chat template
# already opened the block, reasoning up to a closing tag on a line of its own.
_THINKING = re.compile(
    r"\s*(?:<think>.*?(?:</think>\s*|\Z)|</think>\s*|(?:(?!<think>).)*?\n</think>[ \t]*(?:\n\s*|\Z))", re.DOTALL
)


def visible_reply(text: str, logprobs: tuple[TokenLogprob, ...] | None) -> tuple[str, tuple[TokenLogprob, ...] | None]:
    """The reply without its thinking, and the tokens that make up what is left."""
    thinking = _THINKING.match(text)
    if thinking is None:
        return text, logprobs
    return text[thinking.end() :], logprobs and _tokens_from(logprobs, thinking.end())


def _tokens_from(logprobs: tuple[TokenLogprob, ...], start: int) -> tuple[TokenLogprob, ...]:
    position = 0
    for index, token in enumerate(logprobs):
        if position >= start:
            return logprobs[index:]
        position += len(token.token)
    return ()
