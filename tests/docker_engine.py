"""A real Docker engine, the images that the tests run on it, and a real registry for images and models."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import docker
import httpx
import pytest
from docker.errors import DockerException

if TYPE_CHECKING:
    from collections.abc import Iterator

    from docker import DockerClient

IMAGES_SCRIPT = Path(__file__).parents[1] / "scripts" / "test_images.py"
MODELS = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "faithbot" / "test-images" / "models"
"""Outlives the checkout."""


def connect() -> DockerClient:
    try:
        return docker.from_env()
    except DockerException:
        pytest.fail(
            "no Docker engine answers: start it with `dockerd &` as root (apt-get install docker.io)", pytrace=False
        )


def image(name: str) -> str:
    """``base``, ``ollama`` or ``faithbot``; built where it is missing."""
    connect().close()
    built = subprocess.run([sys.executable, IMAGES_SCRIPT, name], check=True, stdout=subprocess.PIPE, text=True)
    return built.stdout.strip()


def linked_copy(models: Path, target: Path) -> Path:
    """A models folder of one's own. Ollama never writes into a finished file, so that links do."""
    return Path(shutil.copytree(models, target, copy_function=_link_or_copy))


def _link_or_copy(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:  # another file system, or root's file, which only root may link
        shutil.copy2(source, target)


@contextlib.contextmanager
def registry(folder: Path, host: str = "127.0.0.1") -> Iterator[str]:
    """``HOST:PORT`` of Debian's docker-registry, with its data in ``folder``.

    It takes Ollama's models as well. As with Ollama's own registry, the blobs come from another host: Ollama insists on
    being sent there.
    """
    program = shutil.which("docker-registry")
    if program is None:
        pytest.fail("docker-registry is missing: apt-get install docker-registry", pytrace=False)
    with socket.socket() as probe:
        probe.bind((host, 0))
        port = probe.getsockname()[1]
    with blob_server(folder / "data", host) as blobs, (folder / "registry.log").open("wb") as log:
        settings = folder / "registry.yml"
        settings.write_text(json.dumps(registry_settings(folder / "data", f"{host}:{port}", blobs)))
        process = subprocess.Popen([program, "serve", settings], stdout=log, stderr=log)
        try:
            _wait_for(f"http://{host}:{port}/v2/")
            yield f"{host}:{port}"
        finally:
            process.kill()
            process.wait()


def registry_settings(data: Path, address: str, blobs: str) -> dict[str, Any]:
    return {
        "version": 0.1,
        "storage": {"filesystem": {"rootdirectory": str(data)}},
        "middleware": {"storage": [{"name": "redirect", "options": {"baseurl": blobs}}]},
        "http": {"addr": address},
    }


@contextlib.contextmanager
def blob_server(root: Path, host: str) -> Iterator[str]:
    """URL of a server of the files under ``root``, whole or in the ranges that Ollama asks for."""

    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self._head(200, (root / self.path.lstrip("/")).stat().st_size)

        def do_GET(self) -> None:
            content = (root / self.path.lstrip("/")).read_bytes()
            if wanted := re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", "")):
                content = content[int(wanted[1]) : int(wanted[2]) + 1]
            self._head(206 if wanted else 200, len(content))
            self.wfile.write(content)

        def _head(self, status: int, length: int) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(length))
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Tests are quiet."""

    server = ThreadingHTTPServer((host, 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://[::ffff:{host}]:{server.server_port}"  # the same address under another name
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _wait_for(url: str) -> None:
    for _ in range(100):
        with contextlib.suppress(httpx.TransportError):
            if httpx.get(url, trust_env=False).is_success:
                return
        time.sleep(0.1)
    raise RuntimeError(f"{url} does not answer")
