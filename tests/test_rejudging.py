"""Another judge takes the answers that were recorded, where they are those that the plan asks for."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from faithbot.config import JudgeSettings
from faithbot.job import pass_without_work, run_plan
from faithbot.plan import CompareRequest, Plan, make_plan
from faithbot.progress import PlainLines
from faithbot.rejudging import with_recorded_answers
from faithbot.results import AnswerRecord, Results
from faithbot.run_plan import RunPlan
from faithbot.systems.protocol import Context
from git_repository import make_repository

if TYPE_CHECKING:
    from pathlib import Path

CONFIG = """\
golden: golden.jsonl
system: {pipeline: {documents: docs/*.md, prompt: prompt.md, model: ollama/a}}
judge: {method: label, model: ollama/judge}
"""
MAIN: dict[str, str | bytes | None] = {
    "faithbot.yaml": CONFIG,
    "golden.jsonl": "".join(f'{{"question": "How long is warranty {n}?", "id": "q{n}"}}\n' for n in range(8)),
    "prompt.md": "{{ question }}\n",
    "docs/a.md": "The warranty lasts two years.\n",
}
PASSAGE = Context(text="The warranty lasts two years.", source="docs/a.md")
SAID = {"base": "The warranty lasts two years.", "head": "The warranty lasts nine years."}


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    branches: dict[str, dict[str, str | bytes | None]] = {
        "head": {"prompt.md": "Guess: {{ question }}\n"},
        "later": {"prompt.md": "Guess well: {{ question }}\n"},
    }
    return make_repository(tmp_path_factory.mktemp("origin") / "repo", MAIN, branches)


def plan_for(repository: Path, **options: Any) -> Plan:
    """By a judge that needs no model."""
    fields: dict[str, Any] = {"base": "main", "head": "head", "config": "faithbot.yaml", "cache": repository / "cache"}
    return make_plan(CompareRequest(repository=repository, judge=JudgeSettings(method="evidence"), **fields | options))


def recorded(plan: Plan, runs: int = 2, left_out: tuple[str, int] | None = None) -> Results:
    """What a comparison by that plan has recorded: the same answer in every run."""
    results = pass_without_work(plan)
    sides = {
        name: side.model_copy(
            update={
                "model_digest": "d0",
                "answers": tuple(
                    AnswerRecord(
                        question_id=question.id, run=run, answer=SAID[name], contexts=(PASSAGE,), request_key=name
                    )
                    for question in plan.questions
                    for run in range(1, runs + 1)
                    if (question.id, run) != left_out
                ),
            }
        )
        for name, side in results.sides.items()
    }
    return results.model_copy(update={"sides": sides, "runs": runs})


def test_the_answers_are_judged_again_and_no_model_is_asked(repository: Path) -> None:
    plan = plan_for(repository)
    ready = with_recorded_answers(plan, recorded(plan))
    assert isinstance(ready, Plan)
    assert ready.models == ()
    results = asyncio.run(run_plan(ready, PlainLines()))
    assert (results.usage.model_calls, results.usage.cached_calls) == (0, 0)
    assert {name: side.answers[0].answer for name, side in results.sides.items()} == SAID
    assert results.verdict == "regression"
    assert results.metrics["faithfulness"].delta == -1
    assert {side.model_digest for side in results.sides.values()} == {"d0"}


def test_only_the_judges_model_is_needed(repository: Path) -> None:
    plan = plan_for(repository)
    ready = with_recorded_answers(replace(plan, judge=JudgeSettings(method="label", model="ollama/b")), recorded(plan))
    assert isinstance(ready, Plan)
    assert ready.models == ("ollama/b",)


def test_an_answer_that_failed_stays_failed(repository: Path) -> None:
    plan = plan_for(repository)
    results = recorded(plan)
    head = results.sides["head"]
    first = head.answers[0].model_copy(update={"answer": None, "failure": "the model said nothing"})
    broken = head.model_copy(update={"answers": (first, *head.answers[1:])})
    ready = with_recorded_answers(plan, results.model_copy(update={"sides": results.sides | {"head": broken}}))
    assert isinstance(ready, Plan)
    again = asyncio.run(run_plan(ready, PlainLines())).sides["head"].answers
    assert [record.failure for record in again if record.failure] == ["the model said nothing"]


def test_a_part_of_the_questions_is_enough_where_a_part_is_asked(repository: Path) -> None:
    everything = recorded(plan_for(repository))
    assert isinstance(with_recorded_answers(plan_for(repository, limit=3), everything), Plan)
    assert with_recorded_answers(plan_for(repository), recorded(plan_for(repository, limit=3))) == (
        "the questions are others now"
    )


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"head": "later"}, "head is at another commit now"),
        ({"base": "later"}, "base is at another commit now"),
        ({"base": None}, "they are not of the same sides"),
        ({"runs": 3}, "there are fewer than 3 runs of all questions"),
    ],
)
def test_other_answers_than_those_that_are_asked_for_are_not_taken(
    repository: Path, options: dict[str, Any], problem: str
) -> None:
    assert with_recorded_answers(plan_for(repository, **options), recorded(plan_for(repository))) == problem


def test_a_missing_answer_is_no_failed_one(repository: Path) -> None:
    plan = plan_for(repository)
    found = with_recorded_answers(plan, recorded(plan, left_out=("q3", 2)))
    assert found == "there are fewer than 2 runs of all questions"


def test_the_model_that_answered_counts(repository: Path) -> None:
    plan = plan_for(repository)
    results = recorded(plan)
    sides = results.sides | {"head": results.sides["head"].model_copy(update={"model": "ollama/b"})}
    assert with_recorded_answers(plan, results.model_copy(update={"sides": sides})) == "head answers with ollama/a"


def test_no_more_runs_than_were_recorded(repository: Path) -> None:
    plan = replace(plan_for(repository), runs=RunPlan(2, 6))
    ready = with_recorded_answers(plan, recorded(plan, runs=4))
    assert isinstance(ready, Plan)
    assert ready.runs == RunPlan(2, 4)
