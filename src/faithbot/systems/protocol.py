"""What is tested: anything that answers a question and says which passages it was given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from pydantic import BaseModel, ConfigDict

from faithbot.judge.protocol import Judgement

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faithbot.golden import Question


class Context(BaseModel):
    """A passage that was given to the generator."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: str
    source: str | None = None
    """Path of the document in the repository, or whatever the system calls it."""
    start: int | None = None
    """Character offset of the passage in the document's text."""


class Answer(BaseModel):
    """What a system said, and what it was given to say it from."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: str
    contexts: tuple[Context, ...]
    request_key: str | None = None
    """Equal keys mean equal requests: same weights, prompt, options, seed, run and contexts. None: not known."""
    is_cut: bool = False
    """The answer ended at the limit of tokens, not where the model meant to end."""
    seconds: float = 0.0
    judgement: Judgement | None = None
    """Given by the system itself, instead of the judge: a recorded one, or why no judge can give any."""


class System(Protocol):
    """A RAG under test. One bad question raises :class:`faithbot.errors.CallError`; other errors end the evaluation."""

    longest_call: int
    """Tokens, at most, of the longest call that was prepared, with its answer."""

    def prepare(self, questions: Sequence[Question]) -> None:
        """Get ready for all questions, before the first one is asked. Finds mistakes before they cost a call."""
        ...

    async def describe(self) -> tuple[str, str]:
        """Model and digest of its weights, for the report. Raises where the model cannot be reached."""
        ...

    async def answer(self, question: str, run: int) -> Answer:
        """Answer one question. Runs differ in their seed; run r of both sides uses the same one."""
        ...
