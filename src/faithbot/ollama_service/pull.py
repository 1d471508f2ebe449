"""Fills an Ollama with models: the missing ones, each pulled until the server says that it succeeded."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import httpx

from faithbot.errors import EvaluationError, UsageError
from faithbot.models.ollama_names import PLAIN_HTTP, listed_name, names_no_host
from faithbot.models.transport import TransientError, trusted_certificates
from faithbot.ollama_service.layers import Layers
from faithbot.ollama_service.patience import FIRST_WAIT, TRIES, tries
from faithbot.userinfo import without_userinfo

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator

_SILENCE = 600.0
"""Checking the digest of a large file says nothing for minutes."""
_UNKNOWN = "file does not exist"
"""What Ollama says where the registry has no such model or tag."""
_BAD_REQUEST = 400


def pull_models(
    url: str,
    names: Iterable[str],
    log: Callable[[str], None],
    *,
    trusted: Container[str] = (),
    first_wait: float = FIRST_WAIT,
) -> None:
    """Make sure that the server at ``url`` has these models, named as ``ollama pull`` takes them.

    Those in ``trusted`` may come from any host, all others from Ollama's own registry only.

    Raises:
        UsageError: there is no such model, or it may not be pulled from where its name says.
        EvaluationError: the server is not reached, or a pull failed several times in a row.
    """
    timeout = httpx.Timeout(_SILENCE, connect=10)
    with httpx.Client(base_url=url, timeout=timeout, verify=trusted_certificates(httpx.URL(url))) as http:
        present = _present(http)
        wanted = list(dict.fromkeys(names))
        for name in wanted:
            if name not in trusted and listed_name(name) not in present:
                _check_registry(name)
        for name in wanted:
            if listed_name(name) in present:
                log(f"{name} is there already")
            else:
                _pull(http, name, log, first_wait)


def _present(http: httpx.Client) -> set[str]:
    try:
        answer = http.get("/api/tags").raise_for_status().json()
        return {listed_name(model["name"]) for model in answer["models"] or ()}
    except (httpx.HTTPError, ValueError, LookupError, TypeError) as error:
        told = f"Ollama at {http.base_url} does not say which models it has: {error}."
        raise EvaluationError(without_userinfo(told)) from error


def _check_registry(name: str) -> None:
    """A name can be any URL, which the server would fetch from inside the network that it stands in."""
    if not names_no_host(name):
        raise UsageError(
            f"model '{name}' is not named as in Ollama's own registry (NAME:TAG or OWNER/NAME:TAG), and a pull request "
            "may bring in no other: merge a configuration that names it into the base branch first, or name it in the "
            "workflow."
        )


def _pull(http: httpx.Client, name: str, log: Callable[[str], None], first_wait: float) -> None:
    """Pull until it succeeds: Ollama goes on where the try before broke off."""
    log(f"pulling {name}")
    started = time.monotonic()
    progress = _Progress(name, log)
    try:
        for attempt in tries((TransientError, httpx.TransportError), first_wait):
            if attempt.num > 1:
                log(f"pulling {name}: broke off, try {attempt.num} of {TRIES}")
            with attempt:
                _pull_once(http, name, progress)
    except (TransientError, httpx.TransportError) as error:
        raise EvaluationError(
            f"model '{name}' could not be pulled in {TRIES} tries, the last of which ended with: "
            f"{without_userinfo(str(error))}. "
            "What was pulled is kept: once the registry is reached again, repeat the job."
        ) from error
    log(f"{name} is there ({progress.size} in {time.monotonic() - started:.0f} s)")


def _pull_once(http: httpx.Client, name: str, progress: _Progress) -> None:
    body = {"model": name, "insecure": name.casefold().startswith(PLAIN_HTTP)}
    last: dict[str, Any] = {}
    with http.stream("POST", "/api/pull", json=body) as response:
        for last in _lines(response):
            if "error" in last:
                raise _failure(name, str(last["error"]), response.status_code)
            progress.show(last)
    if last.get("status") != "success":
        raise TransientError(f"the server ended at {last.get('status') or 'the start'!r}")


def _lines(response: httpx.Response) -> Iterator[dict[str, Any]]:
    for line in response.iter_lines():
        try:
            value = json.loads(line)
        except ValueError:
            value = None
        if not isinstance(value, dict):
            raise TransientError(f"HTTP {response.status_code}: {without_userinfo(line)[:200]!r}")
        yield value


def _failure(name: str, error: str, status: int) -> Exception:
    if _UNKNOWN in error:
        return UsageError(
            f"model '{name}' does not exist in its registry: look the name up at https://ollama.com/library."
        )
    if status == _BAD_REQUEST:
        return UsageError(f"model '{name}' is refused by Ollama: {without_userinfo(error)}.")
    return TransientError(error)


class _Progress:
    """How much of a model is here, in a line now and then."""

    def __init__(self, name: str, log: Callable[[str], None]) -> None:
        self._name = name
        self._log = log
        self._layers = Layers()

    @property
    def size(self) -> str:
        return f"{self._layers.total / 1e9:.2f} GB"

    def show(self, line: dict[str, Any]) -> None:
        """Take one line of the stream: ``completed`` of ``total`` bytes of the layer ``digest``."""
        digest, total, completed = line.get("digest"), line.get("total"), line.get("completed", 0)
        if not (isinstance(digest, str) and isinstance(total, int) and isinstance(completed, int)):
            return
        if self._layers.take(digest, completed, total):
            self._log(f"pulling {self._name}: {self._layers.here / self._layers.total:.0%} of {self.size}")
