"""Pull requests as GitHub's API tells them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from faithbot.github.api import demand

if TYPE_CHECKING:
    from github.PullRequest import PullRequest as ApiPullRequest
    from github.Repository import Repository

PERMISSION = "pull-requests: read"


@dataclass(frozen=True)
class PullRequest:
    """What the rest of faithbot needs to know of a pull request."""

    number: int
    head_sha: str
    head_ref: str
    head_repository: str | None
    """OWNER/NAME; None where the fork has been deleted."""
    base_ref: str
    is_fork: bool
    """The head is in another repository, or was."""
    merge_commit_sha: str | None
    """While open: the test merge with base, where GitHub has made it."""
    state: str
    draft: bool


def get_pull_request(repository: Repository, number: int) -> PullRequest:
    """One pull request; EvaluationError where it cannot be read."""
    return demand(
        f"pull request {number} could not be read",
        PERMISSION,
        lambda: _pull_request(repository.get_pull(number).complete()),
    )


def find_pull_requests(repository: Repository, head_owner: str, head_branch: str, head_sha: str) -> list[PullRequest]:
    """Open pull requests whose head is this very commit of this branch; EvaluationError where they cannot be read.

    A ``workflow_run`` event names no pull request of a fork, and several may come from one branch, to different bases.
    """
    found = demand(
        f"the pull request of {head_owner}:{head_branch} could not be looked up",
        PERMISSION,
        lambda: [
            _pull_request(pull) for pull in repository.get_pulls(state="open", head=f"{head_owner}:{head_branch}")
        ],
    )
    return [pull for pull in found if (pull.head_sha, pull.head_ref) == (head_sha, head_branch)]


def _pull_request(pull: ApiPullRequest) -> PullRequest:
    head = pull.head.repo.full_name if pull.head.repo is not None else None
    return PullRequest(
        number=pull.number,
        head_sha=pull.head.sha,
        head_ref=pull.head.ref,
        head_repository=head,
        base_ref=pull.base.ref,
        is_fork=head != pull.base.repo.full_name,
        merge_commit_sha=pull.merge_commit_sha,
        state=pull.state,
        draft=pull.draft,
    )
