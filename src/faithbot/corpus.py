"""Documents of a snapshot, cut into chunks."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from markdownify import markdownify
from semantic_text_splitter import MarkdownSplitter, TextSplitter
from wcmatch import glob

from faithbot.errors import UsageError
from faithbot.repository import Snapshot, decode

if TYPE_CHECKING:
    from collections.abc import Sequence

_MARKDOWN = (".md", ".markdown", ".mdx")
_HTML = (".html", ".htm")
_TEXT = (".txt", ".rst")
_GLOB_FLAGS = glob.GLOBSTAR | glob.NEGATE | glob.BRACE


@dataclass(frozen=True)
class Chunk:
    """A piece of a document, and where it starts in the document's text (in characters)."""

    text: str
    document: str
    start: int


def match_documents(snapshot: Snapshot, patterns: Sequence[str], place: str) -> dict[str, str]:
    """Paths that the glob patterns name, sorted, with their content ids. A pattern ``!drafts/**`` leaves files out.

    Every pattern must match something: a folder that was renamed must not silently empty the corpus.
    """
    files = snapshot.files()
    for pattern in patterns:
        if not pattern.startswith("!") and not any(glob.globmatch(path, pattern, flags=_GLOB_FLAGS) for path in files):
            raise UsageError(
                f"{place}: no file on {snapshot.label} matches {pattern!r} (of {len(files)} files in git)."
            )
    matching = {path: content for path, content in files.items() if glob.globmatch(path, patterns, flags=_GLOB_FLAGS)}
    readable = (*_MARKDOWN, *_HTML, *_TEXT)
    for path in matching:
        if PurePosixPath(path).suffix.lower() not in readable:
            raise UsageError(
                f"{place}: {path} is none of {', '.join(readable)}: narrow the pattern or leave it out with `!`."
            )
    if not matching:
        raise UsageError(f"{place}: the `!` patterns leave no document on {snapshot.label}.")
    return matching


def load_chunks(snapshot: Snapshot, paths: Sequence[str], size: int, overlap: int) -> list[Chunk]:
    """Chunks of at most ``size`` characters, in the order of paths and of the text.

    Cuts fall on the largest structure that fits (headings, paragraphs, sentences, words): semantic-text-splitter.
    """
    markdown, plain = MarkdownSplitter(size, overlap), TextSplitter(size, overlap)
    chunks: list[Chunk] = []
    for path, content in snapshot.read_many(paths).items():
        text = document_text(path, content, snapshot.label)
        splitter = plain if PurePosixPath(path).suffix.lower() in _TEXT else markdown
        chunks.extend(Chunk(piece, path, start) for start, piece in splitter.chunk_indices(text))
    return chunks


def document_text(path: str, content: bytes, label: str) -> str:
    """Text of a document; HTML becomes Markdown, so that headings, lists and tables stay visible."""
    text = decode(content, path, label)
    if PurePosixPath(path).suffix.lower() in _HTML:
        return str(markdownify(text, heading_style="ATX", strip=["img"]))
    return text
