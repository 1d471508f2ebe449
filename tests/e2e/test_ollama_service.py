"""The Ollama container on a real engine, from a process outside of any container and from an action's container."""

from __future__ import annotations

import os
import re
import stat
import subprocess
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import httpx
import pytest

import docker_engine
from faithbot.errors import EvaluationError, UsageError
from faithbot.ollama_service import (
    Engine,
    OllamaService,
    ServiceSettings,
    launch_service,
    look_at_engine,
    remove_leftovers,
    start_service,
)
from faithbot.ollama_service.gpus import RUNTIME
from faithbot.ollama_service.pull import pull_models
from faithbot.ollama_service.sizing import proxies
from ollama_process import MODEL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from docker import DockerClient
    from docker.models.containers import Container

    Start = Callable[..., dict[str, str]]

OWNER = "faithbot tests, run 1 = job 1"
MOST_SECONDS_TO_STOP = 2.5

# What the action does, in the image's own Python. Arguments: the image, the models' folder, whose path that is.
ACTION = f"""
import sys, time
from pathlib import Path
import httpx
from faithbot.ollama_service import ServiceSettings, start_service
settings = ServiceSettings(
    models_dir=Path(sys.argv[2]), owner={OWNER!r}, image=sys.argv[1], workspace=Path("/github/workspace"),
    models_on_host=sys.argv[3] == "host",
)
with start_service(settings, print) as service:
    tags = httpx.get(service.url + "/api/tags", trust_env=False).json()["models"]
    print("url", service.url)
    print("models", *(tag["name"] for tag in tags))
    started = time.monotonic()
print("stopped", time.monotonic() - started)
"""


@pytest.fixture
def settings(test_ollama_image: str, models_folder: Path, tmp_path: Path) -> ServiceSettings:
    models = docker_engine.linked_copy(models_folder, tmp_path / "models")
    return ServiceSettings(models_dir=models, owner=OWNER, image=test_ollama_image)


@pytest.fixture(autouse=True)
def _nothing_left(docker_client: DockerClient) -> Iterator[None]:
    yield
    remove_leftovers(OWNER)
    assert owned(docker_client) == []


def owned(client: DockerClient, owner: str = OWNER) -> list[Container]:
    label: dict[str, str | list[str] | bool] = {"label": f"faithbot.owner={owner}"}
    return client.containers.list(all=True, filters=label)


def models_of(service: OllamaService) -> list[str]:
    return [tag["name"] for tag in httpx.get(f"{service.url}/api/tags", trust_env=False).json()["models"]]


def test_it_starts_serves_the_folder_and_is_gone_at_once(
    docker_client: DockerClient, settings: ServiceSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://mona:s3cret@proxy:3128")
    monkeypatch.setenv("HTTP_PROXY", "mona:s3cret@proxy:3128")
    monkeypatch.setenv("GITHUB_TOKEN", "ghs_secret")
    lines: list[str] = []
    with start_service(settings, lines.append) as service:
        assert models_of(service) == [MODEL]
        assert [line.split()[0] for line in lines] == ["Ollama", "Ollama"]
        assert "Listening on" in service.logs(200)
        assert "HTTPS_PROXY:http://proxy:3128" in service.logs(200)
        assert "HTTP_PROXY:proxy:3128" in service.logs(200)
        assert "s3cret" not in service.logs(200)

        container = docker_client.containers.get(service.container_id)
        configured, granted = container.attrs["Config"], container.attrs["HostConfig"]
        names = {variable.partition("=")[0] for variable in configured["Env"]}
        ollamas = {name for name in names if name.startswith("OLLAMA_")}
        assert ollamas | {"HTTPS_PROXY"} <= names
        assert names <= ollamas | {"PATH", "LD_LIBRARY_PATH", "GOMP_SPINCOUNT", *proxies(os.environ)}
        assert (granted["Privileged"], granted["CapDrop"]) == (False, ["ALL"])
        assert not granted["PortBindings"]
        assert granted["SecurityOpt"] == ["no-new-privileges"]
        assert 0 < granted["Memory"] == granted["MemorySwap"] < docker_client.info()["MemTotal"]

        started = time.monotonic()
        service.stop()
        assert time.monotonic() - started < MOST_SECONDS_TO_STOP
    assert owned(docker_client) == []
    assert service.logs() == ""
    service.stop()


def test_only_leftovers_of_the_same_owner_are_removed(docker_client: DockerClient, settings: ServiceSettings) -> None:
    def leave_behind(owner: str) -> Container:
        return docker_client.containers.run(settings.image, detach=True, labels={"faithbot.owner": owner})

    other_owner = f"{OWNER}2"
    leave_behind(OWNER)
    other = leave_behind(other_owner)
    try:
        with start_service(settings, print) as service:
            assert [container.id for container in owned(docker_client)] == [service.container_id]
        assert owned(docker_client, other_owner) == [other]
    finally:
        remove_leftovers(other_owner)


def test_an_interrupted_start_leaves_nothing(docker_client: DockerClient, settings: ServiceSettings) -> None:
    def cancel_the_job(line: str) -> None:
        if "answers at" in line:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        start_service(settings, cancel_the_job)
    assert owned(docker_client) == []


def test_gpus_that_the_engine_cannot_hand_over_after_all_are_done_without(
    docker_client: DockerClient, settings: ServiceSettings
) -> None:
    def look() -> Engine:
        engine = look_at_engine()
        return replace(engine, machine=replace(engine.machine, gpus=RUNTIME))

    lines: list[str] = []
    with launch_service(settings, lines.append, look) as service:
        service.wait_until_ready(lines.append)
        assert models_of(service) == [MODEL]
        assert [container.id for container in owned(docker_client)] == [service.container_id]
    assert re.match(r"Docker cannot hand over the GPUs \(could not select device driver .*\)$", lines[0])
    assert "GPU" not in lines[1]


def test_a_container_that_dies_gives_its_last_words(settings: ServiceSettings, monkeypatch: pytest.MonkeyPatch) -> None:
    (settings.models_dir / "blobs").rename(settings.models_dir / "elsewhere")
    (settings.models_dir / "blobs").write_text("not a folder")
    monkeypatch.setenv("HTTPS_PROXY", "http://mona:s3cret@proxy:3128")
    with pytest.raises(
        EvaluationError, match=r"Ollama ended with code 1 before it answered\. It wrote:(\n  \| .*)+blobs"
    ) as told:
        start_service(settings, print)
    assert "HTTPS_PROXY:http://proxy:3128" in str(told.value)
    assert "s3cret" not in str(told.value)


def test_what_docker_refuses_is_told_in_its_own_words(settings: ServiceSettings) -> None:
    image = "ollama/OLLAMA"
    refused = ServiceSettings(models_dir=settings.models_dir, owner=OWNER, image=image)
    with pytest.raises(EvaluationError, match=rf"^Docker cannot start Ollama from {image}: .*lowercase"):
        start_service(refused, print)


@pytest.mark.parametrize("network", ["host", "none"])
def test_a_network_on_which_nobody_has_an_address(settings: ServiceSettings, network: str) -> None:
    deaf = ServiceSettings(models_dir=settings.models_dir, owner=OWNER, image=settings.image, network=network)
    with pytest.raises(UsageError, match=rf"ollama-network: on '{network}' a container has no address"):
        start_service(deaf, print)


def test_models_in_the_checkout_are_refused(settings: ServiceSettings) -> None:
    planted = replace(settings, workspace=settings.models_dir.parent)
    with pytest.raises(UsageError, match=r"^models-dir: .* shares its files with the workspace"):
        start_service(planted, print)


def test_a_network_that_is_not_there(settings: ServiceSettings) -> None:
    lost = ServiceSettings(models_dir=settings.models_dir, owner=OWNER, image=settings.image, network="nowhere")
    with pytest.raises(UsageError, match=r"ollama-network: Docker has no network 'nowhere'"):
        start_service(lost, print)


def test_pulled_models_land_in_the_folder_where_the_runners_user_can_read_them(
    docker_client: DockerClient, settings: ServiceSettings, tmp_path: Path
) -> None:
    empty = ServiceSettings(models_dir=tmp_path / "new" / "models", owner=OWNER, image=settings.image)
    with start_service(settings, print) as service:
        container = docker_client.containers.get(service.container_id)
        host = container.attrs["NetworkSettings"]["Networks"]["bridge"]["Gateway"]
        with docker_engine.registry(tmp_path, host) as address:
            name = push(service.url, f"http://{address}/library/pushed:1")
            service.stop()
            with start_service(empty, print) as other:
                assert models_of(other) == []
                pull_models(other.url, [name], print, trusted=[name])
                assert models_of(other) == [name.removeprefix("http://")]
    files = list(empty.models_dir.rglob("*"))
    assert max(file.stat().st_size for file in files) > 90_000_000
    assert [file for file in files if not file.stat().st_mode & stat.S_IROTH] == []


def push(url: str, name: str) -> str:
    with httpx.Client(base_url=url, timeout=60, trust_env=False) as http:
        http.post("/api/copy", json={"source": MODEL, "destination": name}).raise_for_status()
        pushed = http.post("/api/push", json={"model": name, "insecure": True, "stream": False})
    assert pushed.json()["status"] == "success", pushed.text
    return name


class TestFromAnActionsContainer:
    """The faithbot image, started with the mounts of a runner."""

    @pytest.fixture
    def started(
        self, docker_client: DockerClient, faithbot_image: str, settings: ServiceSettings, tmp_path: Path
    ) -> Start:
        """Starts the container and gives what it printed, by the first word of each line."""

        def start(*options: str, models: str = "/github/runner_temp/models", whose: str = "ours") -> dict[str, str]:
            command = [
                "docker", "run", "--rm", "--volume", "/var/run/docker.sock:/var/run/docker.sock",
                "--volume", f"{settings.models_dir.parent}:/github/runner_temp",
                "--volume", f"{tmp_path / 'checkout'}:/github/workspace", "--workdir", "/github/workspace",
                *options, "--entrypoint", "/opt/faithbot/bin/python3", faithbot_image,
                "-c", ACTION, settings.image, models, whose,
            ]  # fmt: skip
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
            assert owned(docker_client) == []
            printed = dict(line.split(maxsplit=1) for line in done.stdout.splitlines())
            assert printed["models"] == MODEL
            assert float(printed["stopped"]) < MOST_SECONDS_TO_STOP
            return printed

        return start

    def test_on_the_default_bridge_it_is_inside_our_own_network_where_nobody_else_reaches_it(
        self, started: Start
    ) -> None:
        assert started()["url"] == "http://127.0.0.1:11434"

    def test_a_network_of_the_job_is_used(self, docker_client: DockerClient, started: Start) -> None:
        network = docker_client.networks.create("github_network_faithbot_test")
        try:
            printed = started("--network", str(network.name), "--hostname", "named")
        finally:
            network.remove()
        assert printed["url"].startswith("http://faithbot-ollama-")

    def test_a_folder_of_the_host_need_not_be_mounted_here(self, started: Start, settings: ServiceSettings) -> None:
        started(models=str(settings.models_dir), whose="host")

    def test_on_the_hosts_network_it_is_reached_by_address(self, started: Start) -> None:
        assert "faithbot-ollama" not in started("--network", "host")["url"]
