"""The context window: how long prompt and reply may be together, and the errors where they are longer."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from faithbot.errors import CallError
from faithbot.models.tokens import estimate_prompt_tokens

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from faithbot.models.protocol import ChatRequest, Reply

DEFAULT_CONTEXT = 4096
"""Tokens; what Ollama allots on a CPU when nobody asks for more."""

# llama-server and Ollama since 0.30; Ollama before; the public OpenAI API; vLLM
_OVERFLOW = re.compile(
    r"exceed_context_size|exceeds the context length|context_length_exceeded|maximum (context|model) length",
    re.IGNORECASE,
)


class ContextExceededError(Exception):
    """The prompt, or the prompt with its reply, did not fit. Internal to this room: callers see a CallError."""

    def __init__(self, prompt_tokens: int | None = None) -> None:
        super().__init__(prompt_tokens)
        self.prompt_tokens = prompt_tokens


class ContextWindow:
    """The context length to ask a server for: sized once, the same for all calls, grown only when a prompt needs it.

    A server reloads the model whenever the length changes, so lengths come in few sizes: powers of two and the
    halfway marks between them.
    """

    def __init__(self) -> None:
        self.limit: int | None = None
        """Longest context that the weights were trained for, in tokens; None as long as it is not known."""
        self._wanted = DEFAULT_CONTEXT

    @property
    def size(self) -> int:
        """Length to ask for, in tokens."""
        return self._wanted if self.limit is None else min(self._wanted, self.limit)

    def reserve(self, tokens: int) -> None:
        """Make room for ``tokens``, as far as the weights allow it; never shrinks."""
        self._wanted = max(self._wanted, _round_up(tokens))

    def grow(self, tokens: int) -> bool:
        """Make room for ``tokens`` and tell whether it is there."""
        if self.limit is not None and tokens > self.limit:
            return False
        self.reserve(tokens)
        return True

    async def answer(self, model: str, request: ChatRequest, call: Callable[[ChatRequest], Awaitable[Reply]]) -> Reply:
        """Make a call, and once more where its prompt needs more room than was reserved and the weights have that."""
        try:
            return await call(request)
        except ContextExceededError as error:
            needed = (error.prompt_tokens or estimate_prompt_tokens(request)) + request.options.max_tokens
            if not self.grow(needed):
                raise context_error(model, error.prompt_tokens, request, self.limit or self.size) from error
        try:
            return await call(request)
        except ContextExceededError as error:
            raise context_error(model, error.prompt_tokens, request, self.limit or self.size) from error


def context_error(model: str, prompt_tokens: int | None, request: ChatRequest, context: int | None) -> CallError:
    """One sentence with the numbers that are known and the cures."""
    prompt = "The prompt" if prompt_tokens is None else f"A prompt of {prompt_tokens} tokens"
    room = "the context" if context is None else f"the context of {context} tokens"
    return CallError(
        f"{prompt} + a reply of {request.options.max_tokens} exceeds {room} of {model}: fewer or shorter chunks "
        "(retrieval.top_k, chunking.size), or a model with a longer context."
    )


def overflow(body: Mapping[str, object]) -> ContextExceededError | None:
    """The overflow that an error body reports, if it is one; its message may itself be JSON in a string."""
    text = json.dumps(body)
    if not _OVERFLOW.search(text):
        return None
    tokens = re.search(r"n_prompt_tokens\D{1,6}(\d+)", text)
    return ContextExceededError(int(tokens[1]) if tokens else None)


def _round_up(tokens: int) -> int:
    size = DEFAULT_CONTEXT
    while size < tokens:
        half_more = size * 3 // 2
        size = half_more if half_more >= tokens else size * 2
    return size
