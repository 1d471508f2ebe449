"""``ollama/NAME``: a model of an Ollama server, through its native API.

The native API, not the OpenAI-compatible one, because only it takes the context length, tells the weights' digest, and
can be forbidden to cut a prompt that is too long.
"""

from __future__ import annotations

import asyncio
import difflib
import ipaddress
import os
import re
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pydantic import BaseModel, ValidationError

from faithbot.errors import CallError, EvaluationError, UsageError
from faithbot.models.completions import TokenEntry, first_problem, known_finish
from faithbot.models.context import ContextExceededError, ContextWindow, overflow
from faithbot.models.protocol import ModelIdentity, Reply
from faithbot.models.thinking import visible_reply
from faithbot.models.tokens import estimate_prompt_tokens
from faithbot.models.transport import Patience, RefusedError, TransientError, Transport

if TYPE_CHECKING:
    from faithbot.models.protocol import ChatRequest, TokenLogprob

OLDEST_VERSION = (0, 12, 11)
"""The first that honours ``truncate: false`` and ``shift: false`` and gives logprobs."""

_KEEP_ALIVE = "30m"
"""Longer than judge and generator wait for each other; unlike -1 it frees the server's memory some time afterwards."""

_NOT_FOUND = 404
_MOST_BYTES_PER_TOKEN = 6.0


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

        async def attempt() -> _Stream:
            stream = _Stream()
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
            digests = {_full_name(tag.name): tag.digest for tag in tags}
            if (digest := digests.get(_full_name(self.name))) is None:
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
        near = difflib.get_close_matches(_full_name(self.name), present, n=3, cutoff=0.5) or present[:5]
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


class _Message(BaseModel):
    content: str = ""


class _Event(BaseModel):
    """One line of a streamed reply."""

    error: str | None = None
    message: _Message = _Message()
    logprobs: list[TokenEntry] | None = None
    done: bool = False
    done_reason: str | None = None
    prompt_eval_count: int | None = None
    eval_count: int | None = None


class _Stream:
    """The pieces of one streamed reply."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._logprobs: list[TokenLogprob] = []
        self._end = _Event()

    def add(self, line: dict[str, Any]) -> None:
        """Take the next line. An error in mid-stream comes under status 200: the engine broke down."""
        try:
            event = _Event.model_validate(line)
        except ValidationError as error:
            raise CallError(f"Ollama sent a line of an unknown form: {first_problem(error)}.") from error
        if event.error is not None:
            raise overflow(line) or TransientError(event.error)
        self._pieces.append(event.message.content)
        self._logprobs.extend(entry.logged() for entry in event.logprobs or ())
        if event.done:
            self._end = event

    def reply(self, label: str, request: ChatRequest, context: int, seconds: float) -> Reply:
        """The whole reply, once it is certain that neither it nor its prompt was cut."""
        prompt_tokens, output_tokens = self._end.prompt_eval_count, self._end.eval_count
        if (finish := known_finish(self._end.done_reason)) is None:
            raise CallError(
                f"The reply of {label} broke off after {len(self._pieces)} pieces (done_reason is "
                f"{self._end.done_reason!r}): Ollama gives up on a model that repeats itself."
            )
        if finish == "length" and output_tokens is not None and output_tokens < request.options.max_tokens:
            raise ContextExceededError(prompt_tokens)  # the end of the context, not max_tokens, ended it
        if prompt_tokens is not None and _looks_cut(request, prompt_tokens, context):
            raise CallError(
                f"{label} read only {prompt_tokens} tokens of a prompt of about {estimate_prompt_tokens(request)}: the "
                f"server cut it to its context of {context}. Fewer or shorter chunks (retrieval.top_k, chunking.size)."
            )
        text, logprobs = visible_reply("".join(self._pieces), tuple(self._logprobs) or None)
        return Reply(
            text=text, finish=finish, prompt_tokens=prompt_tokens, output_tokens=output_tokens, logprobs=logprobs,
            seconds=seconds,
        )  # fmt: skip


def server_url(host: str) -> str:
    """The URL that a value of ``OLLAMA_HOST`` means, by the rules of Ollama's own client.

    ``host``, ``host:port``, ``:port`` or a URL, with a path if need be; 127.0.0.1 and 11434 by default, but 80 and 443
    after ``http://`` and ``https://``. An address to listen on (0.0.0.0, ::) is reached on the loopback interface.
    """
    scheme, separator, rest = host.strip().strip("\"'").rpartition("://")
    scheme = scheme or "http"
    default_port = {"http": 80, "https": 443}.get(scheme, 11434) if separator else 11434
    authority, _, path = rest.partition("/")
    if authority.count(":") > 1 and not authority.startswith("["):
        authority = f"[{authority}]"
    try:
        split = urlsplit(f"//{authority}")
        name, port = split.hostname or "127.0.0.1", split.port or default_port
    except ValueError as error:
        raise UsageError(f"OLLAMA_HOST is not an address: {host!r} ({error}).") from error
    if _is_unspecified(name):
        name = "::1" if ":" in name else "127.0.0.1"
    return f"{scheme}://{f'[{name}]' if ':' in name else name}:{port}/{path}".rstrip("/")


def _is_unspecified(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return False


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


def _looks_cut(request: ChatRequest, prompt_tokens: int, context: int) -> bool:
    """Whether a prompt that may not have fitted was read in implausibly few tokens.

    Ollama keeps the newest half of a context where it cuts. Prose has 4 to 5 bytes a token, so half of it looks like 8
    to 10; runs of white space and rules make long tokens and are counted as one byte.
    """
    if estimate_prompt_tokens(request) <= context:
        return False
    text = re.sub(r"\s+|(\W)\1+", " ", " ".join(message.content for message in request.messages))
    return len(text.encode("utf-8", "surrogatepass")) > prompt_tokens * _MOST_BYTES_PER_TOKEN


def _full_name(name: str) -> str:
    """``Name`` as ``name:latest``: Ollama ignores case and adds the tag."""
    name = name.casefold()
    return name if ":" in name.rpartition("/")[2] else f"{name}:latest"
