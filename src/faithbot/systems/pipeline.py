"""The built-in RAG: documents, chunks, contexts, prompt, answer."""

from __future__ import annotations

import hashlib
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from faithbot.config import DOCUMENTS_KEY, PROMPT_KEY
from faithbot.corpus import load_chunks, match_documents
from faithbot.errors import CallError, UsageError
from faithbot.models.cache import request_key
from faithbot.models.protocol import ChatRequest, Message, Model
from faithbot.models.tokens import estimate_tokens
from faithbot.retrieval import BM25Index
from faithbot.systems.prompt_rendering import MAX_PROMPT_CHARACTERS, render_prompts
from faithbot.systems.protocol import Answer, Context
from faithbot.text_files import read_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from faithbot.config import LoadedConfig
    from faithbot.golden import Question

FIRST_SEED = 1000
"""Run r is drawn with seed FIRST_SEED + r, on both sides."""


class _Prepared(NamedTuple):
    contexts: tuple[Context, ...]
    prompt: str | None
    """None where it is too long to be sent."""


class PipelineSystem:
    """One side's pipeline. Call :meth:`prepare` before anything else; only then is the model opened.

    Both sides get one model from ``open_model`` where they name the same.
    """

    def __init__(self, loaded: LoadedConfig, open_model: Callable[[str], Model]) -> None:
        settings = loaded.pipeline
        place = loaded.place(*DOCUMENTS_KEY)
        paths = match_documents(loaded.snapshot, loaded.document_patterns, place)
        chunks = load_chunks(loaded.snapshot, paths, settings.chunking.size, settings.chunking.overlap)
        if not chunks:
            raise UsageError(f"{place}: the documents hold no text.")
        self._settings = settings
        self._open_model = open_model
        self._index = BM25Index(chunks)
        self._prompt_name = f"{loaded.prompt_path} ({loaded.snapshot.label})"
        loaded.require(loaded.prompt_path, *PROMPT_KEY)
        self._template = read_text(loaded.snapshot, loaded.prompt_path)
        self._prepared: dict[str, _Prepared] = {}
        self.longest_call = 0
        """Tokens, at most, of the longest prompt that was prepared, with its answer."""

    def prepare(self, questions: Sequence[Question]) -> None:
        """Find the contexts and render the prompts of all questions.

        A broken template fails before any call.
        """
        texts = [question.text for question in questions]
        contexts = [self._retrieve(text) for text in texts]
        prompts = render_prompts(self._template, self._prompt_name, list(zip(texts, contexts, strict=True)))
        for text, found, prompt in zip(texts, contexts, prompts, strict=True):
            self._prepared[text] = _Prepared(found, prompt)
            if prompt is not None:
                call = estimate_tokens(prompt) + self._settings.options.max_tokens
                self.longest_call = max(self.longest_call, call)

    @cached_property
    def _model(self) -> Model:
        """Opened late: its server may start while prompts are rendered. The longest prompt sizes its context."""
        model = self._open_model(self._settings.model)
        model.reserve(self.longest_call)
        return model

    async def describe(self) -> tuple[str, str]:
        """Model as written in the configuration, and the digest of its weights."""
        return self._settings.model, (await self._model.identity()).digest

    async def answer(self, question: str, run: int) -> Answer:
        """Ask the model, with the prompt that was prepared."""
        contexts, prompt = self._prepared[question]
        if prompt is None:
            raise CallError(
                f"{self._prompt_name}: the prompt has more than {MAX_PROMPT_CHARACTERS:,} characters: "
                "fewer or shorter chunks."
            )
        request = ChatRequest(
            messages=(Message(role="user", content=prompt),),
            options=self._settings.options,
            seed=FIRST_SEED + run,
            run=run,
        )
        reply = await self._model.chat(request)
        return Answer(
            text=reply.text,
            contexts=contexts,
            request_key=_key_with_contexts(request_key(await self._model.identity(), request), contexts),
            is_cut=reply.finish == "length",
            seconds=reply.seconds,
        )

    def _retrieve(self, question: str) -> tuple[Context, ...]:
        chunks = self._index.search(question, self._settings.retrieval.top_k)
        return tuple(Context(text=chunk.text, source=chunk.document, start=chunk.start) for chunk in chunks)


def _key_with_contexts(key: str, contexts: Sequence[Context]) -> str:
    """The judge sees the contexts, so an answer is the same only where they are, even if the prompt leaves some out."""
    texts = "\0".join(context.text for context in contexts)
    return hashlib.sha256(f"{key}\0{texts}".encode()).hexdigest()
