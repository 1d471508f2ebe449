"""The image of the service on a real engine: pulled once from a real registry, which may be in trouble."""

from __future__ import annotations

import contextlib
import io
import json
import tarfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, NamedTuple

import pytest

import docker_engine
from faithbot.errors import EvaluationError
from faithbot.ollama_service.image import ensure_image
from faithbot.ollama_service.image_pull import pull_image

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from docker import DockerClient


class Trouble(NamedTuple):
    """What a registry answers instead of a manifest. Status 0: it hangs up."""

    status: int
    code: str = ""
    message: str = ""


HUNG_UP = Trouble(0)
BUSY = Trouble(503, "UNAVAILABLE", "service unavailable")
LIMITED = Trouble(429, "TOOMANYREQUESTS", "You have reached your pull rate limit.")
UNAUTHORIZED = Trouble(401, "UNAUTHORIZED", "authentication required")
DENIED = Trouble(403, "DENIED", "requested access to the resource is denied")


class Image(NamedTuple):
    """Its name in the registry, and with what the engine keeps once it is pulled."""

    repository: str
    digest: str

    @property
    def pinned(self) -> str:
        return f"{self.repository}:1@{self.digest}"


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with docker_engine.registry(tmp_path_factory.mktemp("registry")) as address:
        yield address


@pytest.fixture(scope="module")
def pushed(docker_client: DockerClient, registry: str) -> Image:
    """An image that the registry has and the engine has no more."""
    name = f"{registry}/tiny"
    docker_client.api.import_image(src=tiny_file_system(), repository=name, tag="1")
    docker_client.images.push(name, "1")
    digest = docker_client.images.get_registry_data(f"{name}:1").id
    docker_client.images.remove(f"{name}:1")
    return Image(name, digest)


def tiny_file_system() -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as tar:
        tar.addfile(tarfile.TarInfo("empty"))
    return file.getvalue()


@contextlib.contextmanager
def in_trouble(registry: str, troubles: Sequence[Trouble]) -> Iterator[str]:
    """The address of that registry behind a server that gets into these troubles first, one a try."""
    left = list(troubles)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if "/manifests/" in self.path and left:
                self._fail(left[0])
                if self.command == "GET":  # for a tag, Docker sends a HEAD before it
                    del left[0]
            elif self.path == "/v2/":
                self.send_response(200)
                self.end_headers()
            else:
                self.send_response(307)
                self.send_header("Location", f"http://{registry}{self.path}")
                self.end_headers()

        do_HEAD = do_GET  # noqa: N815 - the name is http.server's

        def _fail(self, trouble: Trouble) -> None:
            if trouble.status == 0:
                self.connection.close()
                return
            body = json.dumps({"errors": [{"code": trouble.code, "message": trouble.message}]}).encode()
            self.send_response(trouble.status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body if self.command == "GET" else b"")

        def log_message(self, *_: object) -> None:
            """Tests are quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    assert left == []


def test_a_pinned_image_is_pulled_once(docker_client: DockerClient, pushed: Image) -> None:
    lines: list[str] = []
    found = [ensure_image(docker_client, pushed.pinned, lines.append) for _ in range(2)]
    docker_client.images.remove(found[0])
    assert found == [f"{pushed.repository}@{pushed.digest}"] * 2
    assert lines == [f"pulling the image {pushed.pinned}"]


@pytest.mark.parametrize("trouble", [HUNG_UP, BUSY, LIMITED], ids=["hung up", "busy", "limited"])
def test_a_registry_in_trouble_is_asked_again(
    docker_client: DockerClient, registry: str, pushed: Image, trouble: Trouble
) -> None:
    lines: list[str] = []
    with in_trouble(registry, [trouble] * 2) as address:
        image = f"{address}/tiny:1@{pushed.digest}"
        pull_image(docker_client, image, lines.append, first_wait=0.0)
        docker_client.images.remove(image)
    assert lines == [
        f"pulling the image {image}",
        f"pulling the image {image}: broke off, try 2 of 5",
        f"pulling the image {image}: broke off, try 3 of 5",
    ]


def test_after_five_tries_the_error_gives_the_last_reason_and_the_cure(
    docker_client: DockerClient, registry: str
) -> None:
    with in_trouble(registry, [LIMITED] * 5) as address, pytest.raises(EvaluationError) as told:
        pull_image(docker_client, f"{address}/tiny:1", print, first_wait=0.0)
    assert str(told.value).startswith(f"cannot pull the image {address}/tiny:1 in 5 tries: toomanyrequests: You have")
    assert str(told.value).endswith(". Repeat the job later, or check ollama-image.")


def test_a_registry_that_is_not_there_may_come_back(docker_client: DockerClient) -> None:
    with pytest.raises(EvaluationError, match=r"^cannot pull the image 127\.0\.0\.1:9/x:1 in 5 tries: .*refused"):
        pull_image(docker_client, "127.0.0.1:9/x:1", print, first_wait=0.0)


@pytest.mark.parametrize("trouble", [UNAUTHORIZED, DENIED], ids=["unauthorized", "denied"])
def test_a_registry_that_refuses_is_asked_once(docker_client: DockerClient, registry: str, trouble: Trouble) -> None:
    with in_trouble(registry, [trouble]) as address:
        assert_asked_once(docker_client, f"{address}/tiny:1", "unauthorized|denied")


def test_an_image_that_the_registry_lacks_is_asked_for_once(
    docker_client: DockerClient, registry: str, pushed: Image
) -> None:
    assert_asked_once(docker_client, f"{pushed.repository}:2", "manifest unknown|not found")
    assert_asked_once(docker_client, f"{registry}/nobody:1", "manifest unknown|not found")


def assert_asked_once(client: DockerClient, image: str, reason: str) -> None:
    lines: list[str] = []
    with pytest.raises(
        EvaluationError, match=rf"^cannot pull the image {image}: .*({reason}).*\. Check ollama-image\.$"
    ):
        ensure_image(client, image, lines.append)
    assert lines == [f"pulling the image {image}"]
