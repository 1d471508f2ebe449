"""The whole job: two refs of a repository in, the recorded comparison out."""

from __future__ import annotations

import time
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from faithbot.compare import Grading, compare, compare_without_work, questions_to_ask_again
from faithbot.config import MODEL_KEY
from faithbot.errors import UsageError
from faithbot.evaluate import evaluate
from faithbot.golden_cautions import find_golden_cautions
from faithbot.grading_files import find_broken_grading
from faithbot.judge.further import FurtherJudge
from faithbot.judge.registry import open_grader, open_judge
from faithbot.models.pool import ModelPool
from faithbot.models.tokens import estimate_tokens
from faithbot.plain_text import count
from faithbot.plan import blamed_on, make_plan
from faithbot.repository import commits_missing
from faithbot.results import AnswerRecord, Results, ResultWarning, Side, SideName, Usage
from faithbot.run_plan import RunPlan
from faithbot.side_table import in_halves
from faithbot.systems.answered_before import AnsweredBefore
from faithbot.systems.registry import open_system

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from faithbot.config import LoadedConfig
    from faithbot.judge.protocol import Judge, JudgeFingerprint
    from faithbot.judge.relevance import RelevanceGrader
    from faithbot.plan import CompareRequest, Plan
    from faithbot.progress import Progress
    from faithbot.systems.protocol import System

SIDES: tuple[SideName, ...] = ("base", "head")


async def run_comparison(request: CompareRequest, progress: Progress) -> Results:
    """Read both sides out of git, answer, judge and compare."""
    return await run_plan(make_plan(request), progress)


async def run_plan(plan: Plan, progress: Progress) -> Results:
    """Answer, judge and compare."""
    evaluated = await _evaluate(plan, plan.sides, plan.runs, progress)
    notices = [
        *_broken_grading(plan),
        *_behind_base(plan.root, evaluated.sides),
        *find_golden_cautions(plan.sides[plan.grader], plan.sides.values(), plan.questions),
    ]
    runs = max(record.run for record in evaluated.sides["head"].answers)
    return compare(
        evaluated.grading, evaluated.sides, runs=runs, changes=plan.changes, usage=evaluated.usage, notices=notices
    )


def pass_without_work(plan: Plan) -> Results:
    """The comparison where nothing that the answers depend on changed: no model is asked."""
    sides = {name: _side(plan, name, loaded.answered_by) for name, loaded in plan.sides.items()}
    gate = plan.sides[plan.grader].config.gate
    results = compare_without_work(plan.questions, gate, sides, runs=plan.runs.fewest, changes=plan.changes)
    return results.model_copy(update={"warnings": tuple(_broken_grading(plan))})


async def run_against_itself(plan: Plan, progress: Progress) -> Results:
    """An A/A run: head's configuration with twice the runs, one half of them compared with the other.

    Whatever differs is noise. The halves draw with different seeds, so no question counts as unchanged.
    """
    runs = plan.runs.fewest
    evaluated = await _evaluate(plan, {"head": plan.sides["head"]}, RunPlan(2 * runs, 2 * runs), progress)
    sides = in_halves(evaluated.sides["head"], runs)
    return compare(evaluated.grading, sides, runs=runs, changes=(), usage=evaluated.usage)


class _Evaluated(NamedTuple):
    sides: dict[SideName, Side]
    grading: Grading
    usage: Usage


async def _evaluate(
    plan: Plan, sides: Mapping[SideName, LoadedConfig], runs: RunPlan, progress: Progress
) -> _Evaluated:
    async with ModelPool(plan.request.cache) as models:
        opened = {name: await _open_system(plan, name, runs.most, models) for name in sides}
        systems: dict[SideName, System] = {name: opened[name].system for name in SIDES if name in opened}
        with blamed_on(plan.grader), _named(plan.sides[plan.grader].place("judge", "model")):
            judge = open_judge(plan.judge, models.open, plan.judge_files, plan.request.cache)
            fingerprint = await judge.fingerprint()
        grader = open_grader(plan.judge, models.open, plan.judge_files) if "answer_relevance" in plan.further else None
        _reserve(plan, max(system.longest_call for system in systems.values()), judge, grader)
        progress.say(_announcement(len(plan.questions), runs, {name: opened[name].model for name in systems}))
        grading = _grading(plan, fingerprint, runs, grader)
        started = time.monotonic()
        answers = await evaluate(
            plan.questions,
            systems,
            judge,
            runs=runs.fewest,
            parallel=models.parallel_calls,
            progress=progress,
            judge_repeats=plan.sides[plan.grader].config.noise.judge_repeats,
            further=FurtherJudge(judge, plan.further, grader),
            ask_again=partial(questions_to_ask_again, grading),
        )
        usage = _usage(models, sum(map(len, answers.values())), time.monotonic() - started)
    recorded = {name: _side(plan, name, opened[name].model, opened[name].digest, answers[name]) for name in systems}
    return _Evaluated(recorded, grading, usage)


def _reserve(plan: Plan, longest_call: int, judge: Judge, grader: RelevanceGrader | None) -> None:
    """Room for the longest judgement: a reference may be longer than the longest answer."""
    references = [estimate_tokens(question.reference or "") for question in plan.questions]
    judge.reserve(longest_call + max(references) if plan.further - {"answer_relevance"} else longest_call)
    if grader is not None:
        grader.reserve(longest_call)


def _grading(plan: Plan, fingerprint: JudgeFingerprint, runs: RunPlan, grader: RelevanceGrader | None) -> Grading:
    config = plan.sides[plan.grader].config
    options = fingerprint.options if grader is None else {**fingerprint.options, "answer_relevance": grader.version}
    return Grading(
        questions=plan.questions,
        gate={name: gate.min_effect for name, gate in config.gate.items()},
        min_coverage=config.min_coverage,
        fingerprint=fingerprint.model_copy(update={"options": options}),
        graded_by=plan.grader,
        accepted=plan.accepted,
        floors={name: gate.floor for name, gate in config.gate.items() if gate.floor is not None},
        plan=runs if runs.fewest < runs.most else None,
        calibration=plan.judge_files.calibration,
    )


def _broken_grading(plan: Plan) -> list[ResultWarning]:
    """Base grades, so nobody else would notice."""
    return find_broken_grading(plan.sides["head"]) if plan.grader == "base" else []


def _behind_base(root: Path, sides: Mapping[SideName, Side]) -> list[ResultWarning]:
    """Head is compared with base as it is now: what base alone changed since they parted looks undone by head."""
    if "base" not in sides or (missing := commits_missing(root, sides["head"].commit, sides["base"].commit)) == 0:
        return []
    return [
        ResultWarning(
            code="behind_base",
            message=f"This pull request lacks {count(missing, 'commit')} of {sides['base'].label}: what they changed "
            "shows here as if it were undone. Merge or rebase first.",
        )
    ]


@contextmanager
def _named(place: str) -> Iterator[None]:
    """Errors about a model say where the model is named."""
    try:
        yield
    except UsageError as error:
        raise UsageError(f"{place}: {error}") from None


class _OpenSystem(NamedTuple):
    system: System
    model: str
    digest: str


async def _open_system(plan: Plan, name: SideName, runs: int, models: ModelPool) -> _OpenSystem:
    """One side's system, ready to answer, its model known to be there."""
    loaded = plan.sides[name]
    with blamed_on(name):
        recorded = plan.answers.get(name)
        system = AnsweredBefore(recorded) if recorded else open_system(loaded, plan.judge, runs, models.open)
        system.prepare(plan.questions)
        with _named(loaded.place(*MODEL_KEY)):
            return _OpenSystem(system, *await system.describe())


def _usage(models: ModelPool, answers: int, seconds: float) -> Usage:
    return Usage(
        answers=answers,
        model_calls=models.calls,
        cached_calls=models.hits,
        seconds=seconds,
        busy_share=min(1.0, models.busy.seconds / seconds) if models.calls else None,
    )


def _announcement(questions: int, runs: RunPlan, models: Mapping[SideName, str]) -> str:
    named = " and ".join(dict.fromkeys(models.values()))
    spoken = count(runs.fewest, "run") if runs.fewest == runs.most else f"{runs.fewest} to {runs.most} runs"
    return f"{count(questions, 'question')} × {spoken} on {' and '.join(models)}, answered by {named}"


def _side(
    plan: Plan, name: SideName, model: str, digest: str | None = None, answers: tuple[AnswerRecord, ...] = ()
) -> Side:
    snapshot = plan.sides[name].snapshot
    return Side(
        name=name,
        label=snapshot.label,
        commit=snapshot.commit,
        model=model,
        model_digest=digest,
        answers=answers,
    )
