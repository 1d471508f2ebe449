"""The passages of a configured system, and which of them a judge would be given beside a sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faithbot.config import DOCUMENTS_KEY, RECORDED_KEY
from faithbot.corpus import load_chunks, match_documents
from faithbot.errors import UsageError
from faithbot.probe.material import Passage, Sentence, read_sentences
from faithbot.retrieval import BM25Index
from faithbot.systems.recorded_rows import read_recorded
from faithbot.text_files import read_text

if TYPE_CHECKING:
    from faithbot.config import LoadedConfig, Recorded


def sentences_of(loaded: LoadedConfig) -> list[Sentence]:
    """Sentences of what the system answers from: its documents, or the passages that were recorded.

    :class:`UsageError` where they hold not one whole sentence.
    """
    recorded = loaded.config.system.recorded
    sentences = _of_documents(loaded) if recorded is None else _of_records(loaded, recorded)
    if not sentences:
        place = loaded.place(*(DOCUMENTS_KEY if recorded is None else RECORDED_KEY))
        raise UsageError(
            f"{place}: no passage holds a whole sentence that states a fact: there is nothing to probe with."
        )
    return sentences


def _of_documents(loaded: LoadedConfig) -> list[Sentence]:
    """With each sentence its own chunk and the others that a search for it finds, ``top_k`` in all, the best first."""
    settings = loaded.pipeline
    paths = match_documents(loaded.snapshot, loaded.document_patterns, loaded.place(*DOCUMENTS_KEY))
    chunks = load_chunks(loaded.snapshot, paths, settings.chunking.size, settings.chunking.overlap)
    index = BM25Index(chunks)

    def find(sentence: str, home: Passage) -> tuple[str, ...]:
        found = [chunk.text for chunk in index.search(sentence, settings.retrieval.top_k)]
        if home.text not in found:
            found = [*found[: settings.retrieval.top_k - 1], home.text]
        return tuple(found)

    return read_sentences([Passage(chunk.text, chunk.document) for chunk in chunks], find)


def _of_records(loaded: LoadedConfig, settings: Recorded) -> list[Sentence]:
    """With each sentence the passages of the first row that holds it."""
    neighbours: dict[Passage, tuple[str, ...]] = {}
    for index, path in enumerate(loaded.recorded_paths):
        loaded.require(path, *RECORDED_KEY, index)
        for row in read_recorded(read_text(loaded.snapshot, path), path, loaded.snapshot.label, settings.fields):
            contexts = row.contexts or ()
            texts = tuple(context.text for context in contexts)
            for context in contexts:
                neighbours.setdefault(Passage(context.text, context.source or context.text), texts)
    return read_sentences(neighbours, lambda _, home: neighbours[home])
