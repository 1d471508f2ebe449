"""``embedded/NAME``: a GGUF file served by llama.cpp inside this process: no server to start, no key, no network."""

from __future__ import annotations

import asyncio
import importlib
import os
from typing import TYPE_CHECKING, Any

from faithbot.errors import UsageError
from faithbot.models.completions import ChatCompletions
from faithbot.models.context import ContextExceededError, ContextWindow
from faithbot.models.gguf import content_digest, locate, trained_context
from faithbot.models.protocol import ModelIdentity

if TYPE_CHECKING:
    from pathlib import Path

    from faithbot.models.protocol import ChatRequest, Reply

_PROMPT_CACHE = 1024
"""MiB. Prompts read before are continued from here; llama.cpp's own 8 GiB would fill a small machine."""

_QUIET = -1


class EmbeddedModel:
    """``name`` is a packaged model (``smollm2-135m``) or a ``.gguf`` file of the models' folder, see gguf.locate().

    Needs ``faithbot[embedded]``.
    """

    parallel = 1
    """A second slot gains nothing on a CPU: the cores are busy with one call, and memory would double."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._engine = _engine()
        self._window = ContextWindow()
        self._identity: ModelIdentity | None = None
        self._server: _Server | None = None
        self._identifying = asyncio.Lock()
        self._starting = asyncio.Lock()

    async def identity(self) -> ModelIdentity:
        """SHA-256 of the file. Downloads a packaged model that is not there yet, but loads nothing."""
        async with self._identifying:
            if self._identity is None:
                self._identity = await asyncio.to_thread(_identify, self.name)
                self._window.limit = self._identity.context_length
            return self._identity

    def reserve(self, tokens: int) -> None:
        """Size the context; a later, larger call loads the model again."""
        self._window.reserve(tokens)

    async def chat(self, request: ChatRequest) -> Reply:
        """Answer one request, in a longer context than reserved where the prompt needs it and the weights have it."""
        await self.identity()
        return await self._window.answer(f"embedded/{self.name}", request, self._answer)

    async def aclose(self) -> None:
        """Stop the server and free the weights."""
        if self._server is not None:
            await self._server.aclose()
            self._server = None

    async def _answer(self, request: ChatRequest) -> Reply:
        server = await self._current_server()
        server.calls += 1
        try:
            reply = await server.completions.create(self.name, request, _own_fields(request))
        finally:
            server.calls -= 1
            if server is not self._server and not server.calls:
                await server.aclose()
        if reply.finish == "length" and (reply.output_tokens or 0) < request.options.max_tokens:
            raise ContextExceededError(reply.prompt_tokens)  # the end of the context, not max_tokens, ended it
        return reply

    async def _current_server(self) -> _Server:
        """A server with the context that is wanted now; one with a shorter context ends with its last call."""
        async with self._starting:
            server = self._server
            if server is None or server.context < self._window.size:
                if server is not None and not server.calls:
                    await server.aclose()
                server = self._server = _Server(self._engine, locate(self.name), self._window.size)
            return server


class _Server:
    """llama.cpp's own HTTP server on a free port of the loopback interface, in threads of this process."""

    def __init__(self, engine: Any, file: Path, context: int) -> None:
        self.context = context
        self.calls = 0
        parameters = engine.CommonParams()
        parameters.model.path = str(file)
        parameters.n_ctx = context
        parameters.n_parallel = EmbeddedModel.parallel
        parameters.cache_ram_mib = _PROMPT_CACHE
        parameters.verbosity = _QUIET
        try:
            self._native = engine.Server(parameters)  # holds the interpreter while it loads, so a thread gains nothing
        except RuntimeError as error:
            raise UsageError(f"llama.cpp cannot load {file}: a damaged file, or too large for this machine?") from error
        self.completions = ChatCompletions(
            f"{self._native.listening_address}/v1", name="Embedded model", cure="Repeat the command."
        )

    async def aclose(self) -> None:
        """Free the weights; llama.cpp has no other way to stop than to be forgotten."""
        await self.completions.aclose()
        self._native = None


def _engine() -> Any:
    # Before the engine is loaded: its threads wait for each other in loops. Without a bound on these, everything is up
    # to forty times slower as soon as another process wants a core; without any, it is half as fast on an idle machine.
    os.environ.setdefault("GOMP_SPINCOUNT", "10000")
    try:
        return importlib.import_module("xllamacpp")
    except ImportError as error:
        raise UsageError(
            f"embedded/ models need an extra: pip install 'faithbot[embedded]' ({error}). "
            "The GitHub Action's image is without it: use ollama/ there."
        ) from error


def _identify(name: str) -> ModelIdentity:
    path = locate(name)
    return ModelIdentity(
        provider="embedded", name=name, digest=content_digest(path), context_length=trained_context(path)
    )


def _own_fields(request: ChatRequest) -> dict[str, Any]:
    """llama.cpp's fields beyond the standard, so that none of its defaults decides."""
    return {
        "top_k": request.options.top_k,
        "min_p": 0.0,
        "typical_p": 1.0,
        "repeat_penalty": request.options.repeat_penalty,
        "repeat_last_n": 64,
        "presence_penalty": 0.0,
        "frequency_penalty": 0.0,
        "chat_template_kwargs": {"enable_thinking": False},
    }
