"""The image of the action: small enough to be pulled by each job, and quick to build again."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import docker_engine

if TYPE_CHECKING:
    from docker import DockerClient

LARGEST = 350_000_000
LONGEST_BUILD = 60.0
"""Seconds, with the layers of an earlier build at hand."""


def test_the_image_is_small(docker_client: DockerClient, faithbot_image: str) -> None:
    assert docker_client.images.get(faithbot_image).attrs["Size"] <= LARGEST


def test_another_build_is_quick(faithbot_image: str) -> None:
    started = time.monotonic()
    assert docker_engine.image("faithbot") == faithbot_image
    assert time.monotonic() - started <= LONGEST_BUILD
