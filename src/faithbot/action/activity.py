"""From an event of GitHub to what there is to do: which commits, whose comment, which judge."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from pydantic import ValidationError

from faithbot.config import JudgeSettings
from faithbot.errors import UsageError
from faithbot.github.commits import CommitPair, choose_commits
from faithbot.github.event import DispatchEvent, MergeGroupEvent, PullRequestEvent, PushEvent, ScheduleEvent
from faithbot.github.sections import MAIN

if TYPE_CHECKING:
    from collections.abc import Mapping

    from faithbot.action.inputs import ActionInputs
    from faithbot.github.clone import Clone
    from faithbot.github.event import Event
    from faithbot.results import SideName

STRONGER_JUDGE = "stronger-judge"
OWN_GRADING = "own-grading"
STARTED_BY_HAND = "started-by-hand"
_APART = "Only the two sides of this section were judged alike: its numbers and another section's do not compare."
_HEADINGS = {
    STRONGER_JUDGE: "## Judged again, by another judge",
    OWN_GRADING: "## Graded as this pull request would have it",
    STARTED_BY_HAND: "## Started by hand",
}
_ONE_SIDE = "## The default branch by itself"
_ITSELF = "The same configuration against itself: whatever differs here is the noise of measuring."
_KEPT = "Measured once, so that the next pull requests pay for one side only; there is no other side to compare with."


@dataclass(frozen=True)
class Activity:
    """One thing to do and where its result belongs."""

    task: Literal["compare", "measure", "noise"]
    """Two sides; one side, whose answers the next pull request finds in the cache; one side against itself."""
    base: str | None
    head: str
    labels: Mapping[SideName, str] = field(default_factory=dict)
    pull_request: int | None = None
    """Whose comment shows the result."""
    head_of_pull_request: str | None = None
    """The pull request's own last commit, which is not the one that is evaluated; None where it is not known."""
    status_commit: str | None = None
    """Which commit gets a status, and its changed lines annotations; None where the sides are others than its own."""
    section: str = MAIN
    """Part of the comment, and of the status' name."""
    judge: JudgeSettings | None = None
    graded_by: SideName = "base"
    note: str | None = None
    """What the reader must know about the commits."""

    @property
    def heading(self) -> str:
        """Above a result that is no comparison, or not the comment's main one; else empty."""
        return _ONE_SIDE if self.task == "measure" else _HEADINGS.get(self.section, "")

    @property
    def caveat(self) -> str:
        """Below the heading of what another judge, or another grading, gave; else empty."""
        return _APART if self.section in (STRONGER_JUDGE, OWN_GRADING) else ""


@dataclass(frozen=True)
class NothingToDo:
    """The event asks for nothing."""

    reason: str


def choose_activity(event: Event, inputs: ActionInputs, clone: Clone, sha: str) -> Activity | NothingToDo:
    """What an event asks for; :class:`UsageError` for one that is no event to evaluate on."""
    if isinstance(event, PullRequestEvent) and not event.is_open:
        return NothingToDo(f"pull request #{event.number} is closed")
    judge = judge_settings(inputs.judge_method, inputs.judge_model)
    labels: dict[SideName, str]
    if inputs.base is not None:
        if isinstance(event, DispatchEvent) and event != DispatchEvent(None, None):
            raise UsageError(
                "input `base` says what to compare: the dispatch's `pr`, `judge-model` and `graded-by` would say "
                "nothing. Leave `base` and `head` out, or give the judge as input `judge-model` under `with:`."
            )
        return _of_inputs(event, inputs.base, inputs.head or sha, judge)
    if inputs.head is not None:
        raise UsageError("input `head` says what is on trial; input `base` must say what to compare it with.")
    match event:
        case PullRequestEvent():
            pair = choose_commits(clone, event, sha)
            return _of_pull_request(pair, event.number, {"base": event.base_ref, "head": event.head_ref}, judge)
        case MergeGroupEvent():
            pair = choose_commits(clone, event, sha)
            labels = {"base": _branch(event.base_ref), "head": "merge queue"}
            return Activity("compare", pair.base, pair.head, labels, status_commit=pair.head, judge=judge)
        case PushEvent(is_default_branch=True):
            labels = {"head": event.default_branch}
            return Activity("measure", None, event.after, labels, judge=judge, note=_KEPT)
        case PushEvent():
            return NothingToDo(f"{_branch(event.ref)} is not the default branch: its pull request is evaluated instead")
        case ScheduleEvent():
            return Activity("noise", None, sha, judge=judge, note=_ITSELF)
        case DispatchEvent():
            return _of_dispatch(event, inputs, clone, sha)
    raise UsageError("a `workflow_run` event publishes what another run left in `artifact-dir`: it evaluates nothing.")


def activity_without_commits(event: Event, inputs: ActionInputs) -> Activity | None:
    """Where to say that it is not even known what to compare; None where no pull request and no commit waits for it.

    What was started by hand has a section of its own even where its result would be the main one, which stays.
    """
    match event:
        case PullRequestEvent(number=number, head_sha=head, is_open=True):
            return Activity("compare", None, head, pull_request=number, head_of_pull_request=head, status_commit=head)
        case MergeGroupEvent(head_sha=head):
            return Activity("compare", None, head, status_commit=head)
        case DispatchEvent(pull_request=int(number)):
            section = _section(event, inputs)
            section = STARTED_BY_HAND if section == MAIN else section
            return Activity("compare", None, f"refs/pull/{number}/head", pull_request=number, section=section)
    return None


def judge_settings(method: str | None, model: str | None) -> JudgeSettings | None:
    """Another judge than the configured one; None where nothing asks for one. A model alone means method `claims`."""
    if method is None and model is None:
        return None
    try:
        return JudgeSettings.model_validate({"method": method, "model": model})
    except ValidationError as error:
        raise UsageError(f"inputs `judge-method` and `judge-model`: {error.errors()[0]['msg']}.") from None


def _of_inputs(event: Event, base: str, head: str, judge: JudgeSettings | None) -> Activity:
    """Commits that the workflow names: the result stands in the run's pull request, but says nothing of its lines."""
    if not isinstance(event, PullRequestEvent):
        return Activity("compare", base, head, judge=judge)
    return Activity("compare", base, head, pull_request=event.number, head_of_pull_request=event.head_sha, judge=judge)


def _of_pull_request(
    pair: CommitPair, number: int, labels: Mapping[SideName, str], judge: JudgeSettings | None
) -> Activity:
    return Activity(
        "compare",
        pair.base,
        pair.head,
        labels,
        pull_request=number,
        head_of_pull_request=pair.head_of_pull_request,
        status_commit=pair.head_of_pull_request,
        judge=judge,
        note=pair.note,
    )


def _of_dispatch(event: DispatchEvent, inputs: ActionInputs, clone: Clone, sha: str) -> Activity:
    """The judge that the run names is not for the pull request's own grading, which brings its own."""
    if event.pull_request is None:
        raise UsageError(
            "a dispatch needs to know what to evaluate: give it an input `pr`, the number of a pull request, "
            "or set `base` (and `head`) under `with:`."
        )
    pair = choose_commits(clone, event, sha)
    labels: dict[SideName, str] = {"base": "base", "head": f"#{event.pull_request}"}
    judge = judge_settings(inputs.judge_method, inputs.judge_model)
    if event.graded_by == "base":
        judge = judge_settings(None, event.judge_model) or judge
    activity = _of_pull_request(pair, event.pull_request, labels, judge)
    return replace(activity, section=_section(event, inputs), graded_by=event.graded_by)


def _section(event: DispatchEvent, inputs: ActionInputs) -> str:
    if event.graded_by == "head":
        return OWN_GRADING
    return STRONGER_JUDGE if event.judge_model or inputs.judge_model or inputs.judge_method else MAIN


def _branch(ref: str) -> str:
    return ref.removeprefix("refs/heads/")
