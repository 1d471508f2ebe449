"""Names of models: ``provider/name``."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from faithbot.errors import UsageError

if TYPE_CHECKING:
    from faithbot.models.protocol import Model

PROVIDERS = ("ollama", "openai", "embedded")


def open_model(name: str) -> Model:
    """The model that ``provider/name`` means, for example ``ollama/llama3.2:3b``. Asks no server anything yet.

    Each provider's code, with its HTTP client, is imported only here, so that a command without a model starts fast.
    """
    provider, _, rest = name.partition("/")
    if not rest or provider not in PROVIDERS:
        raise UsageError(f"model '{name}': {_advice(provider, rest)}")
    if provider == "ollama":
        from faithbot.models.ollama import OllamaModel

        return OllamaModel(rest)
    if provider == "openai":
        from faithbot.models.openai import OpenAIModel

        return OpenAIModel(rest)
    from faithbot.models.embedded import EmbeddedModel

    return EmbeddedModel(rest)


def _advice(provider: str, rest: str) -> str:
    forms = ", ".join(f"{known}/NAME" for known in PROVIDERS)
    if not rest:
        return f"write it as provider/name: {forms}."
    near = difflib.get_close_matches(provider.casefold(), PROVIDERS, n=1)
    hint = f"did you mean {near[0]}/{rest}?" if near else f"known are {forms}."
    return f"there is no provider '{provider}': {hint}"
