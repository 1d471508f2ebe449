"""Ollama in a container beside ours: started through the Docker socket, filled with models, removed."""

from faithbot.ollama_service.engine import Engine, look_at_engine
from faithbot.ollama_service.image import OLLAMA_IMAGE
from faithbot.ollama_service.service import (
    OllamaService,
    ServiceSettings,
    launch_service,
    remove_leftovers,
    start_service,
)

__all__ = [
    "OLLAMA_IMAGE",
    "Engine",
    "OllamaService",
    "ServiceSettings",
    "launch_service",
    "look_at_engine",
    "remove_leftovers",
    "start_service",
]
