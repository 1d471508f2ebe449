"""Where Ollama stands, so that we reach it and nobody else on the engine does without need."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from docker.errors import NotFound

from faithbot.errors import UsageError

if TYPE_CHECKING:
    from docker import DockerClient
    from docker.models.containers import Container

BRIDGE = "bridge"
"""The engine's default network: no names on it, and every container is on it that was not told otherwise."""
_HOST = "host"
_WITHOUT_ADDRESSES = {_HOST, "none"}
_WITHOUT_NAMES = {BRIDGE, *_WITHOUT_ADDRESSES}
_PREFERRED = "github_network_"
"""How the runner names the network of a job with `services:` or `container:`."""
_ANYWHERE, _LOOPBACK = "0.0.0.0", "127.0.0.1"  # noqa: S104 - of a container that only those on its network reach


@dataclass(frozen=True)
class Place:
    """A network, or the inside of our own container's network."""

    network: str | None
    """None: the container shares the network of ours, and listens on its loopback interface alone."""
    own: Container | None
    """The container that we run in."""

    @property
    def options(self) -> dict[str, Any]:
        """What a container is created with to stand there."""
        if self.network is None and self.own is not None:
            return {"network_mode": f"container:{self.own.id}"}
        return {"network": self.network or BRIDGE}

    @property
    def listens_on(self) -> str:
        """The address that a server is told to listen on."""
        return _LOOPBACK if self.network is None else _ANYWHERE

    def address_of(self, container: Container) -> str:
        """How we reach a container that stands there: by name from one on the same network, else by its IP address."""
        if self.network is None:
            return _LOOPBACK
        if self.own is not None and self.network not in _WITHOUT_NAMES:
            return str(container.name)
        container.reload()
        return str(container.attrs["NetworkSettings"]["Networks"][self.network]["IPAddress"])


def find_place(client: DockerClient, own: Container | None, wanted: str | None) -> Place:
    """The ``wanted`` network, else the named one that our container is on already, else the inside of its own.

    There, nothing is made or joined, which takes half a second each time, and no other container reaches Ollama. A
    process outside of any container, or on the host's network, reaches the default bridge.
    """
    if wanted:
        return Place(_join_given(client, own, wanted), own)
    if own is None or _HOST in networks_of(own):
        return Place(BRIDGE, own)
    named = sorted(networks_of(own) - _WITHOUT_NAMES, key=lambda known: (not known.startswith(_PREFERRED), known))
    return Place(named[0] if named else None, own)


def networks_of(container: Container) -> set[str]:
    """Names of the networks that a container is on."""
    return set(container.attrs["NetworkSettings"]["Networks"])


def _join_given(client: DockerClient, own: Container | None, wanted: str) -> str:
    if wanted in _WITHOUT_ADDRESSES:
        raise UsageError(
            f"ollama-network: on {wanted!r} a container has no address of its own. Leave the input out: faithbot finds "
            "the job's network."
        )
    try:
        network = client.networks.get(wanted)
    except NotFound as error:
        raise UsageError(
            f"ollama-network: Docker has no network {wanted!r}. Leave the input out: faithbot finds the job's network."
        ) from error
    if own is not None and network.name not in networks_of(own):
        network.connect(own)
    return str(network.name)
