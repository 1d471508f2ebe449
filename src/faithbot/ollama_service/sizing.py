"""How much of the machine Ollama gets, and the environment that tells it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from faithbot.ollama_service.gpus import find_gpus

if TYPE_CHECKING:
    from collections.abc import Mapping

GIB = 1 << 30
PORT = 11434

LOADED_MODELS = 4
"""The generators of both sides, the judge and the embeddings. Ollama unloads one by itself where memory runs short."""

_LEAST_RESERVE, _LARGEST_RESERVE = GIB, 4 * GIB
_CPUS_PER_SLOT = 4
"""Reading prompts fills a CPU as it is; requests side by side would only split what its cache knows of their prefix."""
_MEMORY_PER_SLOT = 4 * GIB
_MOST_SLOTS = 4


@dataclass(frozen=True)
class Machine:
    """What the engine has; memory in bytes."""

    cpus: int
    memory: int
    gpus: str | None = None
    """What :func:`find_gpus` tells."""

    @classmethod
    def of(cls, info: dict[str, Any]) -> Machine:
        """From the engine's answer to ``docker info``."""
        return cls(cpus=info["NCPU"], memory=info["MemTotal"], gpus=find_gpus(info))


@dataclass(frozen=True)
class Sizing:
    """What Ollama gets."""

    memory_limit: int
    """In bytes, without swap: a model that is swapped out is slower than one that is refused."""
    parallel: int
    """Requests that one model works on at once."""


def size_for(machine: Machine) -> Sizing:
    """A share of ``machine`` that leaves an eighth of the memory, 1 to 4 GiB, to the rest of the job."""
    reserve = min(max(machine.memory // 8, _LEAST_RESERVE), _LARGEST_RESERVE)
    memory = max(machine.memory - reserve, machine.memory // 2)
    slots = _MOST_SLOTS if machine.gpus else min(machine.cpus // _CPUS_PER_SLOT, memory // _MEMORY_PER_SLOT)
    return Sizing(memory_limit=memory, parallel=max(1, min(slots, _MOST_SLOTS)))


def environment(machine: Machine, sizing: Sizing, listens_on: str) -> dict[str, str]:
    """How Ollama is set to the machine, and the address that it listens on."""
    settings = {
        "OLLAMA_HOST": f"{listens_on}:{PORT}",
        "OLLAMA_NO_CLOUD": "1",
        "OLLAMA_KEEP_ALIVE": "-1",
        "OLLAMA_NUM_PARALLEL": str(sizing.parallel),
        "OLLAMA_MAX_LOADED_MODELS": str(LOADED_MODELS),
        # Another job on this machine may be writing into the folder; and half a download is worth keeping.
        "OLLAMA_NOPRUNE": "1",
    }
    if machine.gpus is None:
        settings["GOMP_SPINCOUNT"] = "10000"  # threads that wait in long loops starve those of the other models
    return settings


def proxies(ours: Mapping[str, str]) -> dict[str, str]:
    """All that is handed on of our own environment, which may hold a token: the way out, for the pulling of models."""
    names = ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")
    return {name: ours[name] for name in (*names, *map(str.lower, names)) if ours.get(name)}


def describe(machine: Machine, sizing: Sizing) -> str:
    """The sizing in one line."""
    hardware = f"{machine.cpus} CPU{'s' if machine.cpus > 1 else ''}{' and all GPUs' if machine.gpus else ''}"
    requests = "one request at a time" if sizing.parallel == 1 else f"{sizing.parallel} requests at a time"
    return f"Ollama gets {hardware}, {sizing.memory_limit / GIB:.1f} of {machine.memory / GIB:.1f} GiB, {requests}"
