"""HTTP to a model server: JSON in and out, retries while it is busy or restarting, errors a person can act on."""

from __future__ import annotations

import asyncio
import ipaddress
import json
import logging
import re
import ssl
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import httpx
import stamina

from faithbot.errors import EvaluationError, UsageError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

T = TypeVar("T")
log = logging.getLogger(__name__)
# Retries are logged here in words: stamina's event names must not reach the terminal.
logging.getLogger("stamina").propagate = False
logging.getLogger("stamina").addHandler(logging.NullHandler())

_BUSY = 429
_SERVER_ERROR = 500
_LONGEST_RETRY_AFTER = 60.0
_LONGEST_QUOTE = 500


@dataclass(frozen=True)
class Patience:
    """How long to wait, in seconds, and how often to try again."""

    attempts: int = 5
    first_wait: float = 1.0
    """Before the second try; doubled before each further one: 15 s in all, plus up to a second of jitter each."""
    jitter: float = 1.0
    connect: float = 5.0
    first_answer: float = 600.0
    """Loading the weights and reading the prompt, queueing included."""
    between_tokens: float = 120.0


class TransientError(Exception):
    """The server is busy, broke off or died: another try may succeed."""

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class RefusedError(Exception):
    """The server understood the request and refuses it: another try would be refused as well."""

    def __init__(self, status: int, message: str, body: Mapping[str, Any]) -> None:
        super().__init__(message)
        self.status = status
        self.body = body


class Transport:
    """One HTTP server. Its methods raise :class:`RefusedError` and the errors of :mod:`faithbot.errors`.

    ``name`` says what the server is and ``cure`` what a person can do when it is not reached. ``key`` is sent as a
    bearer token and shown nowhere.
    """

    def __init__(
        self, url: str, *, name: str, cure: str, key: str | None = None, patience: Patience | None = None
    ) -> None:
        parsed = _parse(url, name)
        self.patience = patience or Patience()
        self.address = str(parsed.copy_with(userinfo=b"")).rstrip("/")
        """Without user and password."""
        self.place = f"{name} at {self.address}"
        self._cure = cure
        self._reached = False
        self._key = key
        self._client = httpx.AsyncClient(
            base_url=parsed,
            headers={"Authorization": f"Bearer {key}"} if key else None,
            timeout=httpx.Timeout(self.patience.first_answer, connect=self.patience.connect, pool=None),
            limits=httpx.Limits(max_connections=None),
            verify=trusted_certificates(parsed),
            trust_env=not _is_this_machine(parsed.host),  # a proxy cannot reach the server on this machine
        )

    async def request(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The JSON object that the server answers with."""

        async def attempt() -> dict[str, Any]:
            response = await self._client.request(method, path, json=body)
            self._check(response)
            return self._parse_object(response.text)

        return await self.persist(attempt)

    async def stream(self, path: str, body: Mapping[str, Any], consume: Callable[[dict[str, Any]], None]) -> None:
        """Post ``body`` and hand each line's JSON object to ``consume``. One try: see :meth:`persist`."""
        loop = asyncio.get_running_loop()
        async with (
            asyncio.timeout(self.patience.first_answer) as deadline,
            self._client.stream("POST", path, json=body) as response,
        ):
            if not response.is_success:
                await response.aread()
            self._check(response)
            async for line in response.aiter_lines():
                deadline.reschedule(loop.time() + self.patience.between_tokens)
                if line:
                    consume(self._parse_object(line))

    async def persist(self, attempt: Callable[[], Awaitable[T]]) -> T:
        """Make a call, and make it again while it fails in a way that may pass."""
        tries = 0
        try:
            async for context in stamina.retry_context(
                on=self._backoff,
                attempts=self.patience.attempts,
                timeout=None,  # a call may rightly take minutes: only the tries are bounded
                wait_initial=self.patience.first_wait,
                wait_max=_LONGEST_RETRY_AFTER,
                wait_jitter=self.patience.jitter,
            ):
                with context:
                    tries = context.num
                    return await self._translated(attempt)
        except TransientError as error:
            raise self._given_up(error, tries) from error
        raise AssertionError("retry_context either returns or raises")

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def _translated(self, attempt: Callable[[], Awaitable[T]]) -> T:
        """The call's result; httpx's errors become transient or final."""
        try:
            return await attempt()
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            if not self._reached:  # a server that has never answered is not there: do not keep anyone waiting
                raise EvaluationError(f"{self.place} is not reached ({self._reason(error)}). {self._cure}") from error
            raise TransientError(self._reason(error)) from error
        except (TimeoutError, httpx.TimeoutException) as error:
            raise EvaluationError(
                f"{self.place} fell silent: nothing came for {self.patience.first_answer:.0f} s before the first "
                f"token or {self.patience.between_tokens:.0f} s between two. Is the model too large for the machine?"
            ) from error
        except (httpx.LocalProtocolError, httpx.InvalidURL) as error:  # its words may quote a header, and so the key
            raise EvaluationError(
                f"{self.place} was not asked: the request is not valid HTTP ({type(error).__name__}). {self._cure}"
            ) from error
        except httpx.RequestError as error:
            raise TransientError(self._reason(error)) from error

    def _backoff(self, error: Exception) -> bool | float:
        if not isinstance(error, TransientError):
            return False
        log.warning("%s is in trouble: %s", self.place, error)
        return True if error.retry_after is None else min(error.retry_after, _LONGEST_RETRY_AFTER)

    def _given_up(self, error: TransientError, tries: int) -> EvaluationError:
        return EvaluationError(
            f"{self.place} failed {tries} times in a row, at last with: {error}. "
            "Finished answers are kept: once the server is well again, repeat the command."
        )

    def _check(self, response: httpx.Response) -> None:
        """Sort a status that is not success into transient and final."""
        self._reached = True
        if response.is_success:
            return
        message = f"HTTP {response.status_code}: {self._said(response.text) or self._hidden(response.reason_phrase)}"
        if response.status_code == _BUSY or response.status_code >= _SERVER_ERROR:
            raise TransientError(message, _retry_after(response))
        raise RefusedError(response.status_code, message, _object_or_empty(response.text))

    def _parse_object(self, text: str) -> dict[str, Any]:
        try:
            value = json.loads(text)
        except ValueError:
            value = None
        if not isinstance(value, dict):
            raise EvaluationError(f"{self.place} answered something else than JSON: {self._said(text)!r}. {self._cure}")
        return value

    def _said(self, text: str) -> str:
        """What an error body says. Shortened last: half a key would not be found and hidden."""
        return self._hidden(_explain(text))[:_LONGEST_QUOTE]

    def _reason(self, error: Exception) -> str:
        return self._hidden(str(error)) or type(error).__name__

    def _hidden(self, message: str) -> str:
        """Servers quote a wrong key back."""
        return message.replace(self._key, "***") if self._key else message


def _parse(url: str, name: str) -> httpx.URL:
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL as error:
        raise UsageError(f"{name}: its address is not a URL: {error}.") from error
    if parsed.scheme not in {"http", "https"} or not parsed.host:
        raise UsageError(f"{name}: its address must start with http:// or https:// and name a host.")
    return parsed


def trusted_certificates(url: httpx.URL) -> ssl.SSLContext:
    """Those that a server may show; none are read, which takes a while, for one that shows none."""
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if url.scheme == "http" else httpx.create_ssl_context()


def _is_this_machine(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _retry_after(response: httpx.Response) -> float | None:
    """Seconds; the header's other form, a date, is left to the ordinary backoff."""
    value = response.headers.get("retry-after", "")
    return float(value) if re.fullmatch(r"\d+(\.\d+)?", value) else None


def _object_or_empty(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _explain(text: str) -> str:
    """What an error body says: servers and proxies each have their own form."""
    body = _object_or_empty(text)
    for key in ("error", "message", "detail"):
        value = body.get(key)
        if isinstance(value, dict):
            value = value.get("message")
        if isinstance(value, str) and value:
            return value
    title = re.search(r"<title>(.*?)</title>", text, re.IGNORECASE | re.DOTALL)
    return " ".join((title[1] if title else text).split())
