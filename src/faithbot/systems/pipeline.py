"""The built-in RAG: documents, chunks, contexts, prompt, answer."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from jinja2 import StrictUndefined, TemplateError, TemplateSyntaxError, UndefinedError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from faithbot.config import DOCUMENTS_KEY
from faithbot.corpus import load_chunks, match_documents
from faithbot.errors import CallError, UsageError
from faithbot.models.cache import request_key
from faithbot.models.protocol import ChatRequest, Message, Model
from faithbot.models.tokens import estimate_tokens
from faithbot.repository import read_text
from faithbot.retrieval import BM25Index
from faithbot.systems.protocol import Answer, Context

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jinja2 import Template

    from faithbot.config import LoadedConfig
    from faithbot.golden import Question

FIRST_SEED = 1000
"""Run r is drawn with seed FIRST_SEED + r, on both sides."""

MAX_PROMPT_CHARACTERS = 2_000_000


class PipelineSystem:
    """One side's pipeline, its documents indexed and its prompt compiled. The model is shared between the sides."""

    def __init__(self, loaded: LoadedConfig, model: Model) -> None:
        settings = loaded.config.system.pipeline
        place = loaded.place(*DOCUMENTS_KEY)
        paths = match_documents(loaded.snapshot, loaded.document_patterns, place)
        chunks = load_chunks(loaded.snapshot, list(paths), settings.chunking.size, settings.chunking.overlap)
        if not chunks:
            raise UsageError(f"{place}: the documents hold no text.")
        self._settings = settings
        self._model = model
        self._index = BM25Index(chunks)
        self._prompt_name = f"{loaded.prompt_path} ({loaded.snapshot.label})"
        self._template = _compile(read_text(loaded.snapshot, loaded.prompt_path), self._prompt_name)

    def prepare(self, questions: Sequence[Question]) -> None:
        """Render every prompt once: a broken template fails before any call, and the longest sizes the context."""
        for question in questions:
            try:
                prompt = self._prompt(question.text, self._retrieve(question.text))
            except CallError:
                continue  # recorded as this question's failure when its turn comes
            self._model.reserve(estimate_tokens(prompt) + self._settings.options.max_tokens)

    async def describe(self) -> tuple[str, str]:
        """Model as written in the configuration, and the digest of its weights."""
        return self._settings.model, (await self._model.identity()).digest

    async def answer(self, question: str, run: int) -> Answer:
        """Retrieve, render and ask the model."""
        contexts = self._retrieve(question)
        request = ChatRequest(
            messages=(Message(role="user", content=self._prompt(question, contexts)),),
            options=self._settings.options,
            seed=FIRST_SEED + run,
            run=run,
        )
        reply = await self._model.chat(request)
        key = _key_with_contexts(request_key(await self._model.identity(), request), contexts)
        return Answer(
            text=reply.text, contexts=contexts, request_key=key, is_cut=reply.finish == "length", seconds=reply.seconds
        )

    def _retrieve(self, question: str) -> tuple[Context, ...]:
        chunks = self._index.search(question, self._settings.retrieval.top_k)
        return tuple(Context(text=chunk.text, source=chunk.document, start=chunk.start) for chunk in chunks)

    def _prompt(self, question: str, contexts: Sequence[Context]) -> str:
        try:
            prompt = self._template.render(question=question, contexts=contexts)
        except UndefinedError as error:
            raise UsageError(
                f"{self._prompt_name}: {error.message}: a prompt knows `question` and `contexts`."
            ) from None
        except (TemplateError, TypeError, ValueError, ArithmeticError, LookupError, OverflowError) as error:
            raise UsageError(f"{self._prompt_name}: the template fails: {error}") from None
        if len(prompt) > MAX_PROMPT_CHARACTERS:
            raise CallError(f"{self._prompt_name}: the prompt has {len(prompt):,} characters: fewer or shorter chunks.")
        return prompt


def _compile(source: str, name: str) -> Template:
    """A pull request's template is data: it runs in Jinja's sandbox and sees two variables."""
    environment = ImmutableSandboxedEnvironment(undefined=StrictUndefined, autoescape=False, keep_trailing_newline=True)
    try:
        return environment.from_string(source)
    except TemplateSyntaxError as error:
        raise UsageError(
            f"{name}, line {error.lineno}: not a valid Jinja template: {error.message}. "
            "Literal double braces go between {% raw %} and {% endraw %}."
        ) from None


def _key_with_contexts(key: str, contexts: Sequence[Context]) -> str:
    """The judge sees the contexts, so an answer is the same only where they are, even if the prompt leaves some out."""
    texts = "\0".join(context.text for context in contexts)
    return hashlib.sha256(f"{key}\0{texts}".encode()).hexdigest()
