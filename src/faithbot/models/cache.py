"""The cache of model calls: each distinct call is made once, ever, and survives whatever ends the process."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import tempfile
import time
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from faithbot.errors import EvaluationError, UsageError
from faithbot.models.files import TEMPORARY_SUFFIX, replacing
from faithbot.models.protocol import Reply

if TYPE_CHECKING:
    from pathlib import Path

    from faithbot.models.protocol import ChatRequest, Model, ModelIdentity

FORMAT = 1
"""Part of every key: replies of an older format are never read."""

_STALE = 3600.0
"""Seconds after which a temporary file has no writer any more."""


def request_key(identity: ModelIdentity, request: ChatRequest) -> str:
    """SHA-256 of everything that decides a reply. Two requests with the same key are the same call."""
    return _digest(_key(identity, request))


class CachedModel:
    """A model whose replies are kept in ``folder``, one JSON file a call; a model to its caller.

    A file appears under its name only once it is whole, and carries its key and a checksum, so that neither a process
    killed at any moment nor a damaged disk can give a wrong reply: what cannot be trusted is asked again.
    """

    def __init__(self, model: Model, folder: Path, busy: BusyClock | None = None) -> None:
        self._model = model
        self._folder = folder / "calls"
        self._flights: dict[str, asyncio.Task[Reply]] = {}
        self._busy = busy or BusyClock()  # one clock for several models measures when any of them worked
        self.calls = 0
        """Calls that the model was really asked."""
        self.hits = 0
        """Calls that were answered from the cache, or by an identical call in flight."""
        _prepare(self._folder)

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
        name = _digest(key)
        flight = self._flights.get(name)
        if flight is None:
            if (kept := self._read(name, key)) is not None:
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

        flight = asyncio.create_task(self._call(name, key, request))
        self._flights[name] = flight
        flight.add_done_callback(landed)
        return flight

    async def _call(self, name: str, key: dict[str, Any], request: ChatRequest) -> Reply:
        self.calls += 1
        with self._busy:
            reply = await self._model.chat(request)
        self._write(name, key, reply)
        return reply

    def _path(self, name: str) -> Path:
        return self._folder / name[:2] / f"{name}.json"

    def _read(self, name: str, key: dict[str, Any]) -> Reply | None:
        try:
            record = json.loads(self._path(name).read_bytes())
            if record["key"] != key or record["checksum"] != _digest(record["reply"]):
                return None
            return Reply.model_validate(record["reply"]).model_copy(update={"cached": True})
        except (OSError, ValueError, KeyError, TypeError, ValidationError):
            return None

    def _write(self, name: str, key: dict[str, Any], reply: Reply) -> None:
        value = reply.model_dump(mode="json", exclude={"cached"})
        record = {"key": key, "reply": value, "checksum": _digest(value)}
        path = self._path(name)
        try:
            if not path.parent.exists():
                path.parent.mkdir(parents=True, exist_ok=True)
            with replacing(path, self._folder) as temporary:
                temporary.write_bytes(json.dumps(record).encode())
        except OSError as error:
            raise EvaluationError(
                f"cannot write to the cache {self._folder}: {error.strerror}. Free some space, or name another folder."
            ) from error


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


def _digest(value: dict[str, Any]) -> str:
    # Not sorted: the order of a schema's properties decides the order in which the model writes them.
    return hashlib.sha256(json.dumps(value, separators=(",", ":")).encode()).hexdigest()


def _prepare(folder: Path) -> None:
    """Make the folder, make sure that it can be written to, and remove what killed writers left."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
        for leftover in folder.glob(f"*{TEMPORARY_SUFFIX}"):
            with contextlib.suppress(FileNotFoundError):  # another process cleans up as well
                if time.time() - leftover.stat().st_mtime > _STALE:
                    leftover.unlink()
    except OSError as error:
        raise UsageError(f"the cache folder {folder} cannot be written to: {error.strerror}. Name another.") from error
