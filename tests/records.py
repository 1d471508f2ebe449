"""Recorded answers for tests, in one line each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from faithbot.compare import Grading, compare
from faithbot.golden import Question
from faithbot.judge.protocol import Claim, JudgeFingerprint, Judgement, Support
from faithbot.results import AnswerRecord, Results, Side, SideName, Usage
from faithbot.systems.protocol import Context

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FINGERPRINT = JudgeFingerprint(method="evidence", version="test")
USAGE = Usage(answers=0, model_calls=0, cached_calls=0, seconds=0.0, busy_share=None)


def claim(text: str, support: Support = "supported") -> Claim:
    return Claim(text=text, support=support, probability=1.0 if support == "supported" else 0.0)


def answered(*claims: Claim) -> Judgement:
    supported = [c.support == "supported" for c in claims if c.support]
    return Judgement(claims=claims, faithfulness=sum(supported) / len(supported))


def scored(value: float) -> Judgement:
    """A judgement whose faithfulness is ``value``, with one claim a tenth."""
    supported = round(value * 10)
    return answered(
        *(claim(f"fact {number}", "supported" if number < supported else "not_found") for number in range(10))
    )


ABSTAINED = Judgement(abstained=True)
UNREADABLE = Judgement(unscored="the judge's reply holds no label")


def record(
    question_id: str, run: int, judgement: Judgement | None, *, key: str | None = None, contexts: Sequence[str] = ()
) -> AnswerRecord:
    return AnswerRecord(
        question_id=question_id,
        run=run,
        answer=None if judgement is None else "an answer",
        contexts=tuple(Context(text=text, source="docs/a.md", start=0) for text in contexts),
        request_key=key,
        judgement=judgement,
        failure="the system crashed" if judgement is None else judgement.unscored,
    )


def side(name: SideName, judgements: Mapping[str, Sequence[Judgement | None]], **options: Any) -> Side:
    """A side from the judgements of each question's runs."""
    answers = [
        record(question, run, judgement, **options)
        for question, row in judgements.items()
        for run, judgement in enumerate(row, start=1)
    ]
    return Side(name=name, label=name, commit=None, model="test/model", model_digest="d0", answers=tuple(answers))


def noisy_results(scores: Sequence[Sequence[float]] = ((0.8, 0.6), (1.0, 0.8), (0.5, 0.5), (0.4, 0.8))) -> Results:
    """A comparison of the same scores on both sides, a row of ``scores`` a question."""
    judgements = {f"q{number}": [scored(score) for score in row] for number, row in enumerate(scores)}
    grading = Grading(
        questions=questions(*judgements), gate={"faithfulness": 0.0}, min_coverage=0.5, fingerprint=FINGERPRINT
    )
    sides: dict[SideName, Side] = {name: side(name, judgements) for name in ("base", "head")}
    return compare(grading, sides, runs=len(scores[0]), changes=(), usage=USAGE)


def questions(*identifiers: str, **fields: Any) -> tuple[Question, ...]:
    return tuple(Question(id=identifier, text=f"What is {identifier}?", **fields) for identifier in identifiers)
