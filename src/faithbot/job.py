"""The whole job: two refs of a repository in, the recorded comparison out."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from faithbot.changes import find_changes
from faithbot.compare import Grading, compare
from faithbot.config import LoadedConfig, load_config
from faithbot.errors import UsageError
from faithbot.evaluate import evaluate
from faithbot.golden import load_golden_set, select
from faithbot.judge.registry import open_judge
from faithbot.models.pool import ModelPool
from faithbot.repository import Snapshot, find_root, open_snapshot
from faithbot.results import AnswerRecord, Results, Side, SideName, Usage
from faithbot.systems.pipeline import PipelineSystem

if TYPE_CHECKING:
    from pathlib import Path

    from faithbot.golden import Question
    from faithbot.progress import Progress


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
    grader = loaded.get("base", loaded["head"])
    questions = select(load_golden_set(grader.snapshot, grader.golden_path), request.only, request.limit)
    runs = request.runs or grader.config.runs
    async with ModelPool(request.cache) as models:
        judge = open_judge(grader.config.judge, models.open)
        systems: dict[SideName, PipelineSystem] = {}
        for name, side in loaded.items():
            systems[name] = PipelineSystem(side, models.open(side.config.system.pipeline.model))
            systems[name].prepare(questions)
        described = {name: await system.describe() for name, system in systems.items()}
        grading = Grading(
            questions=questions,
            gate={name: gate.min_effect for name, gate in grader.config.gate.items()},
            min_coverage=grader.config.min_coverage,
            fingerprint=await judge.fingerprint(),
        )
        progress.say(_plan(questions, runs, described))
        started = time.monotonic()
        answers = await evaluate(
            questions, systems, judge, runs=runs, parallel=models.parallel_calls, progress=progress
        )
        seconds = time.monotonic() - started
        usage = Usage(
            answers=sum(map(len, answers.values())),
            model_calls=models.calls,
            cached_calls=models.hits,
            seconds=seconds,
            busy_share=min(1.0, models.busy.seconds / seconds) if models.calls else None,
        )
    sides = {name: _side(name, loaded[name], *described[name], answers[name]) for name in loaded}
    changes = find_changes(loaded["base"], loaded["head"]) if "base" in loaded else ()
    return compare(grading, sides, runs=runs, changes=changes, usage=usage)


def _load_sides(root: Path, request: CompareRequest) -> dict[SideName, LoadedConfig]:
    """Configurations of the sides, base first; head alone where base has none."""
    base, head = open_snapshot(root, request.base), open_snapshot(root, request.head)
    if request.config not in head.files():
        raise UsageError(
            f"{request.config} does not exist on {head.label}: write one (the README shows a first one), "
            "commit it or `git add` it, or name yours with --config."
        )
    sides: dict[SideName, Snapshot] = {"base": base, "head": head} if request.config in base.files() else {"head": head}
    return {name: load_config(snapshot, request.config) for name, snapshot in sides.items()}


def _plan(questions: tuple[Question, ...], runs: int, described: dict[SideName, tuple[str, str]]) -> str:
    models = " and ".join(dict.fromkeys(model for model, _ in described.values()))
    return f"{len(questions)} questions × {runs} runs on {' and '.join(described)}, answered by {models}"


def _side(name: SideName, loaded: LoadedConfig, model: str, digest: str, answers: tuple[AnswerRecord, ...]) -> Side:
    return Side(
        name=name,
        label=loaded.snapshot.label,
        commit=loaded.snapshot.commit,
        model=model,
        model_digest=digest,
        answers=answers,
    )
