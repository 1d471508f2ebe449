"""What end-to-end tests share: an engine, images, and a folder with a model, each made once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import docker_engine
from faithbot.ollama_service import ServiceSettings, start_service
from ollama_process import provide_model

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from docker import DockerClient


@pytest.fixture(scope="session")
def docker_client() -> Iterator[DockerClient]:
    """A client of the machine's engine. Without one the tests fail: they never skip."""
    client = docker_engine.connect()
    yield client
    client.close()


@pytest.fixture(scope="session")
def test_ollama_image() -> str:
    """A real Ollama as a container image."""
    return docker_engine.image("ollama")


@pytest.fixture(scope="session")
def faithbot_image() -> str:
    """The project's own image, built from this checkout."""
    return docker_engine.image("faithbot")


@pytest.fixture(scope="session")
def models_folder(test_ollama_image: str, weights: Path) -> Path:
    """A folder of the host that holds smollm2:135m as Ollama keeps it. Not to be written to: take a linked copy."""
    folder = docker_engine.MODELS
    settings = ServiceSettings(models_dir=folder, owner="faithbot tests: models folder", image=test_ollama_image)
    with start_service(settings, print) as service:
        provide_model(service.url, weights)
    return folder
