"""The cache of model calls: each distinct call is made once, ever, and survives whatever ends the process."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from faithbot.models.kept import KeptReplies, digest
from faithbot.models.protocol import Reply

if TYPE_CHECKING:
    from pathlib import Path

    from faithbot.models.protocol import ChatRequest, Model, ModelIdentity

FORMAT = 1
"""Part of every key: replies of an older format are never read."""


def request_key(identity: ModelIdentity, request: ChatRequest) -> str:
    """SHA-256 of everything that decides a reply. Two requests with the same key are the same call."""
    return digest(_key(identity, request))


class CachedModel:
    """A model whose replies are kept in ``folder``, one JSON file a call; a model to its caller."""

    def __init__(self, model: Model, folder: Path, busy: BusyClock | None = None) -> None:
        self._model = model
        self._kept = KeptReplies(folder / "calls")
        self._flights: dict[str, asyncio.Task[Reply]] = {}
        self._busy = busy or BusyClock()  # one clock for several models measures when any of them worked
        self.calls = 0
        """Calls that the model was really asked."""
        self.hits = 0
        """Calls that were answered from the cache, or by an identical call in flight."""

    @property
    def parallel(self) -> int:
        """Calls that the model works on at once."""
        return self._model.parallel

    async def identity(self) -> ModelIdentity:
        """The model's own."""
        return await self._model.identity()

    def reserve(self, tokens: int) -> None:
        """The model's own."""
        self._model.reserve(tokens)

    async def chat(self, request: ChatRequest) -> Reply:
        """The kept reply, or else the model's. An error is not kept; it reaches all who wait for the same call."""
        key = _key(await self._model.identity(), request)
        name = digest(key)
        flight = self._flights.get(name)
        if flight is None:
            if (kept := self._read(key)) is not None:
                self.hits += 1
                return kept
            return await asyncio.shield(self._start(name, key, request))
        reply = await asyncio.shield(flight)
        self.hits += 1
        return reply.model_copy(update={"cached": True})

    async def aclose(self) -> None:
        """Drop the calls in flight and close the model."""
        flights = list(self._flights.values())
        for flight in flights:
            flight.cancel()
        await asyncio.gather(*flights, return_exceptions=True)
        await self._model.aclose()

    def _start(self, name: str, key: dict[str, Any], request: ChatRequest) -> asyncio.Task[Reply]:
        """The call as a task of its own: a caller that goes away does not take it from the others."""

        def landed(flight: asyncio.Task[Reply]) -> None:
            del self._flights[name]
            if not flight.cancelled():
                flight.exception()  # seen, even where every caller has gone away

        flight = asyncio.create_task(self._call(key, request))
        self._flights[name] = flight
        flight.add_done_callback(landed)
        return flight

    async def _call(self, key: dict[str, Any], request: ChatRequest) -> Reply:
        self.calls += 1
        with self._busy:
            reply = await self._model.chat(request)
        self._kept.write(key, reply.model_dump(mode="json", exclude={"cached"}))
        return reply

    def _read(self, key: dict[str, Any]) -> Reply | None:
        try:
            kept = self._kept.read(key)
            return None if kept is None else Reply.model_validate(kept).model_copy(update={"cached": True})
        except ValidationError:
            return None


class BusyClock:
    """Measures how long at least one of several overlapping spans was open. Enter and exit it for each span."""

    def __init__(self) -> None:
        self._open = 0
        self._since = 0.0
        self._closed_seconds = 0.0

    def __enter__(self) -> None:
        if self._open == 0:
            self._since = time.perf_counter()
        self._open += 1

    def __exit__(self, *_: object) -> None:
        self._open -= 1
        if self._open == 0:
            self._closed_seconds += time.perf_counter() - self._since

    @property
    def seconds(self) -> float:
        """Seconds so far, a span that is still open included."""
        return self._closed_seconds + (time.perf_counter() - self._since if self._open else 0.0)


def _key(identity: ModelIdentity, request: ChatRequest) -> dict[str, Any]:
    """The model's name is left out: the digest says which weights it is."""
    return {
        "format": FORMAT,
        "provider": identity.provider,
        "model": identity.digest,
        **request.model_dump(mode="json"),
    }
