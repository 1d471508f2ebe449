"""The GPUs that the engine has, and how it is asked for all of them."""

from __future__ import annotations

from typing import Any

from docker.types import DeviceRequest

RUNTIME = "nvidia"
"""Runtime of the NVIDIA Container Toolkit, as engines know it that do not tell their devices."""
_DEVICES = ("nvidia.com/gpu=all", "amd.com/gpu=all")
"""Those that Ollama computes on, as the Container Device Interface names them; Docker lists them from 28.2 on."""


def find_gpus(info: dict[str, Any]) -> str | None:
    """The runtime or device that stands for all GPUs in the engine's answer to ``docker info``; None: there are none.

    That a runtime is there does not mean that a GPU is.
    """
    if RUNTIME in (info.get("Runtimes") or {}):
        return RUNTIME
    listed = {device.get("ID") for device in info.get("DiscoveredDevices") or () if device.get("Source") == "cdi"}
    return next((device for device in _DEVICES if device in listed), None)


def request_gpus(gpus: str | None) -> list[DeviceRequest] | None:
    """What a container is created with to get them."""
    if gpus is None:
        return None
    if gpus == RUNTIME:
        return [DeviceRequest(count=-1, capabilities=[["gpu"]])]
    return [DeviceRequest(driver="cdi", device_ids=[gpus])]
