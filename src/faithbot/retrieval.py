"""Which chunks answer a question: BM25 (Robertson and Zaragoza 2009), as implemented by bm25s."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import bm25s
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faithbot.corpus import Chunk

# Scripts without spaces between words: their runs are indexed as overlapping pairs of characters.
_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u0e00-\u0e7f"
_TOKEN = re.compile(rf"[{_UNSPACED}]+|[^\W{_UNSPACED}]+")
_UNSPACED_START = re.compile(rf"[{_UNSPACED}]")


class BM25Index:
    """An index over chunks. Equal scores keep the order of the chunks: every machine finds the same."""

    def __init__(self, chunks: Sequence[Chunk]) -> None:
        self._chunks = chunks
        words = [tokens(chunk.text) for chunk in chunks]
        self._index: bm25s.BM25 | None = None
        if any(words):  # bm25s refuses documents of punctuation only
            self._index = bm25s.BM25()
            self._index.index(words, show_progress=False)

    def search(self, question: str, top_k: int) -> list[Chunk]:
        """At most ``top_k`` chunks that share a word with the question, best first."""
        if self._index is None:
            return []
        known = [token for token in tokens(question) if token in self._index.vocab_dict]
        if not known:
            return []
        scores = self._index.get_scores(known)
        order = np.argsort(-scores, kind="stable")[:top_k]
        return [self._chunks[index] for index in order if scores[index] > 0]


def tokens(text: str) -> list[str]:
    """Words in lower case; pairs of characters in scripts without spaces."""
    found: list[str] = []
    for run in _TOKEN.findall(text.casefold()):
        if _UNSPACED_START.match(run) and len(run) > 1:
            found.extend(run[start : start + 2] for start in range(len(run) - 1))
        else:
            found.append(run)
    return found
