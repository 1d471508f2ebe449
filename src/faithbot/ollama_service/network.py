"""The Docker network on which we and Ollama see each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

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


def join_network(
    client: DockerClient, own: Container | None, wanted: str | None, *, name: str, labels: dict[str, str]
) -> str:
    """The network for Ollama, with our own container on it where there is one.

    ``wanted``, else the one that our container is on already, else a new one with this name and these labels. A process
    outside of any container, or on the host's network, reaches the default bridge.
    """
    if wanted:
        return _join_given(client, own, wanted)
    if own is None or _HOST in networks_of(own):
        return BRIDGE
    named = sorted(networks_of(own) - _WITHOUT_NAMES, key=lambda known: (not known.startswith(_PREFERRED), known))
    if named:
        return named[0]
    client.networks.create(name, driver="bridge", labels=labels).connect(own)
    return name


def networks_of(container: Container) -> set[str]:
    """Names of the networks that a container is on."""
    return set(container.attrs["NetworkSettings"]["Networks"])


def address(container: Container, own: Container | None, network: str) -> str:
    """How we reach ``container``: by name from a container on the same network, else by its IP address."""
    if own is not None and network not in _WITHOUT_NAMES:
        return str(container.name)
    return str(container.attrs["NetworkSettings"]["Networks"][network]["IPAddress"])


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
