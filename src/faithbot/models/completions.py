"""The OpenAI-compatible protocol: list the models, complete a chat. Shared by ``openai/`` and ``embedded/``."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, Field, ValidationError

from faithbot.errors import CallError, EvaluationError, UsageError
from faithbot.models.context import overflow
from faithbot.models.protocol import Reply, TokenLogprob
from faithbot.models.thinking import visible_reply
from faithbot.models.transport import RefusedError, Transport

if TYPE_CHECKING:
    from collections.abc import Mapping

    from faithbot.models.protocol import ChatRequest
    from faithbot.models.transport import Patience

_UNAUTHORIZED, _FORBIDDEN, _NOT_FOUND = 401, 403, 404


class TokenEntry(BaseModel):
    """One token as OpenAI-compatible servers and Ollama report it."""

    token: str
    logprob: float
    top_logprobs: list[TokenEntry] | None = None

    def logged(self) -> TokenLogprob:
        """The same in faithbot's form."""
        # Likeliest first: where two alternatives are spelt the same, the likelier one counts.
        alternatives = {other.token: other.logprob for other in reversed(self.top_logprobs or [])}
        return TokenLogprob(token=self.token, logprob=self.logprob, alternatives=alternatives)


class _Message(BaseModel):
    content: str | None = None
    refusal: str | None = None


class _Logprobs(BaseModel):
    content: list[TokenEntry] | None = None


class _Choice(BaseModel):
    message: _Message
    finish_reason: str | None = None
    logprobs: _Logprobs | None = None


class _PromptTokens(BaseModel):
    cached_tokens: int | None = None


class _Usage(BaseModel):
    prompt_tokens: int | None = None
    prompt_tokens_details: _PromptTokens | None = None
    completion_tokens: int | None = None


class _Completion(BaseModel):
    choices: list[_Choice] = Field(min_length=1)
    usage: _Usage | None = None


class ChatCompletions:
    """A client of one server. ``cure`` says what a person can do when the server is not reached."""

    def __init__(
        self, url: str, *, name: str, cure: str, key: str | None = None, patience: Patience | None = None
    ) -> None:
        self._transport = Transport(url, name=name, cure=cure, key=key, patience=patience)
        self.place = self._transport.place
        self.address = self._transport.address
        self._limit_field = "max_tokens"

    async def models(self) -> list[dict[str, Any]]:
        """The server's entries for its models."""
        try:
            data = (await self._transport.request("GET", "/models")).get("data")
        except RefusedError as error:
            raise self._refused(error) from error
        if not isinstance(data, list):
            raise EvaluationError(f"{self.place} does not list its models: is it OpenAI-compatible?")
        return [entry for entry in data if isinstance(entry, dict)]

    async def create(self, model: str, request: ChatRequest, extra: Mapping[str, Any] | None = None) -> Reply:
        """Complete one chat; ``extra`` holds fields beyond the standard. Raises ContextExceededError too."""
        started = time.perf_counter()
        body = _body(model, request, self._limit_field) | dict(extra or {})
        try:
            answer = await self._transport.request("POST", "/chat/completions", body)
        except RefusedError as error:
            if self._limit_field == "max_tokens" and "max_completion_tokens" in str(error):
                self._limit_field = "max_completion_tokens"  # newer models of the public API know no other
                return await self.create(model, request, extra)
            raise overflow(error.body) or self._refused(error) from error
        return self._reply(model, answer, time.perf_counter() - started)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._transport.aclose()

    def _reply(self, model: str, answer: dict[str, Any], seconds: float) -> Reply:
        try:
            completion = _Completion.model_validate(answer)
        except ValidationError as error:
            raise CallError(f"{self.place} gave {model} a reply of an unknown form: {first_problem(error)}.") from error
        choice, usage = completion.choices[0], completion.usage or _Usage()
        content, finish = choice.message.content, known_finish(choice.finish_reason)
        if content is None or finish is None:
            reason = choice.message.refusal or f"finish_reason is {choice.finish_reason!r}"
            raise CallError(f"{model} gave no reply that can be used: {reason}.")
        entries = (choice.logprobs and choice.logprobs.content) or []
        details = usage.prompt_tokens_details or _PromptTokens()
        text, logprobs = visible_reply(content, tuple(entry.logged() for entry in entries) or None)
        return Reply(
            text=text, finish=finish, prompt_tokens=usage.prompt_tokens, output_tokens=usage.completion_tokens,
            reused_tokens=details.cached_tokens,
            logprobs=logprobs, seconds=seconds,
        )  # fmt: skip

    def _refused(self, error: RefusedError) -> Exception:
        if error.status in {_UNAUTHORIZED, _FORBIDDEN}:
            return UsageError(f"{self.place} refuses the key, or the lack of one, in OPENAI_API_KEY: {error}")
        if error.status == _NOT_FOUND:
            return UsageError(f"{self.place} has no such address or model: {error}. Does OPENAI_BASE_URL end in /v1?")
        return CallError(f"{self.place} refuses the call: {error}")


def _body(model: str, request: ChatRequest, limit_field: str) -> dict[str, Any]:
    options = request.options
    body: dict[str, Any] = {
        "model": model,
        "messages": [message.model_dump() for message in request.messages],
        "temperature": options.temperature,
        "top_p": options.top_p,
        "seed": request.seed,
        limit_field: options.max_tokens,
    }
    if request.json_schema is not None:
        schema = {"name": "reply", "strict": True, "schema": request.json_schema}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    if request.top_logprobs:
        body |= {"logprobs": True, "top_logprobs": request.top_logprobs}
    return body


def known_finish(reason: str | None) -> Literal["stop", "length"] | None:
    """The reason why a whole reply ended; None for any other."""
    return "stop" if reason == "stop" else "length" if reason == "length" else None


def first_problem(error: ValidationError) -> str:
    """Where a server's JSON is not of the protocol's form, in a few words."""
    problem = error.errors(include_url=False)[0]
    return f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}"
