"""The order of the work, and what one failure does to the rest."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from faithbot.errors import CallError, EvaluationError
from faithbot.evaluate import evaluate, schedule
from faithbot.golden import Question
from faithbot.judge.evidence import EvidenceJudge
from faithbot.judge.further import FurtherJudge
from faithbot.judge.prompts import Prompts
from faithbot.judge.relevance import RelevanceGrader
from faithbot.progress import Silent
from faithbot.systems.protocol import Answer, Context
from records import FINGERPRINT, UNREADABLE, questions, scored
from scripted_model import ScriptedModel

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from faithbot.judge.protocol import JudgeFingerprint, Judgement
    from faithbot.results import AnswerRecord, SideName


class EchoSystem:
    """Answers with the question; fails on the words `crash` (this question) and `dead` (everything)."""

    def __init__(self, log: list[tuple[str, int]] | None = None) -> None:
        self.log = log if log is not None else []
        self.running = self.most_running = 0

    async def describe(self) -> tuple[str, str]:
        return "echo", "e0"

    async def answer(self, question: str, run: int) -> Answer:
        self.log.append((question, run))
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        await asyncio.sleep(0.001)
        self.running -= 1
        if "crash" in question:
            raise CallError("the prompt is too long")
        if "dead" in question:
            raise EvaluationError("the server at http://127.0.0.1:1 died")
        return Answer(text=question, contexts=(Context(text="passage"),), request_key=f"{question}{run}")


class StubbornJudge:
    """Cannot read answers that hold `odd`."""

    repeats_itself = False

    def __init__(self) -> None:
        self.repeats: list[int] = []

    async def fingerprint(self) -> JudgeFingerprint:
        return FINGERPRINT

    async def judge(self, question: str, answer: str, contexts: Sequence[str], repeat: int = 1) -> Judgement:
        assert answer == question
        assert contexts == ["passage"]
        self.repeats.append(repeat)
        return UNREADABLE if "odd" in question else scored(1.0)


def run(
    *identifiers: str, system: EchoSystem | None = None, parallel: int = 2, **options: Any
) -> dict[SideName, tuple[AnswerRecord, ...]]:
    system = system or EchoSystem()
    systems: dict[SideName, EchoSystem] = {"base": system, "head": system}
    return asyncio.run(
        evaluate(
            questions(*identifiers), systems, StubbornJudge(), runs=2, parallel=parallel, progress=Silent(), **options
        )
    )


def test_the_sides_take_turns_question_by_question_and_change_who_goes_first() -> None:
    steps = schedule(questions("a", "b"), ("base", "head"), [1, 2])
    assert [(step.question.id, step.side, step.run) for step in steps] == [
        ("a", "base", 1),
        ("a", "base", 2),
        ("a", "head", 1),
        ("a", "head", 2),
        ("b", "head", 1),
        ("b", "head", 2),
        ("b", "base", 1),
        ("b", "base", 2),
    ]


def test_every_question_is_answered_and_judged_on_both_sides_in_every_run() -> None:
    sides = run("a", "b", "c")
    for records in sides.values():
        assert Counter((record.question_id, record.run) for record in records) == Counter(
            (name, number) for name in "abc" for number in (1, 2)
        )
        assert all(record.judgement == scored(1.0) and record.failure is None for record in records)


def test_steps_start_in_their_order_and_never_more_than_allowed_at_once() -> None:
    system = EchoSystem()
    run(*"abcdef", system=system, parallel=3)
    assert [question for question, _ in system.log] == [f"What is {name}?" for name in "abcdef" for _ in range(4)]
    assert system.most_running == 3


def test_a_question_that_fails_is_recorded_with_its_reason_and_the_others_go_on() -> None:
    sides = run("a", "crash", "odd")
    by_question = {record.question_id: record for record in sides["head"]}
    assert (by_question["crash"].answer, by_question["crash"].failure) == (None, "the prompt is too long")
    assert by_question["odd"].answer == "What is odd?"
    assert by_question["odd"].failure == UNREADABLE.unscored
    assert by_question["a"].failure is None


def test_an_error_that_concerns_all_ends_the_evaluation_as_itself() -> None:
    system = EchoSystem()
    with pytest.raises(EvaluationError, match="the server at"):
        run("a", "dead", "b", "c", "d", system=system)
    assert len(system.log) < 10


@pytest.mark.parametrize(("repeats_itself", "repeats"), [(False, [1, 2, 3]), (True, [1])])
def test_a_judge_that_may_waver_judges_each_answer_again(repeats_itself: bool, repeats: list[int]) -> None:
    judge = StubbornJudge()
    judge.repeats_itself = repeats_itself
    work = evaluate(
        questions("a"), {"head": EchoSystem()}, judge, runs=1, parallel=1, progress=Silent(), judge_repeats=3
    )
    (record,) = asyncio.run(work)["head"]
    assert judge.repeats == repeats
    assert record.judgement == scored(1.0)
    assert len(record.judged_again) == len(repeats) - 1


def test_a_judgement_that_the_system_brings_along_is_not_asked_for() -> None:
    class Judged(EchoSystem):
        async def answer(self, question: str, run: int) -> Answer:
            answer = await super().answer(question, run)
            return answer.model_copy(update={"judgement": scored(0.5)})

    judge = StubbornJudge()
    work = evaluate(questions("a"), {"head": Judged()}, judge, runs=1, parallel=1, progress=Silent(), judge_repeats=3)
    (record,) = asyncio.run(work)["head"]
    assert (record.judgement, record.judged_again, judge.repeats) == (scored(0.5), (), [])


def test_questions_are_asked_again_run_by_run_as_long_as_it_is_worth_it() -> None:
    asked_after = []

    def ask_again(answers: Mapping[SideName, Sequence[AnswerRecord]], runs: int) -> Sequence[Question]:
        asked_after.append((runs, {side: len(records) for side, records in answers.items()}))
        return questions("b") if runs < 4 else ()

    sides = run("a", "b", ask_again=ask_again)
    assert asked_after == [(2, {"base": 4, "head": 4}), (3, {"base": 5, "head": 5}), (4, {"base": 6, "head": 6})]
    for records in sides.values():
        assert sorted((record.question_id, record.run) for record in records) == [
            ("a", 1), ("a", 2), ("b", 1), ("b", 2), ("b", 3), ("b", 4),
        ]  # fmt: skip


def test_a_citation_of_a_passage_that_was_not_given_is_kept_with_the_judgement() -> None:
    cited, _, odd, _ = run("dry [1] [doc7]", "odd [doc8]")["head"]
    assert [record.judgement and record.judgement.fabricated_citations for record in (cited, odd)] == [
        ("doc7",),
        ("doc8",),
    ]


def test_what_else_there_is_to_measure_of_an_answer_is_recorded_with_it() -> None:
    """The answer repeats the question, and the only passage says nothing of it."""
    asked = (Question(id="a", text="The tent weighs 2 kg.", reference="The tent weighs 2 kg."),)
    grader = RelevanceGrader(ScriptedModel(["4", '{"grade": 4}', "no grade"]), Prompts())
    further = FurtherJudge(EvidenceJudge(), ["answer_relevance", "answer_correctness", "context_recall"], grader)
    work = evaluate(
        asked, {"head": EchoSystem()}, StubbornJudge(), runs=2, parallel=1, progress=Silent(), further=further
    )
    first, second = asyncio.run(work)["head"]
    assert (first.correctness, first.context_recall, first.not_measured) == (1, 0, {})
    assert first.judgement == scored(1.0).model_copy(update={"relevance": 0.75})
    assert second.judgement == scored(1.0)
    assert second.not_measured == {"answer_relevance": "the judge's reply holds no grade from 1 to 5"}
