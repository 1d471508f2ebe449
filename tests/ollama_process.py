"""A real Ollama server: found, built or started, filled with a real small model."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import httpx

from faithbot.models.gguf import content_digest

if TYPE_CHECKING:
    from collections.abc import Iterator

MODEL = "smollm2:135m"
SYSTEM = "You are a helpful AI assistant named SmolLM, trained by Hugging Face"
"""As the model has it in Ollama's registry, and in its own template. Without it the model answers far worse."""
BUILD_SCRIPT = Path(__file__).parents[1] / "scripts" / "build_ollama.py"


def ollama_program() -> str:
    """``ollama`` from the PATH, else built once into a cache folder (about 20 minutes on two cores)."""
    if found := shutil.which("ollama"):
        return found
    built = subprocess.run([sys.executable, BUILD_SCRIPT], check=True, stdout=subprocess.PIPE, text=True)
    return built.stdout.strip()


def is_reachable(url: str) -> bool:
    with contextlib.suppress(httpx.HTTPError):
        return httpx.get(f"{url}/api/version", timeout=5, trust_env=False).is_success
    return False


class OllamaProcess:
    """``ollama serve`` on a port of its own, with its models in a cache folder that outlives the checkout."""

    def __init__(self, program: str, log: Path) -> None:
        self._program = program
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self._port = probe.getsockname()[1]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def start(self) -> None:
        home = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "faithbot" / "test-ollama"
        home.mkdir(parents=True, exist_ok=True)
        settings = {
            "HOME": str(home),
            "OLLAMA_HOST": f"127.0.0.1:{self._port}",
            "OLLAMA_MODELS": str(home / "models"),
            "OLLAMA_NO_CLOUD": "1",
            "OLLAMA_NOPRUNE": "1",  # another test run may share the folder
            "GOMP_SPINCOUNT": "10000",  # threads that wait in long loops starve each other on a busy machine
        }
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [self._program, "serve"], env=os.environ | settings, stdout=log, stderr=log, start_new_session=True
            )
        deadline = time.monotonic() + 60
        while not is_reachable(self.url):
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"ollama serve did not start: {self._log.read_text()[-2000:]}")
            time.sleep(0.1)

    def kill(self) -> None:
        """End the server and its engine at once, as a crash or a lack of memory does."""
        if self._process is not None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None


@contextlib.contextmanager
def running(program: str, log: Path) -> Iterator[OllamaProcess]:
    server = OllamaProcess(program, log)
    server.start()
    try:
        yield server
    finally:
        server.kill()


def provide_model(url: str, weights: Path) -> None:
    """Make sure that the server has the model: from the embedded model's file, without any download."""
    with httpx.Client(base_url=url, timeout=300, trust_env=False) as client:
        there = client.post("/api/show", json={"model": MODEL})
        if there.is_success and there.json().get("system") == SYSTEM:
            return
        digest = f"sha256:{content_digest(weights)}"
        if client.head(f"/api/blobs/{digest}").status_code != httpx.codes.OK:
            client.post(f"/api/blobs/{digest}", content=weights.read_bytes()).raise_for_status()
        created = client.post(
            "/api/create", json={"model": MODEL, "files": {weights.name: digest}, "system": SYSTEM, "stream": False}
        )
        assert created.json() == {"status": "success"}, created.text
