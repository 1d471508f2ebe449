"""The client waits as GitHub asks, never for long, and says in one line what was refused."""

from __future__ import annotations

import socket
import time
from typing import TYPE_CHECKING, Any

import github
import pytest
import requests

from faithbot.errors import EvaluationError
from faithbot.github.api import Refused, attempt, demand, open_repository, own_login
from faithbot.github.retry import Patience, seconds_to_wait
from github_double import HEAD, Failure, GitHubDouble, secondary_limit

if TYPE_CHECKING:
    from github.Repository import Repository

SECONDARY = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
PRIMARY = "API rate limit exceeded for installation ID 1."
NO_PERMISSION = "Resource not accessible by integration"
NOW = 1_800_000_000.0


def head_of(repository: Repository, number: int = 7) -> str:
    return repository.get_pull(number).head.sha


def client(api: GitHubDouble, **patience: Any) -> Repository:
    return open_repository(api.repository, "ghs_workflow", api.url, Patience(**{"first_wait": 0.02, **patience}))


# --- waiting ---


@pytest.mark.parametrize(
    ("status", "message", "headers", "attempt", "seconds"),
    [
        # GitHub names a time: that, whatever else it says
        (403, SECONDARY, {"retry-after": "30"}, 1, 30),
        (429, SECONDARY, {"retry-after": "30", "x-ratelimit-remaining": "0", "x-ratelimit-reset": "1800000900"}, 1, 30),
        (503, "", {"retry-after": "5"}, 1, 5),
        # the hour's requests are used up: until the reset, and a second more
        (403, PRIMARY, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1800000090"}, 1, 91),
        (429, PRIMARY, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1800000090"}, 3, 91),
        (403, PRIMARY, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1799999999"}, 1, 1),
        # a limit without a time: a minute, growing
        (403, SECONDARY, {"x-ratelimit-remaining": "900", "x-ratelimit-reset": "1800000090"}, 1, 60),
        (403, SECONDARY, {}, 2, 120),
        (429, "", {}, 3, 240),
        # an outage: soon, growing
        (500, "", {}, 1, 1),
        (502, "", {}, 2, 2),
        (504, "", {"retry-after": "soon"}, 3, 4),
        # waiting would not help
        (403, NO_PERMISSION, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1800000090"}, 1, None),
        (404, "Not Found", {}, 1, None),
        (422, "Validation Failed", {}, 1, None),
    ],
)
def test_waits_as_long_as_github_asks(
    status: int, message: str, headers: dict[str, str], attempt: int, seconds: float | None
) -> None:
    failure = github.GithubException(status, {"message": message}, headers)
    assert seconds_to_wait(failure, attempt, first_wait=1.0, now=NOW) == seconds


def test_nothing_is_requested_before_it_is_needed(api: GitHubDouble, repository: Repository) -> None:
    repository.get_pull(7)
    repository.get_issue(7)
    repository.get_commit(HEAD)
    assert not api.requests


def test_an_outage_is_waited_for(api: GitHubDouble, repository: Repository, caplog: pytest.LogCaptureFixture) -> None:
    api.failures += [Failure(502), Failure(503), Failure(504)]
    assert head_of(repository) == HEAD
    assert len(api.requests) == 4
    assert caplog.messages == [
        f"GitHub answered {status} (GET /repos/octocat/Hello-World/pulls/7): asking again in 0 s"
        for status in (502, 503, 504)
    ]


def test_an_outage_is_not_waited_for_for_ever(api: GitHubDouble, repository: Repository) -> None:
    api.failures += [Failure(502)] * 5
    with pytest.raises(github.GithubException, match="502"):
        head_of(repository)
    assert len(api.requests) == 5


@pytest.mark.parametrize("limit", [secondary_limit(1), Failure(429, "Too many requests", {"Retry-After": "1"})])
def test_a_limit_is_waited_for_as_long_as_it_says(api: GitHubDouble, repository: Repository, limit: Failure) -> None:
    api.failures.append(limit)
    assert head_of(repository) == HEAD
    first, second = (request.at for request in api.requests)
    assert 1.0 <= second - first < 2.0


def test_a_limit_that_would_hold_up_the_job_is_not_waited_for(api: GitHubDouble, repository: Repository) -> None:
    api.failures.append(secondary_limit(3600))
    refused = attempt("the comment could not be posted", "pull-requests: write", lambda: head_of(repository))
    assert refused == Refused(
        "the comment could not be posted: GitHub's rate limit is used up for longer than a job should wait; "
        "run the job again later"
    )
    assert len(api.requests) == 1


def test_all_waiting_of_a_client_is_bounded_together(api: GitHubDouble) -> None:
    repository = client(api, first_wait=0.1, budget=0.15)
    api.failures.append(Failure(502))
    assert head_of(repository) == HEAD
    api.failures.append(Failure(502))
    with pytest.raises(github.GithubException, match="502"):
        head_of(repository)
    assert len(api.requests) == 3


def test_all_waiting_of_a_request_is_bounded_together(api: GitHubDouble) -> None:
    api.failures += [Failure(502)] * 2
    with pytest.raises(github.GithubException, match="502"):
        head_of(client(api, first_wait=0.1, budget=0.25))


def test_a_missing_permission_is_not_asked_for_twice(api: GitHubDouble, repository: Repository) -> None:
    api.add_token(permissions={})
    with pytest.raises(github.GithubException, match=NO_PERMISSION):
        head_of(repository)
    assert len(api.requests) == 1


def test_an_answer_that_does_not_come_is_not_waited_for_for_ever(api: GitHubDouble) -> None:
    api.failures.append(Failure(503, delay=1.6))
    start = time.monotonic()
    with pytest.raises(requests.ConnectionError, match="timed out"):
        head_of(client(api, attempts=1, timeout=1))
    assert time.monotonic() - start < 1.5


def test_writes_are_a_second_apart(api: GitHubDouble, repository: Repository) -> None:
    for state in ("pending", "success"):
        repository.get_commit(HEAD).create_status(state)
    first, second = (request.at for request in api.requests)
    assert second - first >= 1.0


def test_reads_are_not_held_up(api: GitHubDouble, repository: Repository) -> None:
    for _ in range(10):
        head_of(repository)
    assert api.requests[-1].at - api.requests[0].at < 1.0


# --- whose token it is ---


def test_a_persons_token_may_ask_for_its_login(api: GitHubDouble) -> None:
    token = api.add_token("ghp_person", author="mona", type="User")
    assert own_login(open_repository(api.repository, token, api.url)) == "mona"


def test_an_apps_token_may_not(repository: Repository) -> None:
    assert own_login(repository) is None


# --- advice ---


def refusal(status: int, message: str, **headers: str) -> Exception:
    return github.GithubException(status, {"message": message}, headers)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (refusal(403, NO_PERMISSION), ["lacks `issues: write`", "add it under `permissions:`", "`faithbot publish`"]),
        (refusal(404, "Not Found"), ["does not know it", "`issues: write`"]),
        (refusal(401, "Bad credentials"), ["token is not valid", "${{ github.token }}"]),
        (refusal(403, "Unable to create comment because issue is locked."), ["the conversation is locked"]),
        (refusal(403, SECONDARY), ["rate limit", "later"]),
        (refusal(502, "Server Error"), ["answered 502", "later"]),
        (refusal(422, "Validation Failed"), ["answered 422: Validation Failed"]),
        (requests.ConnectionError("refused"), ["was not reached (ConnectionError)"]),
        (requests.ReadTimeout(), ["was not reached (ReadTimeout)"]),
        (ValueError("not JSON"), ["not GitHub's", "proxy"]),
    ],
)
def test_each_refusal_is_one_line_with_its_cure(error: Exception, words: list[str]) -> None:
    def fail() -> None:
        raise error

    refused = attempt("the comment could not be posted", "issues: write", fail)
    assert isinstance(refused, Refused)
    assert refused.advice.startswith("the comment could not be posted: ")
    assert "\n" not in refused.advice
    for word in words:
        assert word in refused.advice


def test_what_github_says_is_shown_on_one_line_and_cut() -> None:
    def fail() -> None:
        raise github.GithubException(
            422, {"message": "no\x1b[31m\n::error::", "errors": ["odd", {"message": "word " * 100}]}
        )

    refused = attempt("x", "y", fail)
    assert isinstance(refused, Refused)
    assert refused.advice.startswith("x: GitHub answered 422: no")
    assert refused.advice.isprintable()
    assert len(refused.advice) < 300


def test_a_fault_of_our_own_is_not_taken_for_githubs() -> None:
    def fail() -> None:
        raise KeyError("faithbot")

    with pytest.raises(KeyError):
        attempt("x", "y", fail)


def test_a_server_that_is_not_there_is_a_refusal() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
        repository = open_repository("octocat/Hello-World", "ghs_workflow", url, Patience(first_wait=0.01))
        refused = attempt("x", "y", lambda: head_of(repository))
    assert refused == Refused("x: GitHub's API was not reached (ConnectionError); run the job again when it is")


def test_what_nothing_can_be_done_without_is_an_error(repository: Repository) -> None:
    with pytest.raises(EvaluationError, match="pull request 8 could not be read: GitHub does not know it"):
        demand("pull request 8 could not be read", "pull-requests: read", lambda: head_of(repository, 8))
