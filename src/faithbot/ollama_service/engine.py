"""The Docker engine behind the socket, and what it knows of the container that we run in."""

from __future__ import annotations

import re
import socket
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

import docker
from docker.errors import APIError, DockerException, NotFound

from faithbot.errors import UsageError
from faithbot.ollama_service.sizing import Machine
from faithbot.userinfo import without_userinfo

if TYPE_CHECKING:
    from collections.abc import Iterable

    import requests
    from docker import DockerClient
    from docker.models.containers import Container

_MOUNTINFO = Path("/proc/self/mountinfo")
# Root and mount point of /etc/hostname, which the engine keeps in a folder that is named after the container.
_HOSTNAME_MOUNT = re.compile(r"^(?:\S+ ){3}\S*/([0-9a-f]{64})/\S* /etc/hostname ", re.MULTILINE)
_SHORT_ID = re.compile(r"[0-9a-f]{12}")


@dataclass(frozen=True)
class Engine:
    """What the engine told when it was first asked. Nothing was started."""

    client: DockerClient
    own: Container | None
    """The container that this process runs in."""
    machine: Machine


def look_at_engine() -> Engine:
    """Connect to the engine; :class:`UsageError` where there is none, Docker's own errors where it does not answer."""
    client = connect_engine()
    try:
        return Engine(client, own_container(client), Machine.of(client.info()))
    except BaseException:
        client.close()
        raise


def connect_engine() -> DockerClient:
    """A client of the engine at ``DOCKER_HOST``, else at /var/run/docker.sock."""
    try:
        return docker.from_env()
    except DockerException as error:
        raise UsageError(
            "no Docker socket and no ollama-url: faithbot cannot start Ollama here. Run the job where there is Docker "
            f"(/var/run/docker.sock), or name a running Ollama in ollama-url. ({_innermost(error)})"
        ) from error


def explain(error: DockerException | requests.RequestException) -> str:
    """What the engine itself says, without the address of its API or anybody's password."""
    said = error.explanation if isinstance(error, APIError) and error.explanation else error
    return " ".join(without_userinfo(str(said)).split())


def own_container(client: DockerClient) -> Container | None:
    """The container that this process runs in, or None where it runs in none that this engine knows.

    The engine names a container's host after its id unless told otherwise.
    """
    name = socket.gethostname()
    ids = [container_id(_MOUNTINFO.read_text()), name if _SHORT_ID.fullmatch(name) else None]
    for known in filter(None, ids):
        try:
            return client.containers.get(known)
        except NotFound:
            continue
    return None


def container_id(mountinfo: str) -> str | None:
    """The id in a container's /proc/self/mountinfo. The host's has none: there, /etc/hostname is no mount."""
    found = _HOSTNAME_MOUNT.search(mountinfo)
    return found[1] if found else None


def host_path(own: Container | None, path: Path) -> PurePosixPath:
    """Where the engine finds what we see at ``path``: our own mounts tell."""
    resolved = PurePosixPath(path.resolve())
    if own is None:
        return resolved
    if (found := translate(own.attrs["Mounts"], resolved)) is None:
        raise UsageError(
            f"models-dir: {path} is inside faithbot's own container, so nothing would keep it. "
            "Name a folder in runner.temp, which the runner shares with its containers."
        )
    return found


def refuse_checkout(own: Container | None, models: PurePosixPath, workspace: Path) -> None:
    """:class:`UsageError` for a folder of the host in which a checkout can plant models, such as the judge's."""
    seen = PurePosixPath(workspace.resolve())
    checkout = seen if own is None else translate(own.attrs["Mounts"], seen)
    if checkout is not None and (models.is_relative_to(checkout) or checkout.is_relative_to(models)):
        raise UsageError(
            f"models-dir: {models} shares its files with the workspace, where a pull request could put models of its "
            "own. Name a folder in runner.temp, or one elsewhere on the runner."
        )


def translate(mounts: Iterable[dict[str, Any]], path: PurePosixPath) -> PurePosixPath | None:
    """The host's path of a path inside a container with these mounts; None where no mount holds it."""
    holding = [mount for mount in mounts if path.is_relative_to(mount["Destination"])]
    if not holding:
        return None
    nearest = max(holding, key=lambda mount: len(PurePosixPath(mount["Destination"]).parts))
    return PurePosixPath(nearest["Source"]) / path.relative_to(nearest["Destination"])


def _innermost(error: BaseException) -> str:
    """The reason under several layers of HTTP: a missing socket, or one that we may not open."""
    while (inner := error.__cause__ or error.__context__) is not None:
        error = inner
    return without_userinfo(str(error))
