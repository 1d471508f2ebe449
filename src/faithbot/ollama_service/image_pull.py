"""Fetches an image, with the patience that models are pulled with."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from docker.errors import APIError

from faithbot.errors import EvaluationError
from faithbot.models.transport import TransientError
from faithbot.ollama_service.engine import explain
from faithbot.ollama_service.image import split_name
from faithbot.ollama_service.layers import Layers
from faithbot.ollama_service.patience import FIRST_WAIT, TRIES, tries
from faithbot.userinfo import without_userinfo

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from docker import DockerClient

_FINAL = re.compile(
    r"manifest unknown|not found|no matching manifest|denied|unauthorized|authentication required"
    r"|no basic auth credentials|invalid reference|no space left on device",
    re.IGNORECASE,
)
"""What Docker says where another try would end the same. Its status does not tell: it is 500 for a busy registry and
for one that refuses."""


def pull_image(client: DockerClient, image: str, log: Callable[[str], None], *, first_wait: float = FIRST_WAIT) -> None:
    """Pull until it succeeds: Docker keeps the layers that are complete.

    :class:`EvaluationError` where the registry has no such image or does not give it out, or failed several times in a
    row. ``first_wait``: seconds before the second try.
    """
    log(f"pulling the image {image}")
    try:
        for attempt in tries(TransientError, first_wait):
            if attempt.num > 1:
                log(f"pulling the image {image}: broke off, try {attempt.num} of {TRIES}")
            with attempt:
                _pull_once(client, image, log)
    except TransientError as error:
        raise EvaluationError(
            f"cannot pull the image {image} in {TRIES} tries: {error}. Repeat the job later, or check ollama-image."
        ) from error


def _pull_once(client: DockerClient, image: str, log: Callable[[str], None]) -> None:
    repository, tag = split_name(image)
    try:
        _follow(client.api.pull(repository, tag=tag, stream=True, decode=True), image, log)
    except APIError as error:
        raise _failure(image, explain(error)) from error


def _follow(events: Iterable[dict[str, Any]], image: str, log: Callable[[str], None]) -> None:
    """Until the stream ends: an error can come in the middle of one that had begun well."""
    layers = Layers()
    for event in events:
        if "error" in event:
            raise _failure(image, without_userinfo(event["error"]))
        detail = event.get("progressDetail") or {}
        is_download = event.get("status") == "Downloading" and "total" in detail
        if is_download and layers.take(event["id"], detail["current"], detail["total"]):
            log(f"{layers.here / 1e6:.0f} of {layers.total / 1e6:.0f} MB or more")


def _failure(image: str, reason: str) -> Exception:
    if _FINAL.search(reason):
        return EvaluationError(f"cannot pull the image {image}: {reason}. Check ollama-image.")
    return TransientError(reason)
