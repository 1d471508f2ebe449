"""The image of the service: pinned, and pulled only where it is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docker.errors import ImageNotFound

if TYPE_CHECKING:
    from collections.abc import Callable

    from docker import DockerClient

OLLAMA_IMAGE = "ollama/ollama:0.32.15@sha256:57d60e686821ea81a7748a3ec8141308c8b8f95b27105713954abf7a6529e700"


def ensure_image(client: DockerClient, image: str, log: Callable[[str], None]) -> str:
    """The name under which the engine has ``image``, pulled if it is missing.

    :class:`EvaluationError` where it cannot be had.
    """
    repository, tag = split_name(image)
    name = f"{repository}{'@' if ':' in tag else ':'}{tag}"
    try:
        client.images.get(name)
    except ImageNotFound:
        from faithbot.ollama_service.image_pull import pull_image  # slow: HTTP to models, for its errors

        pull_image(client, image, log)
    return name


def split_name(image: str) -> tuple[str, str]:
    """Repository and digest, else repository and tag. A digest says it all: the tag beside it is for people."""
    name, _, digest = image.partition("@")
    folder, slash, last = name.rpartition("/")
    last, _, tag = last.partition(":")
    return f"{folder}{slash}{last}", digest or tag or "latest"
