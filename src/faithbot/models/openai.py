"""``openai/NAME``: a model of any OpenAI-compatible server (vLLM, llama-server, Ollama's /v1, the public API)."""

from __future__ import annotations

import asyncio
import difflib
import hashlib
import json
import os
import re
from typing import TYPE_CHECKING, Any

from faithbot.errors import UsageError
from faithbot.models.completions import ChatCompletions
from faithbot.models.context import ContextExceededError, context_error
from faithbot.models.protocol import ModelIdentity, SamplingOptions

if TYPE_CHECKING:
    from faithbot.models.protocol import ChatRequest, Reply
    from faithbot.models.transport import Patience

PUBLIC_API = "https://api.openai.com/v1"

_UNSENT_OPTIONS = ("top_k", "repeat_penalty")
_KEY = re.compile(r"[!-~]+")


class OpenAIModel:
    """A model of the server that ``OPENAI_BASE_URL`` names, with the key in ``OPENAI_API_KEY`` if it wants one.

    Only fields of the standard are sent, because the public API refuses any other: a call that sets ``top_k`` or
    ``repeat_penalty`` is refused, because neither would change anything.
    """

    parallel = 8
    """Such a server batches its calls, and one that is too busy says so."""

    def __init__(
        self, name: str, *, base_url: str | None = None, api_key: str | None = None, patience: Patience | None = None
    ) -> None:
        self.name = name
        self._completions = ChatCompletions(
            base_url or os.environ.get("OPENAI_BASE_URL") or PUBLIC_API,
            name="OpenAI-compatible server",
            cure="Is it running, and is OPENAI_BASE_URL its address? That usually ends in /v1.",
            key=_checked_key(os.environ.get("OPENAI_API_KEY", "") if api_key is None else api_key),
            patience=patience,
        )
        self._identity: ModelIdentity | None = None
        self._asking = asyncio.Lock()

    async def identity(self) -> ModelIdentity:
        """What the server tells about the model: none tells a content digest, see :func:`entry_digest`."""
        async with self._asking:
            if self._identity is None:
                self._identity = self._identify(await self._completions.models())
            return self._identity

    def reserve(self, tokens: int) -> None:
        """Nothing to do: such a server's context is fixed when it starts."""

    async def chat(self, request: ChatRequest) -> Reply:
        """Answer one request."""
        self._check_options(request.options)
        identity = await self.identity()
        try:
            return await self._completions.create(self.name, request)
        except ContextExceededError as error:
            model = f"openai/{self.name}"
            raise context_error(model, error.prompt_tokens, request, identity.context_length) from error

    async def aclose(self) -> None:
        """Close the connections."""
        await self._completions.aclose()

    def _check_options(self, options: SamplingOptions) -> None:
        fields = SamplingOptions.model_fields
        unsent = [name for name in _UNSENT_OPTIONS if getattr(options, name) != fields[name].default]
        if unsent:
            raise UsageError(
                f"openai/{self.name}: this protocol has no {' and no '.join(unsent)}: remove that from the options. "
                "temperature, top_p and max_tokens work; ollama/ and embedded/ models know all."
            )

    def _identify(self, entries: list[dict[str, Any]]) -> ModelIdentity:
        by_id = {str(entry.get("id")): entry for entry in entries}
        if self.name not in by_id:
            near = difflib.get_close_matches(self.name, by_id, n=3, cutoff=0.5) or sorted(by_id)[:5]
            raise UsageError(
                f"model '{self.name}' is not on the server ({self._completions.place}). "
                f"It has {', '.join(near) or 'no models'}."
            )
        entry = by_id[self.name]
        return ModelIdentity(
            provider="openai",
            name=self.name,
            digest=entry_digest(self._completions.address, entry),
            context_length=_context_length(entry),
        )


def _checked_key(text: str) -> str | None:
    """The key without the line break that files and secrets end with. A wrong one is never quoted."""
    key = text.strip()
    if key and not _KEY.fullmatch(key):
        raise UsageError(
            "OPENAI_API_KEY holds something that no key can: white space inside, a control character or a letter "
            "beyond ASCII. Copy the key again."
        )
    return key or None


def entry_digest(server: str, entry: dict[str, Any]) -> str:
    """SHA-256 of the server's address, the model's name and what the server tells about the weights behind it.

    vLLM tells the path (``root``), llama-server the vocabulary, parameters and size (``meta``). Neither is a content
    digest, and two servers may both call theirs ``default``: so the address counts as well. ``created`` is left out:
    both put the time of the request there.
    """
    known = {key: entry[key] for key in ("root", "parent", "owned_by") if entry.get(key)}
    if isinstance(meta := entry.get("meta"), dict):
        known["meta"] = {key: value for key, value in meta.items() if key != "n_ctx"}  # a setting, not the weights
    text = json.dumps({"server": server, "id": entry["id"], **known}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _context_length(entry: dict[str, Any]) -> int | None:
    """vLLM's and llama-server's own fields for what they allot."""
    meta = entry.get("meta")
    length = entry.get("max_model_len") or (meta.get("n_ctx") if isinstance(meta, dict) else None)
    return length if isinstance(length, int) else None
