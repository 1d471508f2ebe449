"""The image of the action: small enough to be pulled by each job, and quick to build again."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import docker_engine

if TYPE_CHECKING:
    from docker import DockerClient

LARGEST = 350_000_000
IMPORTS_OF_A_JOB = """\
import os, sys
import faithbot.action.main
from faithbot.action.overlap import FOR_THE_RESULT, FOR_THE_WORK, import_ahead
import_ahead(FOR_THE_WORK + FOR_THE_RESULT).result()
compiled = [module.__cached__ for module in sys.modules.values() if getattr(module, "__cached__", None)]
print(len(compiled), [path for path in compiled if not os.path.exists(path)])
"""
LONGEST_BUILD = 60.0
"""Seconds, with the layers of an earlier build at hand."""


def test_the_image_is_small(docker_client: DockerClient, faithbot_image: str) -> None:
    assert docker_client.images.get(faithbot_image).attrs["Size"] <= LARGEST


def test_another_build_is_quick(faithbot_image: str) -> None:
    started = time.monotonic()
    assert docker_engine.image("faithbot") == faithbot_image
    assert time.monotonic() - started <= LONGEST_BUILD


def test_no_job_compiles_what_it_imports(docker_client: DockerClient, faithbot_image: str) -> None:
    python = "/opt/faithbot/bin/python3"
    asked = docker_client.containers.run(
        faithbot_image,
        ["-c", IMPORTS_OF_A_JOB],
        entrypoint=python,
        environment={"PYTHONDONTWRITEBYTECODE": "1"},
        remove=True,
    )
    n, missing = asked.decode().split(" ", 1)
    assert int(n) > 300
    assert missing.strip() == "[]"
