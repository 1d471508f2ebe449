"""How the models of an Ollama server are named."""

from __future__ import annotations

import re

PLAIN_HTTP = "http://"
_DEFAULT_PLACES = ("registry.ollama.ai/", "library/")
# Ollama reads a host only before two slashes: `localhost/model` is a model of the namespace `localhost`.
_PART = r"[A-Za-z0-9_][A-Za-z0-9._-]*"
_IN_DEFAULT_REGISTRY = re.compile(rf"(?:{_PART}/)?{_PART}(?::{_PART})?")


def listed_name(name: str) -> str:
    """The one spelling, of all that mean the same model, that an Ollama lists it under, in lower case."""
    name = name.casefold().removeprefix(PLAIN_HTTP).removeprefix("https://")
    for place in _DEFAULT_PLACES:
        name = name.removeprefix(place)
    return name if ":" in name.rpartition("/")[2] else f"{name}:latest"


def names_no_host(name: str) -> bool:
    """Whether the name is ``MODEL:TAG`` or ``NAMESPACE/MODEL:TAG``, which Ollama looks up in its own registry."""
    return _IN_DEFAULT_REGISTRY.fullmatch(name) is not None
