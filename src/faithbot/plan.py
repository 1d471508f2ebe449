"""What a comparison will do, known from git alone.

The action starts Ollama as soon as it knows that there is work: nothing is imported here that only the work needs.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from faithbot.changes import find_changes, is_under_test
from faithbot.config import LoadedConfig, load_config
from faithbot.errors import EvaluationError, UsageError
from faithbot.golden import select
from faithbot.grading_files import read_accepted, read_golden_set
from faithbot.judge.files import read_judge_files
from faithbot.judge.measured import further_metrics, require_measured
from faithbot.repository import config_path, find_root, open_snapshot
from faithbot.run_plan import RunPlan

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from faithbot.accepted import AcceptedEntry
    from faithbot.config import FurtherMetric, JudgeSettings
    from faithbot.golden import Question
    from faithbot.judge.files import JudgeFiles
    from faithbot.results import SettingChange, Side, SideName
    from faithbot.snapshots import Snapshot


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
    answers: Mapping[SideName, Side] = field(default_factory=dict)
    """Sides whose answers are at hand, recorded by an earlier comparison: they are judged and not made anew."""

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
        to_answer = [loaded for name, loaded in self.sides.items() if name not in self.answers]
        return tuple(dict.fromkeys([*_answering(to_answer), *filter(None, [self.judge.language_model])]))

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
    with blamed_on(grader):
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


def _golden_set(grader: LoadedConfig, head: LoadedConfig) -> tuple[Question, ...]:
    """The grader's golden set. Where it is broken on base and on head alike, head is the place to mend it."""
    try:
        return read_golden_set(grader)
    except UsageError:
        read_golden_set(head)
        with blamed_on("base"):
            return read_golden_set(grader)


def _accepted(
    graded: LoadedConfig, grader: SideName, golden: Sequence[Question], asked: Sequence[Question]
) -> tuple[AcceptedEntry, ...]:
    with blamed_on(grader):
        entries = read_accepted(graded, golden)
    concerned = {None, *(question.id for question in asked)}
    return tuple(entry for entry in entries if entry.question_id in concerned)


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
        with blamed_on("base"):
            if base.has(path):
                snapshots["base"] = base
    loaded: dict[SideName, LoadedConfig] = {}
    for name, snapshot in snapshots.items():
        with blamed_on(name):
            loaded[name] = load_config(snapshot, path)
    return loaded


@contextmanager
def blamed_on(side: SideName) -> Iterator[None]:
    """A base that is broken is not this pull request's wrong usage: the evaluation cannot be done, and never passes."""
    try:
        yield
    except UsageError as error:
        if side == "head":
            raise
        raise EvaluationError(f"base cannot be evaluated: {error}") from None
