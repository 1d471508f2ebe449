"""What is measured besides faithfulness: with the evidence judge, which is free and always says the same."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from faithbot.errors import CallError
from faithbot.golden import Question
from faithbot.judge.evidence import EvidenceJudge
from faithbot.judge.further import FurtherJudge, FurtherScores, JudgedAnswer
from faithbot.judge.label import LabelJudge
from faithbot.judge.prompts import Prompts
from faithbot.judge.protocol import STATES_NO_FACT, Judgement
from faithbot.judge.relevance import RelevanceGrader
from records import ABSTAINED, UNREADABLE, scored
from scripted_model import ScriptedModel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faithbot.judge.protocol import Judge

REFERENCE = "Tents can be returned within 30 days. Opened stoves cannot be returned."
PASSAGE = "You may return tents within 30 days. Opened stoves cannot be returned."
NO_FACT = Judgement(unscored=STATES_NO_FACT)


def measure(
    answer: str = "Tents can be returned within 30 days.",
    *judgements: Judgement,
    contexts: Sequence[str] = (PASSAGE,),
    judge: Judge | None = None,
    grader: RelevanceGrader | None = None,
    wanted: Sequence[str] = ("answer_correctness", "context_recall"),
    **golden: object,
) -> FurtherScores:
    question = Question(**({"id": "q", "text": "What can I return?", "reference": REFERENCE} | golden))
    further = FurtherJudge(judge or EvidenceJudge(), wanted, grader)
    return asyncio.run(further.measure(JudgedAnswer(question, answer, contexts, judgements or (scored(1.0),))))


def test_correctness_is_the_share_of_the_references_claims_that_the_answer_holds() -> None:
    assert measure().correctness == 1 / 2
    assert measure(REFERENCE).correctness == 1
    assert measure("The stove burns gas.").correctness == 0


def test_context_recall_is_the_share_of_them_that_the_passages_hold() -> None:
    assert measure().context_recall == 1
    assert measure(contexts=["Opened stoves cannot be returned."]).context_recall == 1 / 2
    assert measure(contexts=[]).context_recall == 0


@pytest.mark.parametrize("reference", [None, "", " \n", "I don't know.", "Hello!"])
def test_a_reference_that_states_nothing_measures_nothing(reference: str | None) -> None:
    assert measure(reference=reference) == FurtherScores()


def test_an_abstention_holds_nothing_of_the_reference_though_the_passages_do() -> None:
    scores = measure("I cannot answer that.", ABSTAINED)
    assert (scores.correctness, scores.context_recall) == (0, 1)


@pytest.mark.parametrize(
    ("judgement", "correctness"),
    [(ABSTAINED, 1), (scored(1.0), 0), (NO_FACT, None)],
    ids=["abstained", "stated facts", "stated none"],
)
@pytest.mark.parametrize("reference", [REFERENCE, "The documents do not say.", None])
def test_where_the_sources_hold_no_answer_abstaining_is_right(
    judgement: Judgement, correctness: float | None, reference: str | None
) -> None:
    assert measure("...", judgement, answerable=False, reference=reference).correctness == correctness


def test_an_answer_that_could_not_be_judged_has_no_further_score() -> None:
    assert measure("Tents.", UNREADABLE) == FurtherScores()


def test_what_nobody_wants_is_not_asked_for() -> None:
    model = ScriptedModel()
    assert measure(judge=LabelJudge(model, Prompts()), wanted=()) == FurtherScores()
    assert model.requests == []


def test_a_judge_that_asks_a_model_is_asked_with_the_reference_as_the_answer() -> None:
    model = ScriptedModel(['{"label": "YES"}', '{"label": "PARTIAL"}'])
    scores = measure(judge=LabelJudge(model, Prompts()))
    assert (scores.correctness, scores.context_recall) == (1, 1 / 2)
    of_answer, of_passages = (request.messages[0].content for request in model.requests)
    assert "Tents can be returned within 30 days.\n</passage>" in of_answer
    assert f"{PASSAGE}\n</passage>" in of_passages


def test_recall_of_the_same_passages_is_the_same_call_in_every_run() -> None:
    model = ScriptedModel(['{"label": "YES"}'] * 2)
    for answer in ("30 days.", "A month."):
        measure(answer, judge=LabelJudge(model, Prompts()), wanted=["context_recall"])
    first, second = model.requests
    assert first == second


def test_relevance_is_graded_once_a_judgement_and_never_of_an_abstention() -> None:
    grader = RelevanceGrader(ScriptedModel(["5", '{"grade": 5}', '{"grade": 4}']), Prompts())
    wanted = ["answer_relevance"]
    assert measure("30 days.", scored(1.0), scored(0.9), grader=grader, wanted=wanted).relevance == [1.0, 0.75]
    assert measure("I do not know.", ABSTAINED, grader=grader, wanted=wanted).relevance is None


def test_a_score_that_fails_costs_none_of_the_others_and_says_why() -> None:
    judge = LabelJudge(ScriptedModel([CallError("the reply was cut off"), '{"label": "YES"}']), Prompts())
    grader = RelevanceGrader(ScriptedModel(["Good!", "no grade here"]), Prompts())
    scores = measure(judge=judge, grader=grader, wanted=["answer_relevance", "answer_correctness", "context_recall"])
    assert (scores.relevance, scores.correctness, scores.context_recall) == (None, None, 1)
    assert scores.not_measured == {
        "answer_relevance": "the judge's reply holds no grade from 1 to 5",
        "answer_correctness": "the reply was cut off",
    }
