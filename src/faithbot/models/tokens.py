"""How many tokens a text has, without knowing the tokeniser."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from faithbot.models.protocol import ChatRequest

_BYTES_PER_TOKEN = 2.5
_TOKENS_PER_MESSAGE = 16


def estimate_tokens(text: str) -> int:
    """How many tokens ``text`` has at most, for sizing a context: one for every 2.5 bytes of UTF-8.

    English prose has 4 to 5 bytes a token; other languages, code and tables seldom have less than 2.5. Text made of
    rare symbols can exceed the estimate.
    """
    return round(len(text.encode("utf-8", "surrogatepass")) / _BYTES_PER_TOKEN) + 1


def estimate_prompt_tokens(request: ChatRequest) -> int:
    """:func:`estimate_tokens` of all messages, with what a chat template adds to each of them."""
    return sum(estimate_tokens(message.content) + _TOKENS_PER_MESSAGE for message in request.messages)
