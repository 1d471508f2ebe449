"""A model that replays queued replies and fails when they run out: for what no real model does on demand."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Literal

from faithbot.models.protocol import ChatRequest, ModelIdentity, Reply

if TYPE_CHECKING:
    from collections.abc import Iterable

Finish = Literal["stop", "length"]


class ScriptedModel:
    def __init__(self, replies: Iterable[str | Exception] = (), *, digest: str = "d0", finish: Finish = "stop") -> None:
        self.replies = deque(replies)
        self.digest = digest
        self.finish: Finish = finish
        self.requests: list[ChatRequest] = []
        self.reserved = 0

    async def identity(self) -> ModelIdentity:
        return ModelIdentity(provider="test", name="scripted", digest=self.digest)

    def reserve(self, tokens: int) -> None:
        self.reserved = max(self.reserved, tokens)

    async def chat(self, request: ChatRequest) -> Reply:
        self.requests.append(request)
        reply = self.replies.popleft()
        if isinstance(reply, Exception):
            raise reply
        return Reply(text=reply, finish=self.finish, seconds=0.1)

    async def aclose(self) -> None:
        assert not self.replies, f"{len(self.replies)} replies were never asked for"
