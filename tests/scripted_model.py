"""A model that replays queued replies and fails when they run out: for what no real model does on demand."""

from __future__ import annotations

import math
from collections import deque
from typing import TYPE_CHECKING, Literal

from faithbot.models.protocol import ChatRequest, ModelIdentity, Reply, TokenLogprob

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Finish = Literal["stop", "length"]


class ScriptedModel:
    """A reply is a text, an error to raise, or the probabilities of the first token."""

    parallel = 1

    def __init__(
        self,
        replies: Iterable[str | Exception | Mapping[str, float]] = (),
        *,
        digest: str = "d0",
        finish: Finish = "stop",
        provider: str = "test",
        context_length: int | None = None,
    ) -> None:
        self.replies = deque(replies)
        self.finish: Finish = finish
        self.requests: list[ChatRequest] = []
        self.reserved = 0
        self._identity = ModelIdentity(provider=provider, name="scripted", digest=digest, context_length=context_length)

    async def identity(self) -> ModelIdentity:
        return self._identity

    def reserve(self, tokens: int) -> None:
        self.reserved = max(self.reserved, tokens)

    async def chat(self, request: ChatRequest) -> Reply:
        self.requests.append(request)
        reply = self.replies.popleft()
        if isinstance(reply, Exception):
            raise reply
        if isinstance(reply, str):
            return Reply(text=reply, finish=self.finish, seconds=0.1)
        assert request.top_logprobs, "probabilities were not asked for"
        logprobs = {token: math.log(probability) for token, probability in reply.items()}
        likeliest = max(logprobs, key=logprobs.__getitem__)
        token = TokenLogprob(token=likeliest, logprob=logprobs[likeliest], alternatives=logprobs)
        return Reply(text=likeliest, finish="length", logprobs=(token,), seconds=0.1)

    async def aclose(self) -> None:
        assert not self.replies, f"{len(self.replies)} replies were never asked for"
