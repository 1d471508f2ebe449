"""How long to wait for GitHub: as long as it asks for, and no longer than a job can afford.

PyGithub's own retries (2.10) sleep for any `retry-after`, an hour too, give up at once on a 429 without that header,
and send a new comment again whose answer was lost, which posts it twice.
"""

from __future__ import annotations

import json
import logging
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from github.GithubRetry import GithubRetry
from github.Requester import Requester
from urllib3 import Retry
from urllib3.exceptions import ConnectTimeoutError, MaxRetryError, NewConnectionError

if TYPE_CHECKING:
    from types import TracebackType

    from github import GithubException
    from urllib3.connectionpool import ConnectionPool
    from urllib3.response import HTTPResponse

log = logging.getLogger(__name__)

_LIMITED = {403, 429}
_UNAVAILABLE = {500, 502, 503, 504}
_UNASKED_LIMIT_WAIT = 60.0
"""GitHub's advice where it names no time: a minute, doubled each time."""


@dataclass(frozen=True)
class Patience:
    """How often to try again and how long to wait, in seconds."""

    attempts: int = 5
    first_wait: float = 1.0
    """After a failure of the network or a 5xx; doubled before each further try."""
    budget: float = 240.0
    """For all waiting of one client together."""
    timeout: int = 15
    """For a connection, and for each part of an answer; GitHub itself gives up after ten."""


class Budget:
    """Seconds that are left for waiting."""

    def __init__(self, seconds: float) -> None:
        self.left = seconds

    def take(self, seconds: float) -> bool:
        """Whether there is so much left; if so, it is taken."""
        if seconds > self.left:
            return False
        self.left -= seconds
        return True


def seconds_to_wait(failure: GithubException, attempt: int, first_wait: float, now: float) -> float | None:
    """What a failed request must wait for before it is sent again; None if that would not help.

    ``attempt`` counts from 1, ``now`` is the time in seconds since 1970. A limit's own headers come first:
    https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api#exceeding-the-rate-limit
    """
    headers = failure.headers or {}
    retry_after = headers.get("retry-after", "")
    if failure.status in _UNAVAILABLE:
        return float(retry_after) if retry_after.isdecimal() else first_wait * 2.0 ** (attempt - 1)
    if not is_rate_limit(failure):
        return None
    if retry_after.isdecimal():
        return float(retry_after)
    reset = headers.get("x-ratelimit-reset", "")
    if headers.get("x-ratelimit-remaining") == "0" and reset.isdecimal():
        return max(0.0, int(reset) - now) + 1  # it does not say when in that second
    return _UNASKED_LIMIT_WAIT * 2.0 ** (attempt - 1)


def is_rate_limit(failure: GithubException) -> bool:
    """Whether GitHub refused because of too many requests, not because of a missing permission."""
    if failure.status not in _LIMITED:
        return False
    message = failure.data.get("message") if isinstance(failure.data, dict) else None
    says_so = isinstance(message, str) and Requester.isRateLimitError(message)
    return failure.status == 429 or says_so or "retry-after" in (failure.headers or {})


class PatientRetry(Retry):
    """Decides for each failed request of a client whether it is sent again, and when.

    A request that creates something is not sent again where it may have been carried out: the caller must look first.
    """

    def __init__(self, *args: Any, patience: Patience, budget: Budget | None = None, **options: Any) -> None:
        super().__init__(*args, **options)
        self._patience = patience
        self._budget = budget or Budget(patience.budget)
        self._wait = 0.0

    def new(self, **changes: Any) -> Self:
        """A copy, with the same budget."""
        return super().new(patience=self._patience, budget=self._budget, **changes)

    def is_retry(self, method: str, status_code: int, has_retry_after: bool = False) -> bool:  # noqa: ARG002
        """Whether `increment` is to look at this response."""
        return status_code in _LIMITED | _UNAVAILABLE

    def increment(
        self,
        method: str | None = None,
        url: str | None = None,
        response: HTTPResponse | None = None,  # type: ignore[override]
        error: Exception | None = None,
        _pool: ConnectionPool | None = None,
        _stacktrace: TracebackType | None = None,
    ) -> Self:
        """The state for the next try; raises where there is to be none."""
        attempt = len(self.history) + 1
        failure: GithubException | MaxRetryError
        wait: float | None
        if response is not None:
            failure = _as_exception(response, url or "")
            wait = seconds_to_wait(failure, attempt, self._patience.first_wait, time.time())
            may_be_done = failure.status not in _LIMITED
            reason = f"answered {failure.status}"
        else:
            failure = MaxRetryError(_pool, url or "", error)  # type: ignore[arg-type]
            wait = self._patience.first_wait * 2.0 ** (attempt - 1)
            may_be_done = not isinstance(error, ConnectTimeoutError | NewConnectionError)
            reason = f"was not reached ({type(error).__name__})"
        is_safe = not may_be_done or _may_be_repeated(method, url)
        if wait is None or not is_safe or attempt >= self._patience.attempts or not self._budget.take(wait):
            raise failure from error
        path = (url or "").partition("?")[0]
        log.warning("GitHub %s (%s %s): asking again in %.0f s", reason, method, path, wait)
        retry = super().increment(method, url, response, error, _pool, _stacktrace)
        retry._wait = wait
        return retry

    def sleep(self, response: object = None) -> None:  # noqa: ARG002
        """Wait for as long as `increment` found right."""
        time.sleep(self._wait)


def _may_be_repeated(method: str | None, url: str | None) -> bool:
    """Reading and setting can be done twice; of what POST makes, only a second status does not matter."""
    return method != "POST" or "/statuses/" in (url or "")


def _as_exception(response: HTTPResponse, url: str) -> GithubException:
    """What PyGithub would raise for a response, whose body is read up by that."""
    text = GithubRetry.get_content(response, url)
    try:
        data = json.loads(text)
    except ValueError:  # a proxy's page
        data = None
    headers = {name.lower(): value for name, value in response.headers.items()}
    return Requester.createException(response.status, headers, data if isinstance(data, dict) else {})
