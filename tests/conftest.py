"""Real models for all tests: an Ollama server with SmolLM2 135M, and the same weights embedded."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from faithbot.models.gguf import locate
from faithbot.models.ollama_address import server_url
from ollama_process import MODEL, is_reachable, ollama_program, provide_model, running

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="session")
def weights() -> Path:
    """The GGUF file of the embedded model, downloaded once."""
    return locate("smollm2-135m")


@pytest.fixture(scope="session")
def ollama_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A running Ollama: the one that OLLAMA_HOST names if it answers, else one that the tests start and stop."""
    given = server_url(os.environ.get("OLLAMA_HOST", ""))
    if "OLLAMA_HOST" in os.environ and is_reachable(given):
        yield given
        return
    with running(ollama_program(), tmp_path_factory.mktemp("ollama") / "serve.log") as server:
        yield server.url


@pytest.fixture(scope="session")
def smollm2(ollama_url: str, weights: Path) -> str:
    """The name of a small chat model on that server."""
    provide_model(ollama_url, weights)
    return MODEL
