"""Ollama's streamed reply: pieces to a whole, and the checks that nothing was cut."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError

from faithbot.errors import CallError
from faithbot.models.completions import TokenEntry, first_problem, known_finish
from faithbot.models.context import ContextExceededError, overflow
from faithbot.models.protocol import Reply
from faithbot.models.thinking import visible_reply
from faithbot.models.tokens import estimate_prompt_tokens
from faithbot.models.transport import TransientError

if TYPE_CHECKING:
    from faithbot.models.protocol import ChatRequest, TokenLogprob

_MOST_BYTES_PER_TOKEN = 6.0


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


class StreamedReply:
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


def _looks_cut(request: ChatRequest, prompt_tokens: int, context: int) -> bool:
    """Whether a prompt that may not have fitted was read in implausibly few tokens.

    Ollama keeps the newest half of a context where it cuts. Prose has 4 to 5 bytes a token, so half of it looks like 8
    to 10; runs of white space and rules make long tokens and are counted as one byte.
    """
    if estimate_prompt_tokens(request) <= context:
        return False
    text = re.sub(r"\s+|(\W)\1+", " ", " ".join(message.content for message in request.messages))
    return len(text.encode("utf-8", "surrogatepass")) > prompt_tokens * _MOST_BYTES_PER_TOKEN
