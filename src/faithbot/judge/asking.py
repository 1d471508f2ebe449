"""How a judge puts a prompt to its model: one message, the likeliest reply, and how likely its beginning was."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from faithbot.errors import CallError
from faithbot.models.protocol import ChatRequest, Message, SamplingOptions

if TYPE_CHECKING:
    from faithbot.models.protocol import Model, TokenLogprob

_ALTERNATIVES = 20
"""The most that any backend reports."""


def judging_request(
    prompt: str, max_tokens: int, repeat: int, json_schema: dict[str, Any] | None = None
) -> ChatRequest:
    """The likeliest reply to a prompt; each ``repeat`` (1, 2, ...) is a new draw."""
    return ChatRequest(
        messages=(Message(role="user", content=prompt),),
        options=SamplingOptions(temperature=0.0, max_tokens=max_tokens),
        seed=repeat - 1,
        run=repeat,
        json_schema=json_schema,
    )


class FirstToken:
    """Asks for the first token of a reply and what else it might have been."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._is_told = True
        """Until the backend has shown that it reports no probabilities."""

    async def ask(self, prompt: str, repeat: int) -> TokenLogprob | None:
        """None where the backend reports no probabilities or refuses to."""
        if not self._is_told:
            return None
        try:
            request = judging_request(prompt, 1, repeat).model_copy(update={"top_logprobs": _ALTERNATIVES})
            reply = await self._model.chat(request)
        except CallError:
            return None
        self._is_told = reply.logprobs is not None
        return reply.logprobs[0] if reply.logprobs else None
