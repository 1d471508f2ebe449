"""The whole job: two refs of a repository in, the recorded comparison out."""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from faithbot.changes import find_changes, is_under_test
from faithbot.compare import Grading, compare, compare_without_work, questions_to_ask_again
from faithbot.config import MODEL_KEY, LoadedConfig, load_config
from faithbot.errors import EvaluationError, UsageError
from faithbot.evaluate import evaluate
from faithbot.golden import select
from faithbot.golden_cautions import find_golden_cautions
from faithbot.grading_files import find_broken_grading, read_accepted, read_golden_set
from faithbot.judge.files import read_judge_files
from faithbot.judge.further import FurtherJudge
from faithbot.judge.measured import further_metrics, require_measured
from faithbot.judge.registry import open_grader, open_judge
from faithbot.models.pool import ModelPool
from faithbot.models.tokens import estimate_tokens
from faithbot.plain_text import count
from faithbot.repository import commits_missing, config_path, find_root, open_snapshot
from faithbot.results import AnswerRecord, Results, ResultWarning, SettingChange, Side, SideName, Usage
from faithbot.side_table import in_halves
from faithbot.stopping import RunPlan
from faithbot.systems.registry import open_system

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from faithbot.accepted import AcceptedEntry
    from faithbot.config import FurtherMetric, JudgeSettings
    from faithbot.golden import Question
    from faithbot.judge.files import JudgeFiles
    from faithbot.judge.protocol import Judge, JudgeFingerprint
    from faithbot.judge.relevance import RelevanceGrader
    from faithbot.progress import Progress
    from faithbot.snapshots import Snapshot
    from faithbot.systems.protocol import System


SIDES: tuple[SideName, ...] = ("base", "head")


@dataclass(frozen=True)
class CompareRequest:
    """What the user asked for."""

    repository: Path
    base: str | None
    """None: head alone is measured, as where base has no configuration."""
    head: str | None
    """None: the working tree."""
    config: str
    """Path of `faithbot.yaml` from the repository's root."""
    cache: Path
    runs: int | None = None
    only: tuple[str, ...] = ()
    limit: int | None = None
    labels: Mapping[SideName, str] = field(default_factory=dict)
    """How reports call the sides; as the refs are written, where it says nothing."""
    judge: JudgeSettings | None = None
    """Another judge than the configured one."""
    graded_by: SideName = "base"
    """Whose golden set, judge and gate count."""


@dataclass(frozen=True)
class Plan:
    """What there is to do, known from git alone: no model was asked and no server was needed."""

    request: CompareRequest
    root: Path
    sides: Mapping[SideName, LoadedConfig]
    """`base` is missing where it has no configuration."""
    grader: SideName
    judge: JudgeSettings
    judge_files: JudgeFiles
    questions: tuple[Question, ...]
    accepted: tuple[AcceptedEntry, ...]
    """Of these questions, and of those that the golden set does not hold any more."""
    runs: RunPlan
    changes: tuple[SettingChange, ...]

    @property
    def has_work(self) -> bool:
        """Whether anything differs that the answers depend on, or, where head grades, that grades them."""
        if "base" not in self.sides:
            return True
        return any(self.grader == "head" or is_under_test(change) for change in self.changes)

    @property
    def further(self) -> frozenset[FurtherMetric]:
        """What is measured besides the judgement of each answer."""
        return further_metrics(self.sides[self.grader].config, self.judge)

    @property
    def models(self) -> tuple[str, ...]:
        """``provider/name`` of every language model that it takes, each once."""
        return tuple(dict.fromkeys([*_answering(self.sides.values()), *filter(None, [self.judge.language_model])]))

    @property
    def trusted_models(self) -> frozenset[str]:
        """Those that base's configuration and the caller name. What head alone names is anybody's who can propose it.

        Where the caller asked for no base, as on the default branch, head is what there is to trust.
        """
        side = "head" if self.request.base is None else "base"
        trusted = [loaded for name, loaded in self.sides.items() if name == side]
        judges = [self.request.judge, *(loaded.config.judge for loaded in trusted)]
        return frozenset(
            [*_answering(trusted), *(judge.language_model for judge in judges if judge and judge.language_model)]
        )


def _answering(sides: Iterable[LoadedConfig]) -> list[str]:
    return [loaded.pipeline.model for loaded in sides if not loaded.recorded_paths]


async def run_comparison(request: CompareRequest, progress: Progress) -> Results:
    """Read both sides out of git, answer, judge and compare."""
    return await run_plan(make_plan(request), progress)


def make_plan(request: CompareRequest) -> Plan:
    """Both configurations, the golden set and what changed.

    Golden set, judge, gate and runs are base's; each side brings its own system. Where base has no configuration,
    head alone is measured, with its own golden set and judge.
    """
    root = find_root(request.repository)
    sides = _load_sides(root, request)
    grader: SideName = request.graded_by if "base" in sides else "head"
    graded = sides[grader]
    golden = _golden_set(graded, sides["head"])
    questions = select(golden, request.only, request.limit)
    judge = request.judge or graded.config.judge
    with _blamed_on(grader):
        require_measured(graded, judge)
        judge_files = read_judge_files(graded)
    return Plan(
        request=request,
        root=root,
        sides=sides,
        grader=grader,
        judge=judge,
        judge_files=judge_files,
        questions=questions,
        accepted=_accepted(graded, grader, golden, questions),
        runs=RunPlan(request.runs, request.runs) if request.runs else graded.config.runs.plan,
        changes=find_changes(sides["base"], sides["head"]) if "base" in sides else (),
    )


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
        with _blamed_on(plan.grader), _named(plan.sides[plan.grader].place("judge", "model")):
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
def _blamed_on(side: SideName) -> Iterator[None]:
    """A base that is broken is not this pull request's wrong usage: the evaluation cannot be done, and never passes."""
    try:
        yield
    except UsageError as error:
        if side == "head":
            raise
        raise EvaluationError(f"base cannot be evaluated: {error}") from None


@contextmanager
def _named(place: str) -> Iterator[None]:
    """Errors about a model say where the model is named."""
    try:
        yield
    except UsageError as error:
        raise UsageError(f"{place}: {error}") from None


def _golden_set(grader: LoadedConfig, head: LoadedConfig) -> tuple[Question, ...]:
    """The grader's golden set. Where it is broken on base and on head alike, head is the place to mend it."""
    try:
        return read_golden_set(grader)
    except UsageError:
        read_golden_set(head)
        with _blamed_on("base"):
            return read_golden_set(grader)


def _accepted(
    graded: LoadedConfig, grader: SideName, golden: Sequence[Question], asked: Sequence[Question]
) -> tuple[AcceptedEntry, ...]:
    with _blamed_on(grader):
        entries = read_accepted(graded, golden)
    concerned = {None, *(question.id for question in asked)}
    return tuple(entry for entry in entries if entry.question_id in concerned)


class _OpenSystem(NamedTuple):
    system: System
    model: str
    digest: str


async def _open_system(plan: Plan, name: SideName, runs: int, models: ModelPool) -> _OpenSystem:
    """One side's system, ready to answer, its model known to be there."""
    loaded = plan.sides[name]
    with _blamed_on(name):
        system = open_system(loaded, plan.judge, runs, models.open)
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


def _load_sides(root: Path, request: CompareRequest) -> dict[SideName, LoadedConfig]:
    """Configurations of the sides, head alone where base has none. Head first: its errors are the ones to mend here."""
    path = config_path(root, request.repository, request.config)
    snapshots: dict[SideName, Snapshot] = {"head": open_snapshot(root, request.head, request.labels.get("head"))}
    if not snapshots["head"].has(path):
        raise UsageError(
            f"{path} does not exist on {snapshots['head'].label}: write one (the README shows a first one), "
            "commit it or `git add` it, or name yours with --config."
        )
    if request.base is not None:
        base = open_snapshot(root, request.base, request.labels.get("base"))
        with _blamed_on("base"):
            if base.has(path):
                snapshots["base"] = base
    loaded: dict[SideName, LoadedConfig] = {}
    for name, snapshot in snapshots.items():
        with _blamed_on(name):
            loaded[name] = load_config(snapshot, path)
    return loaded


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
