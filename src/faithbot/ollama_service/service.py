"""The Ollama container, from its start to its removal."""

from __future__ import annotations

import contextlib
import logging
import os
import secrets
import time
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Self

import requests
from docker.errors import APIError, DockerException
from docker.types import LogConfig

from faithbot.errors import EvaluationError, UsageError
from faithbot.ollama_service.engine import connect_engine, explain, host_path, look_at_engine, refuse_checkout
from faithbot.ollama_service.gpus import request_gpus
from faithbot.ollama_service.image import OLLAMA_IMAGE, ensure_image
from faithbot.ollama_service.network import find_place
from faithbot.ollama_service.sizing import PORT, describe, environment, proxies, size_for
from faithbot.userinfo import without_userinfo

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from docker import DockerClient
    from docker.models.containers import Container

    from faithbot.ollama_service.engine import Engine
    from faithbot.ollama_service.sizing import Machine, Sizing

logger = logging.getLogger(__name__)

_OWNER = "faithbot.owner"
_MODELS = "/root/.ollama/models"
_SECONDS_TO_START = 120.0
_LAST_LINES = 20
_LOST = (404, 409)
"""Answers for a container that is gone, and for one whose removal has begun."""


@dataclass(frozen=True)
class ServiceSettings:
    """What the caller decides."""

    models_dir: Path
    """Folder of the models, as this process sees it; made if it is missing."""
    owner: str
    """Names this workflow run and job and no other: whatever bears it is a leftover when the service starts."""
    image: str = OLLAMA_IMAGE
    network: str | None = None
    workspace: Path | None = None
    """The checkout, as this process sees it: models must not lie in it, where anybody's pull request puts files."""
    models_on_host: bool = False
    """``models_dir`` is a path of the engine's own machine, which this process need not see."""


class OllamaService:
    """An Ollama that runs, or will in a moment. Use as a context manager, so that it is removed."""

    def __init__(
        self, client: DockerClient, container: Container, settings: ServiceSettings, url: str, parallel: int
    ) -> None:
        self.url = url
        self.parallel = parallel
        """Requests that one model works on at once."""
        self._client = client
        self._container = container
        self._settings = settings

    @property
    def container_id(self) -> str:
        """The engine's id of the container."""
        return str(self._container.id)

    def wait_until_ready(self, log: Callable[[str], None]) -> None:
        """Until Ollama answers; :class:`EvaluationError` with its last words where it does not start."""
        with _told_by_docker(self._settings.image):
            log(f"Ollama {_wait_until_it_answers(self._container, self.url)} answers at {self.url}")

    def logs(self, tail: int = _LAST_LINES) -> str:
        """The last lines that Ollama wrote; nothing once the container is gone."""
        return _last_lines(self._container, tail)

    def stop(self) -> None:
        """Kill and remove the container, in well under the 2.5 s that a runner leaves after SIGTERM.

        Never raises: whatever ended the work matters more than a container that stayed.
        """
        _remove_owned(self._client, self._settings.owner)
        self._client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def start_service(settings: ServiceSettings, log: Callable[[str], None]) -> OllamaService:
    """Start Ollama and wait until it answers, as :func:`launch_service` and :meth:`OllamaService.wait_until_ready`."""
    service = launch_service(settings, log)
    try:
        service.wait_until_ready(log)
    except BaseException:
        service.stop()
        raise
    return service


def launch_service(
    settings: ServiceSettings, log: Callable[[str], None], look: Callable[[], Engine] = look_at_engine
) -> OllamaService:
    """Start Ollama, which answers a moment later. Nothing is left behind where this fails or is interrupted.

    ``look`` gives what :func:`look_at_engine` does, perhaps begun earlier.

    Raises:
        UsageError: no engine, or one that lacks what the settings name.
        EvaluationError: the image cannot be had, or Docker does not start the container.
    """
    with _told_by_docker(settings.image):
        engine = look()
    try:
        _remove_owned(engine.client, settings.owner)
        with _told_by_docker(settings.image):
            return _start(engine, settings, log)
    except BaseException:
        _remove_owned(engine.client, settings.owner)
        engine.client.close()
        raise


def remove_leftovers(owner: str) -> None:
    """Remove what an earlier process of the same owner left behind, because it was killed."""
    client = connect_engine()
    try:
        _remove_owned(client, owner)
    finally:
        client.close()


def _start(engine: Engine, settings: ServiceSettings, log: Callable[[str], None]) -> OllamaService:
    models = _models_on_host(engine.own, settings)
    image = ensure_image(engine.client, settings.image, log)
    place = find_place(engine.client, engine.own, settings.network)
    volumes = {str(models): {"bind": _MODELS, "mode": "rw"}}

    def run(machine: Machine) -> OllamaService:
        sizing = size_for(machine)
        container = engine.client.containers.create(
            image,
            name=f"faithbot-ollama-{secrets.token_hex(6)}",
            labels={_OWNER: settings.owner},
            volumes=volumes,
            environment=environment(machine, sizing, place.listens_on) | proxies(os.environ),
            **place.options,
            **_rights(),
            **_resources(machine, sizing),
        )
        try:
            container.start()
        except APIError:
            container.remove(force=True)
            raise
        log(describe(machine, sizing))
        url = f"http://{place.address_of(container)}:{PORT}"
        return OllamaService(engine.client, container, settings, url, sizing.parallel)

    try:
        return run(engine.machine)
    except APIError as error:
        if engine.machine.gpus is None:
            raise
        # An engine may know of GPUs that it has not, or whose driver does not work.
        log(f"Docker cannot hand over the GPUs ({explain(error)})")
        return run(replace(engine.machine, gpus=None))


def _resources(machine: Machine, sizing: Sizing) -> dict[str, Any]:
    return {
        "use_config_proxy": False,
        "device_requests": request_gpus(machine.gpus),
        "mem_limit": sizing.memory_limit,
        "memswap_limit": sizing.memory_limit,
        "pids_limit": 4096,
        "log_config": LogConfig(type=LogConfig.types.JSON, config={"max-size": "10m"}),
    }


def _rights() -> dict[str, Any]:
    return {
        "cap_drop": ["ALL"],
        # The models may belong to the runner's user: root needs these two to write among them.
        "cap_add": ["DAC_OVERRIDE", "FOWNER"],
        "security_opt": ["no-new-privileges"],
    }


def _models_on_host(own: Container | None, settings: ServiceSettings) -> PurePosixPath:
    if settings.models_on_host and own is not None:
        models = PurePosixPath(settings.models_dir)  # the engine makes it if it is missing
    else:
        _make_folder(settings.models_dir)
        models = host_path(own, settings.models_dir)
    if settings.workspace is not None:
        refuse_checkout(own, models, settings.workspace)
    return models


def _make_folder(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"models-dir: cannot make the folder {path}: {error.strerror}.") from error


def _wait_until_it_answers(container: Container, url: str) -> str:
    """The version of Ollama, once it serves."""
    deadline = time.monotonic() + _SECONDS_TO_START
    with requests.Session() as http:
        http.trust_env = False  # no proxy lies between siblings
        while time.monotonic() < deadline:
            container.reload()
            if container.status != "running":
                code = container.attrs["State"]["ExitCode"]
                raise EvaluationError(f"Ollama ended with code {code} before it answered.{_quoted_log(container)}")
            with contextlib.suppress(requests.RequestException):
                answer = http.get(f"{url}/api/version", timeout=5)
                if answer.ok:
                    return str(answer.json()["version"])
            time.sleep(0.02)
    raise EvaluationError(f"Ollama did not answer at {url} within {_SECONDS_TO_START:.0f} s.{_quoted_log(container)}")


def _quoted_log(container: Container) -> str:
    lines = _last_lines(container, _LAST_LINES).splitlines()
    return " It wrote:" + "".join(f"\n  | {line}" for line in lines) if lines else " It wrote nothing."


def _last_lines(container: Container, tail: int) -> str:
    """Without control characters, which could hide text or fake a line of the job's log, and without passwords.

    Ollama begins by writing its environment down: the proxies.
    """
    raw = b""
    with _unless_lost():
        raw = container.logs(tail=tail)
    lines = without_userinfo(raw.decode("utf-8", "replace")).splitlines()
    return "\n".join("".join(c if c.isprintable() else " " for c in line) for line in lines)


def _remove_owned(client: DockerClient, owner: str) -> None:
    """Remove all containers of one owner. What does not go is logged, not raised."""
    label: dict[str, str | list[str] | bool] = {"label": f"{_OWNER}={owner}"}
    try:
        for container in client.containers.list(all=True, filters=label, sparse=True):
            with _unless_lost():
                container.remove(force=True, v=True)
    except (DockerException, requests.RequestException) as error:
        logger.warning("cannot remove what belongs to %s from Docker: %s", owner, explain(error))


@contextlib.contextmanager
def _told_by_docker(image: str) -> Iterator[None]:
    """Whatever Docker cannot do ends the evaluation in Docker's own words."""
    try:
        yield
    except (DockerException, requests.RequestException) as error:
        raise EvaluationError(f"Docker cannot start Ollama from {image}: {explain(error)}") from error


@contextlib.contextmanager
def _unless_lost() -> Iterator[None]:
    """Pass over what somebody else has removed meanwhile, or is removing."""
    try:
        yield
    except APIError as error:
        if error.status_code not in _LOST:
            raise
