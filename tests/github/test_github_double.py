"""The double of GitHub's API is as strict as GitHub's own description of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import requests

from github_double import HEAD, Failure, GitHubDouble

COMMENTS = "/repos/octocat/Hello-World/issues/7/comments"


def ask(
    api: GitHubDouble, method: str, path: str, body: Any = None, *, sender: str = "ghs_workflow"
) -> requests.Response:
    return requests.request(method, api.url + path, json=body, headers={"Authorization": f"token {sender}"}, timeout=10)


def prepared() -> GitHubDouble:
    double = GitHubDouble()
    double.add_token()
    double.add_pull_request(7, HEAD)
    return double


@pytest.mark.parametrize(
    ("method", "path", "body", "problem"),
    [
        ("POST", COMMENTS, {"text": "hello"}, "'body' is a required property"),
        ("POST", COMMENTS, {"body": "hello", "colour": "red"}, "'colour' was unexpected"),
        ("POST", COMMENTS, {"body": 7}, "7 is not of type 'string'"),
        ("POST", COMMENTS, None, "the body is missing"),
        ("POST", f"/repos/octocat/Hello-World/statuses/{HEAD}", {"state": "passed"}, "'passed' is not one of"),
        ("GET", COMMENTS + "?per_page=many", None, "'many' is not of type 'integer'"),
        ("GET", COMMENTS + "?sort=newest", None, "query parameter sort is unknown"),
        ("GET", "/repos/octocat/Hello-World/pulls?state=merged", None, "'merged' is not one of"),
        ("GET", "/repos/octocat/Hello-World/pulls/first", None, "'first' is not of type 'integer'"),
        ("GET", "/repos/octocat/Hello-World/comments/7", None, "no such operation"),
        ("DELETE", COMMENTS, None, "no such operation"),
    ],
)
def test_a_request_that_the_description_does_not_allow_fails_the_test(
    method: str, path: str, body: Any, problem: str
) -> None:
    api = prepared()
    with pytest.raises(AssertionError, match=problem), api:
        ask(api, method, path, body)
    assert not api.bodies(7)


@pytest.mark.parametrize(
    ("field", "value", "problem"),
    [
        ("merge_commit_sha", 7, "response 200: .*merge_commit_sha: 7 is not valid"),
        ("state", "merged", "response 200: .*state: 'merged' is not one of"),
        ("created_at", "yesterday", "response 200: .*created_at: 'yesterday' is not a 'date-time'"),
        ("user", {}, "response 200: .*user: 'login' is a required property"),
    ],
)
def test_a_response_that_the_description_does_not_allow_fails_the_test(field: str, value: Any, problem: str) -> None:
    api = prepared()
    api.pull_requests[7][field] = value
    with pytest.raises(AssertionError, match=problem), api:
        ask(api, "GET", "/repos/octocat/Hello-World/pulls/7")


def test_a_failure_that_strikes_nobody_fails_the_test() -> None:
    api = prepared()
    api.failures.append(Failure(502))
    with pytest.raises(AssertionError, match="struck nobody"), api:
        pass


def test_asking_again_before_the_time_that_github_named_fails_the_test() -> None:
    api = prepared()
    api.failures.append(Failure(429, "Too many requests", {"Retry-After": "60"}))
    with pytest.raises(AssertionError, match="before the time that retry-after named"), api:
        assert [ask(api, "GET", COMMENTS).status_code for _ in range(2)] == [429, 200]


def test_it_remembers_comments_and_links_their_pages() -> None:
    with prepared() as api:
        posted = ask(api, "POST", COMMENTS, {"body": "first"}).json()
        assert ask(api, "PATCH", urlsplit(posted["url"]).path, {"body": "edited"}).json()["body"] == "edited"
        for n in range(4):
            api.add_comment(7, f"comment {n}")
        page = ask(api, "GET", COMMENTS + "?per_page=2&page=2")
        assert [comment["body"] for comment in page.json()] == ["comment 1", "comment 2"]
        assert set(page.links) == {"prev", "next", "last", "first"}
        [last] = ask(api, "GET", page.links["next"]["url"].removeprefix(api.url)).json()
        assert last["body"] == "comment 3"
        assert last["user"]["login"] == "octocat"
        assert posted["user"]["login"] == "github-actions[bot]"


@pytest.mark.parametrize(
    ("sender", "method", "path", "body", "status", "message"),
    [
        ("ghs_workflow", "GET", "/user", None, 403, "Resource not accessible by integration"),
        ("ghp_person", "GET", "/user", None, 200, None),
        ("ghs_reader", "GET", COMMENTS, None, 200, None),
        ("ghs_reader", "POST", COMMENTS, {"body": "hello"}, 403, "Resource not accessible by integration"),
        ("wrong", "GET", COMMENTS, None, 401, "Bad credentials"),
        ("ghs_workflow", "GET", COMMENTS.replace("7", "8"), None, 404, "Not Found"),
        ("ghs_workflow", "GET", COMMENTS.replace("Hello", "Goodbye"), None, 404, "Not Found"),
        ("ghs_workflow", "POST", COMMENTS, {"body": " "}, 422, "Validation Failed"),
        ("ghs_workflow", "POST", COMMENTS, {"body": "x" * 65_537}, 422, "Validation Failed"),
        (
            "ghs_workflow",
            "POST",
            f"/repos/octocat/Hello-World/statuses/{'0' * 40}",
            {"state": "error"},
            422,
            "No commit",
        ),
    ],
)
def test_it_refuses_as_github_does(
    sender: str, method: str, path: str, body: Any, status: int, message: str | None
) -> None:
    with prepared() as api:
        api.add_token("ghp_person", author="mona", type="User")
        api.add_token("ghs_reader", permissions={"pull_requests": "read"})
        response = ask(api, method, path, body, sender=sender)
        assert response.status_code == status
        assert message is None or response.json()["message"].startswith(message)


def test_the_pruned_description_lacks_nothing_that_it_refers_to() -> None:
    text = (Path(__file__).parent / "api.github.com.json").read_text()
    components = json.loads(text)["components"]
    for pointer in [part.partition('"')[0] for part in text.split('"$ref": "#/components/')[1:]]:
        kind, name = pointer.split("/")
        assert name in components[kind]
    assert len(text) < 1_000_000
