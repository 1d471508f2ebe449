"""Answers of an earlier comparison as a system: another judge judges them, and no model answers anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faithbot.errors import CallError
from faithbot.models.tokens import estimate_tokens
from faithbot.systems.protocol import Answer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faithbot.golden import Question
    from faithbot.results import AnswerRecord, Side


class AnsweredBefore:
    """One side as it was recorded. What was unchanged then still is: the keys of the requests come along."""

    def __init__(self, side: Side) -> None:
        self._side = side
        self._records: dict[str, dict[int, AnswerRecord]] = {}
        self.longest_call = 0
        """Tokens, at most, of the longest question with its answer and passages."""

    def prepare(self, questions: Sequence[Question]) -> None:
        """Find each question's records."""
        for question in questions:
            mine = [record for record in self._side.answers if record.question_id == question.id]
            self._records[question.text] = {record.run: record for record in mine}
            self.longest_call = max([self.longest_call, *(_tokens(question, record) for record in mine)])

    async def describe(self) -> tuple[str, str]:
        """The model that answered, and the digest that it had then."""
        return self._side.model, self._side.model_digest or ""

    async def answer(self, question: str, run: int) -> Answer:
        """What was answered then; what failed then has failed."""
        record = self._records[question].get(run)
        if record is None:
            raise CallError(f"no answer is recorded for run {run}")
        if record.answer is None:
            raise CallError(record.failure or "no answer is recorded")
        return Answer(
            text=record.answer,
            contexts=record.contexts,
            request_key=record.request_key,
            is_cut=record.is_cut,
            seconds=record.seconds,
        )


def _tokens(question: Question, record: AnswerRecord) -> int:
    texts = [question.text, record.answer or "", *(context.text for context in record.contexts)]
    return sum(map(estimate_tokens, texts))
