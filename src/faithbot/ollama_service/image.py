"""The image of the service: pinned, and pulled only where it is missing."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from docker.errors import APIError, ImageNotFound

from faithbot.errors import EvaluationError
from faithbot.ollama_service.engine import explain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from docker import DockerClient

OLLAMA_IMAGE = "ollama/ollama:0.32.15@sha256:57d60e686821ea81a7748a3ec8141308c8b8f95b27105713954abf7a6529e700"

_SECONDS_BETWEEN_LINES = 5.0


def ensure_image(client: DockerClient, image: str, log: Callable[[str], None]) -> str:
    """The name under which the engine has ``image``, pulled if it is missing."""
    repository, tag = split_name(image)
    name = f"{repository}{'@' if ':' in tag else ':'}{tag}"
    try:
        client.images.get(name)
    except ImageNotFound:
        log(f"pulling the image {image}")
        try:
            _follow(client.api.pull(repository, tag=tag, stream=True, decode=True), log)
        except (APIError, _PullError) as error:
            reason = explain(error) if isinstance(error, APIError) else error
            raise EvaluationError(f"cannot pull the image {image}: {reason}. Check ollama-image.") from error
    return name


def split_name(image: str) -> tuple[str, str]:
    """Repository and digest, else repository and tag. A digest says it all: the tag beside it is for people."""
    name, _, digest = image.partition("@")
    folder, slash, last = name.rpartition("/")
    last, _, tag = last.partition(":")
    return f"{folder}{slash}{last}", digest or tag or "latest"


class _PullError(Exception):
    """An error that came in the middle of a stream which had begun well."""


def _follow(events: Iterable[dict[str, Any]], log: Callable[[str], None]) -> None:
    layers: dict[str, tuple[int, int]] = {}
    last_line = time.monotonic()
    for event in events:
        if "error" in event:
            raise _PullError(event["error"])
        detail = event.get("progressDetail") or {}
        if event.get("status") == "Downloading" and "total" in detail:
            layers[event["id"]] = (detail["current"], detail["total"])
            if time.monotonic() - last_line >= _SECONDS_BETWEEN_LINES:
                last_line = time.monotonic()
                current, total = (sum(sizes) for sizes in zip(*layers.values(), strict=True))
                log(f"{current / 1e6:.0f} of {total / 1e6:.0f} MB or more")
