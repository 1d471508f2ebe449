"""A comparison that was recorded, judged by another judge: its answers are data, taken where they fit the plan."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from faithbot.run_plan import RunPlan

if TYPE_CHECKING:
    from faithbot.plan import Plan
    from faithbot.results import Results, SideName


def with_recorded_answers(plan: Plan, results: Results) -> Plan | str:
    """The plan with the recorded answers in place of new ones, or why they are not the answers that it asks for.

    They are where everything that they depend on is the same: the commits of both sides, which hold prompt, documents
    and settings, the models' names and the questions. There must be as many runs, too; more are left out.
    """
    return _difference(plan, results) or replace(
        plan,
        answers=results.sides,
        runs=RunPlan(plan.runs.fewest, max(plan.runs.fewest, min(plan.runs.most, results.runs))),
    )


def _difference(plan: Plan, results: Results) -> str | None:
    if set(results.sides) != set(plan.sides):
        return "they are not of the same sides"
    for name, loaded in plan.sides.items():
        side = results.sides[name]
        if side.commit is None or side.commit != loaded.snapshot.commit:
            return f"{name} is at another commit now"
        if side.model != loaded.answered_by:
            return f"{name} answers with {loaded.answered_by}"
    recorded = {question.id: question for question in results.questions}
    if any(recorded.get(question.id) != question for question in plan.questions):
        return "the questions are others now"
    if any(_lacks_answers(plan, results, name) for name in plan.sides):
        return f"there are fewer than {plan.runs.fewest} runs of all questions"
    return None


def _lacks_answers(plan: Plan, results: Results, name: SideName) -> bool:
    there = {(record.question_id, record.run) for record in results.sides[name].answers}
    runs = range(1, plan.runs.fewest + 1)
    return any((question.id, run) not in there for question in plan.questions for run in runs)
