"""The door to GitHub's API: a patient client, and what GitHub refuses as one line of advice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import requests
from github import Auth, BadAttributeException, Github, GithubException
from github.AuthenticatedUser import AuthenticatedUser

from faithbot.errors import EvaluationError
from faithbot.github.retry import Patience, PatientRetry, is_rate_limit
from faithbot.plain_text import plain

if TYPE_CHECKING:
    from collections.abc import Callable

    from github.Repository import Repository

T = TypeVar("T")

_SECONDS_BETWEEN_WRITES = 1.0
_ITEMS_A_PAGE = 100
_LONGEST_QUOTE = 200

_FAILURES = (
    GithubException,
    requests.RequestException,
    # What PyGithub makes of an answer that is not GitHub's: a proxy's page, a redirection, another host.
    BadAttributeException,
    ValueError,
    RuntimeError,
    AssertionError,
)


@dataclass(frozen=True)
class Refused:
    """Something that was not done on GitHub. It never changes a verdict."""

    advice: str
    """One line: what was not done, why, and the cure."""


def open_repository(name: str, token: str, api_url: str, patience: Patience | None = None) -> Repository:
    """The repository OWNER/NAME. Nothing is requested before something of it is used.

    Requests wait for limits and outages within ``patience``, writes are a second apart.
    """
    patience = patience or Patience()
    client = Github(
        auth=Auth.Token(token),
        base_url=api_url.rstrip("/"),
        user_agent="faithbot",
        timeout=patience.timeout,
        retry=PatientRetry(total=None, allowed_methods=None, patience=patience),
        per_page=_ITEMS_A_PAGE,
        seconds_between_requests=None,
        seconds_between_writes=_SECONDS_BETWEEN_WRITES,
        lazy=True,
    )
    return client.get_repo(name)


def own_login(repository: Repository) -> str | None:
    """The login that the token speaks for; None for an app's token, the workflow's own included: it may not ask."""
    try:
        return AuthenticatedUser(repository.requester, url="/user").login
    except GithubException as error:
        if error.status == 403 and not is_rate_limit(error):
            return None
        raise


def attempt(what: str, permission: str, call: Callable[[], T]) -> T | Refused:
    """The call's result, or why there is none. ``what`` says what failed: "the comment could not be posted"."""
    try:
        return call()
    except _FAILURES as error:
        return Refused(f"{what}: {advice(error, permission)}")


def demand(what: str, permission: str, call: Callable[[], T]) -> T:
    """The call's result, where nothing can be done without it."""
    result = attempt(what, permission, call)
    if isinstance(result, Refused):
        raise EvaluationError(result.advice)
    return result


def advice(error: Exception, permission: str) -> str:
    """Why GitHub did not do something and what helps, on one line. ``permission`` as in ``pull-requests: write``."""
    if isinstance(error, requests.RequestException):
        return f"GitHub's API was not reached ({type(error).__name__}); run the job again when it is"
    if not isinstance(error, GithubException):
        return "the API answered with something that is not GitHub's; check the proxy and the API's address"
    if is_rate_limit(error):
        return "GitHub's rate limit is used up for longer than a job should wait; run the job again later"
    message = _message(error)
    if error.status == 403 and "locked" in message:
        return "the conversation is locked; unlock it and run the job again"
    if error.status == 401:
        return "the token is not valid, or not any more; pass `${{ github.token }}`"
    if error.status == 403:
        cure = f"the token lacks `{permission}`; add it under `permissions:` in the workflow"
        if permission.endswith("read"):
            return cure
        return (
            f"{cure}, or, for pull requests from forks and from Dependabot, whose tokens can only read, let "
            "`faithbot publish` do it in a second workflow"
        )
    if error.status == 404:
        return f"GitHub does not know it, or hides it from a token without `{permission}`"
    if error.status >= 500:
        return f"GitHub answered {error.status} several times; run the job again later"
    return f"GitHub answered {error.status}: {message}"


def _message(error: GithubException) -> str:
    """GitHub's own words, with those on single fields."""
    data = error.data if isinstance(error.data, dict) else {}
    fields = data.get("errors")
    details = [each.get("message") for each in fields if isinstance(each, dict)] if isinstance(fields, list) else []
    return plain("; ".join(str(part) for part in (data.get("message"), *details) if part), _LONGEST_QUOTE)
