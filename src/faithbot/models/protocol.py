"""What every language model offers: one chat call, its identity, and room for the longest prompt."""

from __future__ import annotations

from typing import Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Message(_Frozen):
    """One turn of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: str


class SamplingOptions(_Frozen):
    """How tokens are drawn. All are sent with every call, so that no server default decides.

    ``openai/`` alone cannot send ``top_k`` and ``repeat_penalty``, and refuses a call that sets them.
    """

    temperature: float = Field(default=0.0, ge=0.0, le=2.0, strict=True, allow_inf_nan=False)
    top_p: float = Field(default=1.0, gt=0.0, le=1.0, strict=True, allow_inf_nan=False)
    top_k: int = Field(default=40, ge=0, le=1_000_000, strict=True, description="0 means no limit")
    repeat_penalty: float = Field(default=1.0, gt=0.0, le=10.0, strict=True, allow_inf_nan=False)
    max_tokens: int = Field(default=256, ge=1, le=100_000, strict=True)


class ChatRequest(_Frozen):
    """One call, with everything that decides its reply."""

    messages: tuple[Message, ...]
    options: SamplingOptions = SamplingOptions()
    seed: int = Field(default=0, ge=0, lt=2**31)
    """Negative ones and those beyond 32 bits mean "random" to llama.cpp."""
    run: int = 1
    """Part of the cache's key: a repeated run is a new draw, never the same reply counted twice."""
    json_schema: dict[str, Any] | None = None
    """The reply must be JSON of this schema (enforced by the server's grammar where it has one)."""
    top_logprobs: int = Field(default=0, ge=0, le=20)
    """How many alternatives of each token to report; 0 asks for none."""


class TokenLogprob(_Frozen):
    """A generated token, its natural-log probability and the likeliest alternatives at its place."""

    token: str
    logprob: float
    alternatives: dict[str, float] = {}


class Reply(_Frozen):
    """What the model said."""

    text: str
    finish: Literal["stop", "length"]
    prompt_tokens: int | None = None
    reused_tokens: int | None = None
    """Of the prompt, those that the server had evaluated before; None where it does not tell."""
    output_tokens: int | None = None
    logprobs: tuple[TokenLogprob, ...] | None = None
    """None where the backend has none or none were asked for."""
    seconds: float = 0.0
    """Wall time of the call that produced the reply, queueing included."""
    cached: bool = False


class ModelIdentity(_Frozen):
    """Which weights answer. Two identities that differ are two models, whatever their names."""

    provider: str
    name: str
    digest: str
    """Content digest where the backend knows one, else a hash of the server, the name and what is told about it."""
    context_length: int | None = None
    """Longest context the weights were trained for, in tokens; None where the backend does not tell."""


class Model(Protocol):
    """A language model. Implementations raise :class:`faithbot.errors.FaithbotError` and nothing else."""

    @property
    def parallel(self) -> int:
        """Calls that the backend works on at once; further ones only queue there."""
        ...

    async def identity(self) -> ModelIdentity:
        """Ask the backend which weights it serves. Raises where the model is missing or the server is dead."""
        ...

    def reserve(self, tokens: int) -> None:
        """Announce the longest prompt plus reply to come, so that the context is sized once."""
        ...

    async def chat(self, request: ChatRequest) -> Reply:
        """Answer one request."""
        ...

    async def aclose(self) -> None:
        """Free connections and memory."""
        ...
