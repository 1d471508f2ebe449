"""Writes replies into a cache until it is killed: ``cache_writer.py FOLDER FIRST``."""

from __future__ import annotations

import asyncio
import itertools
import sys
from pathlib import Path

from model_requests import ask

from faithbot.models.cache import CachedModel
from faithbot.models.protocol import ChatRequest, ModelIdentity, Reply

LONG = "reply " * 200_000


class Echo:
    """Replies with the question and a text that takes some time to write."""

    parallel = 1

    async def identity(self) -> ModelIdentity:
        return ModelIdentity(provider="test", name="echo", digest="d0")

    def reserve(self, tokens: int) -> None:
        pass

    async def chat(self, request: ChatRequest) -> Reply:
        return Reply(text=request.messages[0].content + LONG, finish="stop")

    async def aclose(self) -> None:
        pass


async def write_forever(folder: Path, first: int) -> None:
    model = CachedModel(Echo(), folder)
    for number in itertools.count(first):
        await model.chat(ask(str(number)))
        print(number, flush=True)


if __name__ == "__main__":
    asyncio.run(write_forever(Path(sys.argv[1]), int(sys.argv[2])))
