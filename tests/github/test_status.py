"""A commit status says the verdict in one line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faithbot.github.api import Refused
from faithbot.github.status import set_status
from github_double import HEAD, Failure, GitHubDouble

if TYPE_CHECKING:
    from github.Repository import Repository


def test_a_status_is_set_with_one_request(api: GitHubDouble, repository: Repository) -> None:
    description = "faithfulness 0.91 → 0.84 (−0.07, noise ±0.03)"
    assert set_status(repository, HEAD, "failure", description, "https://github.com/octocat/run/1", "faithbot") is None
    [status] = api.statuses(HEAD)
    assert (status["state"], status["description"]) == ("failure", description)
    assert (status["context"], status["target_url"]) == ("faithbot", "https://github.com/octocat/run/1")
    assert len(api.requests) == 1


def test_the_address_may_be_missing(api: GitHubDouble, repository: Repository) -> None:
    assert set_status(repository, HEAD, "success", "faithfulness 0.91", None, "faithbot") is None
    assert api.requests[0].body == {"state": "success", "description": "faithfulness 0.91", "context": "faithbot"}


def test_a_long_description_is_cut_after_a_word(api: GitHubDouble, repository: Repository) -> None:
    assert set_status(repository, HEAD, "error", "the model server " + "died " * 40, None, "faithbot") is None
    [status] = api.statuses(HEAD)
    assert len(status["description"]) <= 140
    assert status["description"].endswith("died…")


def test_an_outage_does_not_lose_the_status(api: GitHubDouble, repository: Repository) -> None:
    api.failures.append(Failure(502))
    assert set_status(repository, HEAD, "success", "faithfulness 0.91", None, "faithbot") is None
    assert len(api.statuses(HEAD)) == 1


def test_a_missing_permission_is_advice(api: GitHubDouble, repository: Repository) -> None:
    api.add_token(permissions={"pull_requests": "write"})
    refused = set_status(repository, HEAD, "success", "faithfulness 0.91", None, "faithbot")
    assert isinstance(refused, Refused)
    assert refused.advice.startswith("the status on 6dcb09b could not be set: the token lacks `statuses: write`")


def test_an_unknown_commit_is_advice(repository: Repository) -> None:
    refused = set_status(repository, "0" * 40, "success", "faithfulness 0.91", None, "faithbot")
    assert refused == Refused(
        f"the status on 0000000 could not be set: GitHub answered 422: No commit found for SHA: {'0' * 40}"
    )
