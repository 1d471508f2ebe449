"""``ollama/NAME``: a model of an Ollama server, through its native API.

The native API, not the OpenAI-compatible one, because only it takes the context length, tells the weights' digest, and
can be forbidden to cut a prompt that is too long.
"""

from __future__ import annotations

import asyncio
import difflib
import os
import re
import time
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError

from faithbot.errors import CallError, EvaluationError, UsageError
from faithbot.models.completions import first_problem
from faithbot.models.context import ContextWindow, overflow
from faithbot.models.ollama_address import server_url
from faithbot.models.ollama_names import listed_name
from faithbot.models.ollama_stream import StreamedReply
from faithbot.models.protocol import ModelIdentity
from faithbot.models.transport import Patience, RefusedError, Transport

if TYPE_CHECKING:
    from faithbot.models.protocol import ChatRequest, Reply

OLDEST_VERSION = (0, 12, 11)
"""The first that honours ``truncate: false`` and ``shift: false`` and gives logprobs."""

_KEEP_ALIVE = "30m"
"""Longer than judge and generator wait for each other; unlike -1 it frees the server's memory some time afterwards."""

_NOT_FOUND = 404


class OllamaModel:
    """A model of the server that ``OLLAMA_HOST`` names."""

    def __init__(self, name: str, *, host: str | None = None, patience: Patience | None = None) -> None:
        self.name = name
        self.parallel = _parallel(os.environ.get("OLLAMA_NUM_PARALLEL"))
        self._transport = Transport(
            server_url(os.environ.get("OLLAMA_HOST", "") if host is None else host),
            name="Ollama",
            cure="Start it with `ollama serve`, or name the right server in OLLAMA_HOST.",
            patience=patience,
        )
        self._window = ContextWindow()
        self._identity: ModelIdentity | None = None
        self._asking = asyncio.Lock()

    async def identity(self) -> ModelIdentity:
        """Digest of the model's manifest: weights, template, system prompt and parameters."""
        async with self._asking:
            if self._identity is None:
                self._identity = await self._ask_identity()
                self._window.limit = self._identity.context_length
            return self._identity

    def reserve(self, tokens: int) -> None:
        """Size ``num_ctx``; a later, larger call makes the server load the model again."""
        self._window.reserve(tokens)

    async def chat(self, request: ChatRequest) -> Reply:
        """Answer one request, in a longer context than reserved where the prompt needs it and the weights have it."""
        await self.identity()
        return await self._window.answer(self._label, request, self._answer)

    async def aclose(self) -> None:
        """Close the connections; the server unloads the model by itself."""
        await self._transport.aclose()

    @property
    def _label(self) -> str:
        return f"ollama/{self.name}"

    async def _answer(self, request: ChatRequest) -> Reply:
        started = time.perf_counter()
        context = self._window.size
        payload = _payload(self.name, request, context)

        async def attempt() -> StreamedReply:
            stream = StreamedReply()
            await self._transport.stream("/api/chat", payload, stream.add)
            return stream

        try:
            stream = await self._transport.persist(attempt)
        except RefusedError as error:
            raise self._refused(error) from error
        return stream.reply(self._label, request, context, time.perf_counter() - started)

    def _refused(self, error: RefusedError) -> Exception:
        if exceeded := overflow(error.body):
            return exceeded
        if error.status == _NOT_FOUND:
            return UsageError(f"{self._transport.place} has lost the model '{self.name}': {error}")
        return CallError(f"{self._transport.place} refuses the call of {self.name}: {error}")

    async def _ask_identity(self) -> ModelIdentity:
        try:
            version = _Version.model_validate(await self._transport.request("GET", "/api/version")).version
            self._check_version(version)
            tags = _Tags.model_validate(await self._transport.request("GET", "/api/tags")).models or []
            digests = {listed_name(tag.name): tag.digest for tag in tags}
            if (digest := digests.get(listed_name(self.name))) is None:
                raise self._missing(sorted(digests))
            details = _Details.model_validate(await self._transport.request("POST", "/api/show", {"model": self.name}))
        except (RefusedError, ValidationError) as error:
            reason = first_problem(error) if isinstance(error, ValidationError) else str(error)
            raise EvaluationError(f"{self._transport.place} does not answer as Ollama does: {reason}.") from error
        if details.capabilities and "completion" not in details.capabilities:
            raise UsageError(f"'{self.name}' cannot chat: it is a model for {', '.join(details.capabilities)}.")
        return ModelIdentity(provider="ollama", name=self.name, digest=digest, context_length=details.trained_context())

    def _check_version(self, version: str) -> None:
        numbers = tuple(int(part) for part in re.findall(r"\d+", version)[:3])
        if (0, 0, 0) != numbers < OLDEST_VERSION:  # 0.0.0 is a build from source
            oldest = ".".join(map(str, OLDEST_VERSION))
            raise UsageError(
                f"{self._transport.place} is version {version}: faithbot needs {oldest} or newer, because older "
                "ones cut long prompts without a word."
            )

    def _missing(self, present: list[str]) -> UsageError:
        near = difflib.get_close_matches(listed_name(self.name), present, n=3, cutoff=0.5) or present[:5]
        names = ", ".join(name.removesuffix(":latest") for name in near)
        hint = f"It has {names}." if names else "It has no models yet."
        return UsageError(
            f"model '{self.name}' is not on the server ({self._transport.place}): ollama pull {self.name}. {hint}"
        )


class _Version(BaseModel):
    version: str


class _Tag(BaseModel):
    name: str
    digest: str


class _Tags(BaseModel):
    models: list[_Tag] | None = None


class _Details(BaseModel):
    capabilities: list[str] | None = None
    model_info: dict[str, Any] = {}

    def trained_context(self) -> int | None:
        value = self.model_info.get(f"{self.model_info.get('general.architecture')}.context_length")
        return value if isinstance(value, int) else None


def _parallel(value: str | None) -> int:
    """Calls that the server works on at once: Ollama's default is one, and further ones only queue."""
    return int(value) if value and value.isdecimal() and int(value) > 0 else 1


def _payload(model: str, request: ChatRequest, context: int) -> dict[str, Any]:
    options = request.options
    payload: dict[str, Any] = {
        "model": model,
        "messages": [message.model_dump() for message in request.messages],
        "stream": True,
        "think": False,
        "truncate": False,
        "shift": False,
        "keep_alive": _KEEP_ALIVE,
        # Everything that a model's own PARAMETERs could otherwise decide.
        "options": {
            "temperature": options.temperature,
            "top_p": options.top_p,
            "top_k": options.top_k,
            "min_p": 0.0,
            "typical_p": 1.0,
            "repeat_penalty": options.repeat_penalty,
            "repeat_last_n": 64,
            "presence_penalty": 0.0,
            "frequency_penalty": 0.0,
            "seed": request.seed,
            "num_predict": options.max_tokens,
            "num_ctx": context,
        },
    }
    if request.json_schema is not None:
        payload["format"] = request.json_schema
    if request.top_logprobs:
        payload |= {"logprobs": True, "top_logprobs": request.top_logprobs}
    return payload
