"""Which two commits an event asks to compare."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from faithbot.errors import EvaluationError
from faithbot.github.event import DispatchEvent, MergeGroupEvent, PullRequestEvent, PushEvent, ScheduleEvent

if TYPE_CHECKING:
    from faithbot.github.clone import Clone

ComparedEvent = PullRequestEvent | MergeGroupEvent | PushEvent | DispatchEvent | ScheduleEvent


@dataclass(frozen=True)
class CommitPair:
    """Full ids of two commits that are both in the clone. Equal ones ask how base alone does."""

    base: str
    head: str
    head_of_pull_request: str | None = None
    """Where a commit status belongs: the pull request's own last commit, which is not the one that is evaluated."""
    note: str | None = None
    """What the reader must know about the choice."""


def choose_commits(clone: Clone, event: ComparedEvent, sha: str) -> CommitPair:
    """Base and head for an event of the run at commit ``sha``, fetched where the clone lacks them.

    HEAD of the clone plays no part: a workflow may have checked out something else.
    """
    match event:
        case PullRequestEvent():
            pair = _of_pull_request(clone, event, sha)
        case MergeGroupEvent():
            pair = CommitPair(event.base_sha, event.head_sha)
        case PushEvent():
            pair = CommitPair(event.after, event.after)
        case DispatchEvent(pull_request=int(number)):
            pair = _of_pull_request_number(clone, number)
        case _:
            pair = CommitPair(sha, sha)
    clone.ensure(pair.head)
    clone.ensure(pair.base)
    return pair


def _of_pull_request(clone: Clone, event: PullRequestEvent, sha: str) -> CommitPair:
    """GitHub's merge commit against its first parent: what base got meanwhile is on both sides, thus no difference."""
    if sha == event.head_sha:
        return CommitPair(
            event.base_sha,
            event.head_sha,
            event.head_sha,
            f"This run is of the pull request's own commit, not of its merge into {event.base_ref}: "
            f"what {event.base_ref} got meanwhile counts as a difference.",
        )
    pair = _of_merge(clone, sha, event.head_sha)
    if pair is None or event.is_retargeted:
        # GitHub makes the merge commit a moment after the push, or after the change of base: by now it may be there.
        current = clone.remote_refs(_merge_ref(event.number)).get(_merge_ref(event.number))
        pair = _of_merge(clone, current, event.head_sha) if current else None
    if pair is None:
        raise EvaluationError(
            f"GitHub has not merged commit {event.head_sha[:12]} of pull request #{event.number} into "
            f"{event.base_ref} yet (its merge commit {sha[:12]} is of another one): "
            "run the job again in a minute, or push again."
        )
    return pair


def _of_pull_request_number(clone: Clone, number: int) -> CommitPair:
    merge, head = _merge_ref(number), f"refs/pull/{number}/head"
    refs = clone.remote_refs(merge, head)
    if head not in refs:
        raise EvaluationError(f"there is no pull request #{number} in this repository: check the input `pr`.")
    if merge not in refs:
        raise EvaluationError(
            f"GitHub has no merge of pull request #{number} with its base: it has conflicts, or is closed. "
            "Resolve them, then run again."
        )
    pair = _of_merge(clone, refs[merge], refs[head])
    if pair is None:
        raise EvaluationError(
            f"GitHub has not merged the last commit of pull request #{number} with its base yet: "
            "run again in a minute; if that does not help, resolve its conflicts."
        )
    return pair


def _of_merge(clone: Clone, merge: str, head_of_pull_request: str) -> CommitPair | None:
    """The pair of a merge commit; None where it does not merge that very commit."""
    clone.ensure(merge)
    parents = clone.parents(merge)
    if len(parents) != 2 or parents[1] != head_of_pull_request:
        return None
    return CommitPair(parents[0], merge, head_of_pull_request)


def _merge_ref(number: int) -> str:
    return f"refs/pull/{number}/merge"
