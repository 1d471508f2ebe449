"""The whole job: two refs of a repository in, the recorded comparison out."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
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
from faithbot.judge.relevance import RELEVANCE_OPTION
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
    from collections.abc import Iterable, Iterator, Mapping

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
    return await run_prepared(prepare(plan), progress)


async def run_against_itself(plan: Plan, progress: Progress) -> Results:
    """An A/A run: head's configuration with twice the runs, one half of them compared with the other."""
    return await run_prepared(prepare(plan, against_itself=True), progress)


@dataclass(frozen=True)
class Prepared:
    """A plan of which all is done that needs no model: what the prompts ask is known, and no server was needed."""

    plan: Plan
    runs: RunPlan
    models: ModelPool
    systems: Mapping[SideName, System]
    against_itself: bool
    notices: tuple[ResultWarning, ...]
    """What git and the documents tell the reader besides."""


def prepare(plan: Plan, *, against_itself: bool = False) -> Prepared:
    """Open and prepare the systems; for an A/A run only head's, for twice the runs."""
    models = ModelPool(plan.request.cache)
    fewest = plan.runs.fewest
    runs = RunPlan(2 * fewest, 2 * fewest) if against_itself else plan.runs
    names: Iterable[SideName] = ("head",) if against_itself else plan.sides
    with ThreadPoolExecutor() as sides:  # each waits for its prompts, which a process of their own renders
        opened = dict(
            zip(names, sides.map(lambda name: _open_system(plan, name, runs.most, models), names), strict=True)
        )
    systems = {name: opened[name] for name in SIDES if name in opened}
    return Prepared(plan, runs, models, systems, against_itself, () if against_itself else tuple(_notices(plan)))


async def run_prepared(prepared: Prepared, progress: Progress) -> Results:
    """Answer, judge and compare.

    In an A/A run whatever differs is noise. The halves draw with different seeds, so no question counts as unchanged.
    """
    plan, evaluated = prepared.plan, await _evaluate(prepared, progress)
    if prepared.against_itself:
        runs = plan.runs.fewest
        sides = in_halves(evaluated.sides["head"], runs)
        return compare(evaluated.grading, sides, runs=runs, changes=(), usage=evaluated.usage)
    runs = max(record.run for record in evaluated.sides["head"].answers)
    compared = compare(
        evaluated.grading,
        evaluated.sides,
        runs=runs,
        changes=plan.changes,
        usage=evaluated.usage,
        notices=prepared.notices,
    )
    return _not_passed_if_grading_breaks(compared)


def pass_without_work(plan: Plan) -> Results:
    """The comparison where nothing that the answers depend on changed: no model is asked."""
    sides = {name: _side(plan, name, loaded.answered_by) for name, loaded in plan.sides.items()}
    gate = plan.sides[plan.grader].config.gate
    results = compare_without_work(plan.questions, gate, sides, runs=plan.runs.fewest, changes=plan.changes)
    return _not_passed_if_grading_breaks(results.model_copy(update={"warnings": tuple(_broken_grading(plan))}))


class _Evaluated(NamedTuple):
    sides: dict[SideName, Side]
    grading: Grading
    usage: Usage


async def _evaluate(prepared: Prepared, progress: Progress) -> _Evaluated:
    plan, runs, systems = prepared.plan, prepared.runs, prepared.systems
    async with prepared.models as models:
        answering = {name: await _describe(plan, name, systems[name]) for name in plan.sides if name in systems}
        with blamed_on(plan.grader), _named(plan.sides[plan.grader].place("judge", "model")):
            judge = open_judge(plan.judge, models.open, plan.judge_files, plan.request.cache)
            fingerprint = await judge.fingerprint()
        grader = open_grader(plan.judge, models.open, plan.judge_files) if "answer_relevance" in plan.further else None
        _reserve(plan, max(system.longest_call for system in systems.values()), judge, grader)
        progress.say(_announcement(len(plan.questions), runs, {name: answering[name].model for name in systems}))
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
    recorded = {name: _side(plan, name, *answering[name], answers[name]) for name in systems}
    return _Evaluated(recorded, grading, usage)


def _reserve(plan: Plan, longest_call: int, judge: Judge, grader: RelevanceGrader | None) -> None:
    """Room for the longest judgement: a reference may be longer than the longest answer."""
    references = [estimate_tokens(question.reference or "") for question in plan.questions]
    judge.reserve(longest_call + max(references) if plan.further - {"answer_relevance"} else longest_call)
    if grader is not None:
        grader.reserve(longest_call)


def _grading(plan: Plan, fingerprint: JudgeFingerprint, runs: RunPlan, grader: RelevanceGrader | None) -> Grading:
    config = plan.sides[plan.grader].config
    options = fingerprint.options if grader is None else {**fingerprint.options, RELEVANCE_OPTION: grader.version}
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


def _notices(plan: Plan) -> Iterator[ResultWarning]:
    yield from _broken_grading(plan)
    yield from _behind_base(plan)
    yield from find_golden_cautions(plan.sides[plan.grader], plan.sides.values(), plan.questions)


def _broken_grading(plan: Plan) -> list[ResultWarning]:
    """Base grades, so nobody else would notice."""
    return find_broken_grading(plan.sides["head"]) if plan.grader == "base" else []


def _not_passed_if_grading_breaks(results: Results) -> Results:
    """What would end every later comparison with an error passes no required check."""
    broken = [warning.message for warning in results.warnings if warning.code == "broken_grading"]
    if not broken or results.verdict != "pass":
        return results
    return results.model_copy(update={"verdict": "inconclusive", "reason": broken[0]})


def _behind_base(plan: Plan) -> Iterator[ResultWarning]:
    """Head is compared with base as it is now: what base alone changed since they parted looks undone by head."""
    if "base" not in plan.sides:
        return
    base, head = plan.sides["base"].snapshot, plan.sides["head"].snapshot
    if missing := commits_missing(plan.root, head.commit, base.commit):
        yield ResultWarning(
            code="behind_base",
            message=f"This pull request lacks {count(missing, 'commit')} of {base.label}: what they changed "
            "shows here as if it were undone. Merge or rebase first.",
        )


@contextmanager
def _named(place: str) -> Iterator[None]:
    """Errors about a model say where the model is named."""
    try:
        yield
    except UsageError as error:
        raise UsageError(f"{place}: {error}") from None


def _open_system(plan: Plan, name: SideName, runs: int, models: ModelPool) -> System:
    """One side's system, prepared for all questions."""
    loaded = plan.sides[name]
    with blamed_on(name):
        recorded = plan.answers.get(name)
        system = AnsweredBefore(recorded) if recorded else open_system(loaded, plan.judge, runs, models.open)
        system.prepare(plan.questions)
        return system


class _Answering(NamedTuple):
    model: str
    digest: str


async def _describe(plan: Plan, name: SideName, system: System) -> _Answering:
    """One side's model, known to be there."""
    with blamed_on(name), _named(plan.sides[name].place(*MODEL_KEY)):
        return _Answering(*await system.describe())


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
