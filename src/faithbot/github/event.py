"""The event that started a workflow, read from GitHub's payload."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from faithbot.errors import UsageError

if TYPE_CHECKING:
    from faithbot.github.runner import Runner

_SHOWN = 60
"""Characters of a wrong value that an error repeats."""
_GHOST = "ghost"
"""GitHub's name for the author whose account is gone."""

CommitId = Annotated[str, Field(pattern=r"^([0-9a-f]{40}|[0-9a-f]{64})$")]
"""Full and in hexadecimal, so that it can be nothing else where git reads it."""
RepositoryName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+$")]
"""`owner/name`."""


@dataclass(frozen=True)
class PullRequestEvent:
    """A pull request was opened, got new commits, or changed otherwise."""

    number: int
    head_sha: str
    head_ref: str
    head_repository: str | None
    """None where the fork is gone."""
    base_sha: str
    """Where base was when the pull request was last updated; base may have moved on since."""
    base_ref: str
    is_fork: bool
    is_open: bool
    """A closed one has nothing left to decide, whatever happened to it: no work, and no failure either."""
    author: str
    is_retargeted: bool = False
    """It was just given another base."""


@dataclass(frozen=True)
class MergeGroupEvent:
    """A merge queue asks whether a group of pull requests may be merged."""

    base_sha: str
    head_sha: str
    base_ref: str
    head_ref: str


@dataclass(frozen=True)
class PushEvent:
    """Commits arrived on a branch or a tag."""

    ref: str
    before: str | None
    """None where the branch is new."""
    after: str
    default_branch: str

    @property
    def is_default_branch(self) -> bool:
        """Whether pull requests will usually be compared with this branch."""
        return self.ref == f"refs/heads/{self.default_branch}"


@dataclass(frozen=True)
class DispatchEvent:
    """Somebody started the workflow by hand."""

    pull_request: int | None
    judge_model: str | None
    graded_by: Literal["base", "head"] = "base"
    """Whose golden set, judge and gate count; `head` shows what a pull request's own edits of them would give."""


@dataclass(frozen=True)
class ScheduleEvent:
    """It is time."""


@dataclass(frozen=True)
class WorkflowRunEvent:
    """Another workflow's run has started or ended."""

    run_id: int
    head_sha: str
    head_branch: str | None
    head_owner: str | None
    """Owner of the head repository; None where the repository is gone."""
    head_repository: str | None
    event: str
    """What had started that run."""
    conclusion: str | None
    """Such as `success` or `failure`; None while it runs."""


Event = PullRequestEvent | MergeGroupEvent | PushEvent | DispatchEvent | ScheduleEvent | WorkflowRunEvent


def read_event(runner: Runner) -> Event:
    """The event that started this run; :class:`UsageError` for one that faithbot does not serve."""
    name = runner.event_name
    if name == "pull_request_target":
        raise UsageError(
            "`pull_request_target` hands a token that can write to code of strangers. Use `on: pull_request`; "
            "for comments on pull requests from forks add `faithbot publish` in a workflow `on: workflow_run`."
        )
    if name not in _PAYLOADS:
        raise UsageError(
            f"the event `{name}` says nothing to compare: run faithbot `on: pull_request`, or on one of "
            f"{', '.join(known for known in _PAYLOADS if known != 'pull_request')}."
        )
    try:
        return _PAYLOADS[name].model_validate_json(runner.event_path.read_bytes()).to_event()
    except OSError as error:
        raise UsageError(f"the event's payload {runner.event_path} cannot be read: {error.strerror}.") from None
    except ValidationError as error:
        problem = error.errors()[0]
        key = ".".join(map(str, problem["loc"])) or "the whole"
        raise UsageError(f"{runner.event_path} is no payload of `{name}`: {key}: {problem['msg']}.") from None


class _Part(BaseModel):
    """A piece of a payload. GitHub sends far more, and more every year: it is ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)


class _Payload(_Part, ABC):
    @abstractmethod
    def to_event(self) -> Event: ...


class _User(_Part):
    login: str


class _Repository(_Part):
    full_name: RepositoryName


class _Side(_Part):
    ref: str
    sha: CommitId
    repo: _Repository | None


class _Base(_Side):
    repo: _Repository


class _PullRequest(_Part):
    number: Annotated[int, Field(ge=1)]
    state: Literal["open", "closed"]
    user: _User | None
    head: _Side
    base: _Base


class _Changes(_Part):
    base: dict[str, Any] | None = None


class _PullRequestPayload(_Payload):
    pull_request: _PullRequest
    changes: _Changes = _Changes()

    def to_event(self) -> PullRequestEvent:
        pull, head = self.pull_request, self.pull_request.head
        return PullRequestEvent(
            number=pull.number,
            head_sha=head.sha,
            head_ref=head.ref,
            head_repository=head.repo.full_name if head.repo else None,
            base_sha=pull.base.sha,
            base_ref=pull.base.ref,
            is_fork=head.repo != pull.base.repo,
            is_open=pull.state == "open",
            author=pull.user.login if pull.user else _GHOST,
            is_retargeted=self.changes.base is not None,
        )


class _MergeGroup(_Part):
    base_sha: CommitId
    head_sha: CommitId
    base_ref: str
    head_ref: str


class _MergeGroupPayload(_Payload):
    merge_group: _MergeGroup

    def to_event(self) -> MergeGroupEvent:
        return MergeGroupEvent(**self.merge_group.model_dump())


class _HomeRepository(_Part):
    default_branch: str


class _PushPayload(_Payload):
    ref: str
    before: CommitId
    after: CommitId
    repository: _HomeRepository

    def to_event(self) -> PushEvent:
        if not self.after.strip("0"):
            raise UsageError(f"{self.ref} was deleted: there is nothing to evaluate.")
        before = self.before if self.before.strip("0") else None
        return PushEvent(self.ref, before, self.after, self.repository.default_branch)


class _DispatchPayload(_Payload):
    inputs: dict[str, Any] | None = None

    def to_event(self) -> DispatchEvent:
        given = {name: str(value).strip() for name, value in (self.inputs or {}).items() if value is not None}
        return DispatchEvent(
            _pull_request_number(given.get("pr", "")),
            given.get("judge-model") or None,
            _grading_side(given.get("graded-by", "")),
        )


def _pull_request_number(given: str) -> int | None:
    """From a field that people fill in: `12` or `#12`."""
    digits = given.removeprefix("#")
    if not given:
        return None
    if not (digits.isascii() and digits.isdigit() and len(digits) < 10 and int(digits) > 0):
        raise UsageError(f"input `pr`: use the number of a pull request, such as 12; found {given[:_SHOWN]!r}.")
    return int(digits)


def _grading_side(given: str) -> Literal["base", "head"]:
    if given in ("", "base"):
        return "base"
    if given == "head":
        return "head"
    raise UsageError(f"input `graded-by`: use base or head; found {given[:_SHOWN]!r}.")


class _SchedulePayload(_Payload):
    def to_event(self) -> ScheduleEvent:
        return ScheduleEvent()


class _WorkflowRun(_Part):
    id: int
    head_sha: CommitId
    head_branch: str | None
    head_repository: _Repository | None
    event: str
    conclusion: str | None


class _WorkflowRunPayload(_Payload):
    workflow_run: _WorkflowRun

    def to_event(self) -> WorkflowRunEvent:
        run = self.workflow_run
        repository = run.head_repository.full_name if run.head_repository else None
        return WorkflowRunEvent(
            run_id=run.id,
            head_sha=run.head_sha,
            head_branch=run.head_branch,
            head_owner=repository.partition("/")[0] if repository else None,
            head_repository=repository,
            event=run.event,
            conclusion=run.conclusion,
        )


_PAYLOADS: dict[str, type[_Payload]] = {
    "pull_request": _PullRequestPayload,
    "merge_group": _MergeGroupPayload,
    "push": _PushPayload,
    "workflow_dispatch": _DispatchPayload,
    "schedule": _SchedulePayload,
    "workflow_run": _WorkflowRunPayload,
}
