"""Pull requests are read through the API, and found by the very commit that a workflow ran on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from faithbot.errors import EvaluationError
from faithbot.github.pull_requests import PullRequest, find_pull_requests, get_pull_request
from github_double import HEAD

if TYPE_CHECKING:
    from github.Repository import Repository

    from github_double import GitHubDouble

FORK = "a" * 40
OTHER = "b" * 40


def test_a_pull_request_of_the_repository(repository: Repository) -> None:
    assert get_pull_request(repository, 7) == PullRequest(
        number=7,
        head_sha=HEAD,
        head_ref="topic",
        head_repository="octocat/Hello-World",
        base_ref="main",
        is_fork=False,
        merge_commit_sha=f"{7:040x}",
        state="open",
        draft=False,
    )


def test_a_draft_of_a_fork_to_another_base(api: GitHubDouble, repository: Repository) -> None:
    api.add_pull_request(8, FORK, head="mona:patch-1", base="release/2", draft=True)
    pull = get_pull_request(repository, 8)
    assert (pull.head_repository, pull.is_fork) == ("mona/Hello-World", True)
    assert (pull.head_ref, pull.base_ref, pull.draft) == ("patch-1", "release/2", True)


def test_a_fork_that_is_gone_is_still_a_fork(api: GitHubDouble, repository: Repository) -> None:
    api.add_pull_request(8, FORK, head="mona:patch-1", head_deleted=True, state="closed")
    pull = get_pull_request(repository, 8)
    assert (pull.head_repository, pull.is_fork) == (None, True)
    assert (pull.state, pull.merge_commit_sha) == ("closed", None)


def test_a_pull_request_is_read_with_one_request(api: GitHubDouble, repository: Repository) -> None:
    get_pull_request(repository, 7)
    find_pull_requests(repository, "octocat", "topic", HEAD)
    assert [request.path for request in api.requests] == [
        "/repos/octocat/Hello-World/pulls/7",
        "/repos/octocat/Hello-World/pulls",
    ]


def test_an_unknown_number_is_an_error(repository: Repository) -> None:
    with pytest.raises(EvaluationError, match="pull request 9 could not be read"):
        get_pull_request(repository, 9)


def test_the_pull_request_of_a_forks_run_is_found_by_branch_and_commit(
    api: GitHubDouble, repository: Repository
) -> None:
    api.add_pull_request(8, FORK, head="mona:topic")
    api.add_pull_request(9, OTHER, head="mona:other")
    found = find_pull_requests(repository, "mona", "topic", FORK)
    assert [pull.number for pull in found] == [8]
    assert dict(api.requests[0].query) == {"state": "open", "head": "mona:topic", "per_page": "100"}


@pytest.mark.parametrize(
    ("owner", "branch", "sha"),
    [
        ("mona", "topic", HEAD),  # the branch has moved on since, or the run claims another's commit
        ("octocat", "topic", FORK),
        ("mona", "other", FORK),
        ("hubot", "topic", FORK),
        ("mona", "done", OTHER),  # closed
    ],
)
def test_no_pull_request_is_found_for_another_commit(
    api: GitHubDouble, repository: Repository, owner: str, branch: str, sha: str
) -> None:
    api.add_pull_request(8, FORK, head="mona:topic")
    api.add_pull_request(9, OTHER, head="mona:done", state="closed")
    assert find_pull_requests(repository, owner, branch, sha) == []


def test_several_from_one_branch_are_all_found(api: GitHubDouble, repository: Repository) -> None:
    api.add_pull_request(8, FORK, head="mona:topic")
    api.add_pull_request(9, FORK, head="mona:topic", base="release/2")
    assert [pull.number for pull in find_pull_requests(repository, "mona", "topic", FORK)] == [8, 9]


def test_a_missing_permission_is_named(api: GitHubDouble, repository: Repository) -> None:
    api.add_token(permissions={})
    with pytest.raises(EvaluationError, match="could not be looked up: the token lacks `pull-requests: read`"):
        find_pull_requests(repository, "mona", "topic", FORK)
