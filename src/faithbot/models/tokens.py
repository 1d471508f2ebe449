"""How many tokens a text has, without knowing the tokeniser."""

from __future__ import annotations

import string
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from faithbot.models.protocol import ChatRequest

_WORDS = (string.ascii_letters + string.whitespace).encode()
_ASCII = bytes(range(128))
_BYTES_PER_TOKEN_IN_WORDS = 2.5
_BYTES_PER_TOKEN_BEYOND_ASCII = 1.25
_TOKENS_PER_MESSAGE = 16
_TOKENS_OF_A_SYSTEM_MESSAGE = 32
"""A model may put one of its own before ours: SmolLM2's has 21."""


def estimate_tokens(text: str) -> int:
    """How many tokens ``text`` has at most, for sizing a context.

    One for every 2.5 bytes of ASCII letters and white space, for each digit and punctuation mark, and for every 1.25
    bytes of other UTF-8. Against SmolLM2's small English vocabulary, a bad case, that is 1.8 times the real count for
    English prose, 1.3 to 1.6 for Markdown, tables, JSON and code, and 1.0 to 1.8 for German, Finnish, Russian, Hindi,
    Arabic and Chinese. Only random strings (hashes, keys) have more tokens than this.
    """
    data = text.encode("utf-8", "surrogatepass")
    symbols = data.translate(None, _WORDS)
    foreign = len(symbols.translate(None, _ASCII))
    words, marks = len(data) - len(symbols), len(symbols) - foreign
    return round(words / _BYTES_PER_TOKEN_IN_WORDS + marks + foreign / _BYTES_PER_TOKEN_BEYOND_ASCII) + 1


def estimate_prompt_tokens(request: ChatRequest) -> int:
    """:func:`estimate_tokens` of all messages, with what a chat template adds to each of them and before the first."""
    own = sum(estimate_tokens(message.content) + _TOKENS_PER_MESSAGE for message in request.messages)
    return _TOKENS_OF_A_SYSTEM_MESSAGE + own
