"""What is measured of an answer besides its faithfulness, in judgements of their own by the same judge."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeVar

from faithbot.errors import CallError
from faithbot.judge.abstention import is_abstention
from faithbot.judge.protocol import STATES_NO_FACT

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence

    from faithbot.config import FurtherMetric
    from faithbot.golden import Question
    from faithbot.judge.protocol import Judge, Judgement
    from faithbot.judge.relevance import RelevanceGrader

_Score = TypeVar("_Score")


class JudgedAnswer(NamedTuple):
    """An answer with what is needed to measure it further."""

    question: Question
    text: str
    contexts: Sequence[str]
    judgements: Sequence[Judgement]
    """The one that counts, and those that only tell how far the judge wavers."""


class FurtherScores(NamedTuple):
    """0 to 1 each; None where a metric is not wanted, does not apply or failed."""

    relevance: Sequence[float] | None = None
    """One a judgement."""
    correctness: float | None = None
    context_recall: float | None = None
    not_measured: Mapping[str, str] = {}
    """Why a score is missing that is wanted and applies."""


class FurtherJudge:
    """Measures the metrics of ``wanted``. Relevance takes a ``grader``; the others are judgements by ``judge``."""

    def __init__(
        self, judge: Judge, wanted: Collection[FurtherMetric] = (), grader: RelevanceGrader | None = None
    ) -> None:
        self._judge = judge
        self._wanted = wanted
        self._grader = grader

    async def measure(self, answer: JudgedAnswer) -> FurtherScores:
        """All scores of one answer; none of one that could not be judged. One that fails costs none of the others."""
        if answer.judgements[0].unscored not in (None, STATES_NO_FACT):
            return FurtherScores()
        failed: dict[str, str] = {}

        async def attempt(
            name: FurtherMetric, measure: Callable[[JudgedAnswer], Awaitable[_Score | None]]
        ) -> _Score | None:
            try:
                return await measure(answer) if name in self._wanted else None
            except CallError as error:
                failed[name] = str(error)
                return None

        return FurtherScores(
            relevance=await attempt("answer_relevance", self._relevance),
            correctness=await attempt("answer_correctness", self._correctness),
            context_recall=await attempt("context_recall", self._context_recall),
            not_measured=failed,
        )

    async def _relevance(self, answer: JudgedAnswer) -> Sequence[float] | None:
        """An abstention is not graded: `abstention_rate` counts it."""
        if self._grader is None or answer.judgements[0].abstained:
            return None
        repeats = range(1, len(answer.judgements) + 1)
        return [await self._grader.grade(answer.question.text, answer.text, repeat) for repeat in repeats]

    async def _correctness(self, answer: JudgedAnswer) -> float | None:
        """Where the sources hold no answer, abstaining is right and stating facts is wrong, whatever the reference."""
        judgement = answer.judgements[0]
        if answer.question.answerable is False:
            return None if judgement.unscored else float(judgement.abstained)
        if judgement.abstained and _usable_reference(answer.question):
            return 0.0
        return await self._share_found(answer.question, [answer.text])

    async def _context_recall(self, answer: JudgedAnswer) -> float | None:
        return await self._share_found(answer.question, answer.contexts)

    async def _share_found(self, question: Question, passages: Sequence[str]) -> float | None:
        """Share of the reference's claims that the passages support; None where it states none.

        Always the judge's first draw, so that the same question and passages are one judgement, however many runs.
        """
        if (reference := _usable_reference(question)) is None:
            return None
        found = await self._judge.judge(question.text, reference, passages)
        if found.unscored not in (None, STATES_NO_FACT):
            raise CallError(found.unscored or "")
        return found.faithfulness


def _usable_reference(question: Question) -> str | None:
    reference = question.reference
    return None if reference is None or not reference.strip() or is_abstention(reference) else reference
