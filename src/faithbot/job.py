"""The whole job: two refs of a repository in, the recorded comparison out."""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from faithbot.changes import find_changes
from faithbot.compare import Grading, compare
from faithbot.config import MODEL_KEY, LoadedConfig, load_config
from faithbot.errors import EvaluationError, UsageError
from faithbot.evaluate import evaluate
from faithbot.golden import load_golden_set, select
from faithbot.judge.registry import open_judge
from faithbot.models.pool import ModelPool
from faithbot.report.wording import count
from faithbot.repository import commits_missing, config_path, find_root, open_snapshot
from faithbot.results import AnswerRecord, Results, ResultWarning, Side, SideName, Usage
from faithbot.systems.pipeline import PipelineSystem

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from faithbot.golden import Question
    from faithbot.progress import Progress
    from faithbot.snapshots import Snapshot


SIDES: tuple[SideName, ...] = ("base", "head")


@dataclass(frozen=True)
class CompareRequest:
    """What the user asked for."""

    repository: Path
    base: str
    head: str | None
    """None: the working tree."""
    config: str
    """Path of `faithbot.yaml` from the repository's root."""
    cache: Path
    runs: int | None = None
    only: tuple[str, ...] = ()
    limit: int | None = None


async def run_comparison(request: CompareRequest, progress: Progress) -> Results:
    """Read both sides out of git, answer, judge and compare.

    Golden set, judge, gate and runs are base's; each side brings its own system. Where base has no configuration,
    head alone is measured, with its own golden set and judge.
    """
    root = find_root(request.repository)
    loaded = _load_sides(root, request)
    grader_name: SideName = "base" if "base" in loaded else "head"
    grader = loaded[grader_name]
    questions = select(_golden_set(grader, loaded["head"]), request.only, request.limit)
    runs = request.runs or grader.config.runs
    async with ModelPool(request.cache) as models:
        opened = {name: await _open_system(name, side, models, questions) for name, side in loaded.items()}
        systems: dict[SideName, PipelineSystem] = {name: opened[name].system for name in SIDES if name in opened}
        changes = find_changes(loaded["base"], loaded["head"]) if "base" in loaded else ()
        with _blamed_on(grader_name), _named(grader.place("judge", "model")):
            judge = open_judge(grader.config.judge, models.open)
            fingerprint = await judge.fingerprint()
        judge.reserve(max(system.longest_call for system in systems.values()))
        progress.say(_plan(len(questions), runs, {name: opened[name].model for name in systems}))
        started = time.monotonic()
        answers = await evaluate(
            questions, systems, judge, runs=runs, parallel=models.parallel_calls, progress=progress
        )
        usage = _usage(models, sum(map(len, answers.values())), time.monotonic() - started)
    grading = Grading(
        questions=questions,
        gate={name: gate.min_effect for name, gate in grader.config.gate.items()},
        min_coverage=grader.config.min_coverage,
        fingerprint=fingerprint,
    )
    sides = {name: _side(name, loaded[name].snapshot, opened[name], answers[name]) for name in systems}
    notices = _behind_base(root, sides)
    return compare(grading, sides, runs=runs, changes=changes, usage=usage, notices=notices)


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
        return _load_golden_set(grader)
    except UsageError:
        _load_golden_set(head)
        with _blamed_on("base"):
            return _load_golden_set(grader)


def _load_golden_set(loaded: LoadedConfig) -> tuple[Question, ...]:
    loaded.require(loaded.golden_path, "golden")
    return load_golden_set(loaded.snapshot, loaded.golden_path)


class _OpenSystem(NamedTuple):
    system: PipelineSystem
    model: str
    digest: str


async def _open_system(
    name: SideName, loaded: LoadedConfig, models: ModelPool, questions: Sequence[Question]
) -> _OpenSystem:
    """One side's system, ready to answer, its model known to be there."""
    with _blamed_on(name):
        with _named(loaded.place(*MODEL_KEY)):
            model = models.open(loaded.config.system.pipeline.model)
        system = PipelineSystem(loaded, model)
        system.prepare(questions)
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
    base, head = open_snapshot(root, request.base), open_snapshot(root, request.head)
    path = config_path(root, request.repository, request.config)
    if not head.has(path):
        raise UsageError(
            f"{path} does not exist on {head.label}: write one (the README shows a first one), "
            "commit it or `git add` it, or name yours with --config."
        )
    with _blamed_on("base"):
        in_base = base.has(path)
    sides: dict[SideName, Snapshot] = {"head": head, "base": base} if in_base else {"head": head}
    loaded: dict[SideName, LoadedConfig] = {}
    for name, snapshot in sides.items():
        with _blamed_on(name):
            loaded[name] = load_config(snapshot, path)
    return loaded


def _plan(questions: int, runs: int, models: Mapping[SideName, str]) -> str:
    named = " and ".join(dict.fromkeys(models.values()))
    return f"{count(questions, 'question')} × {count(runs, 'run')} on {' and '.join(models)}, answered by {named}"


def _side(name: SideName, snapshot: Snapshot, opened: _OpenSystem, answers: tuple[AnswerRecord, ...]) -> Side:
    return Side(
        name=name,
        label=snapshot.label,
        commit=snapshot.commit,
        model=opened.model,
        model_digest=opened.digest,
        answers=answers,
    )
