"""Documents of a snapshot, cut into chunks."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from wcmatch import glob
from wcmatch._wcparse import PatternLimitException  # nowhere else, and glob raises it

from faithbot.errors import UsageError
from faithbot.text_files import decode

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from faithbot.snapshots import Snapshot

_MARKDOWN = (".md", ".markdown", ".mdx")
_HTML = (".html", ".htm")
_TEXT = (".txt", ".rst")


@dataclass(frozen=True)
class Chunk:
    """A piece of a document, and where it starts in the document's text (in characters)."""

    text: str
    document: str
    start: int


def match_files(snapshot: Snapshot, patterns: Sequence[str], place: str) -> list[str]:
    """Paths that the glob patterns name, sorted; none need match. A pattern ``!drafts/**`` leaves files out."""
    chosen: set[str] = set()
    left_out: set[str] = set()
    for pattern in patterns:
        (left_out if pattern.startswith("!") else chosen).update(_matching(snapshot.paths(), pattern, place))
    return sorted(chosen - left_out)


def match_documents(snapshot: Snapshot, patterns: Sequence[str], place: str) -> list[str]:
    """Paths that the glob patterns name, sorted. A pattern ``!drafts/**`` leaves files out.

    Every pattern must match something: a folder that was renamed must not silently empty the corpus. No pattern can
    match a file whose name is not UTF-8, because a snapshot does not hold such files.
    """
    for pattern in patterns:
        if not pattern.startswith("!") and not _matching(snapshot.paths(), pattern, place):
            raise UsageError(
                f"{place}: no file on {snapshot.label} matches {pattern!r} (of {len(snapshot.paths())} files in git)."
            )
    documents = match_files(snapshot, patterns, place)
    if not documents:
        raise UsageError(f"{place}: the `!` patterns leave no document on {snapshot.label}.")
    _check_readable(documents, place)
    return documents


def _matching(paths: Sequence[str], pattern: str, place: str) -> list[str]:
    """Paths that one pattern matches, its ``!`` aside. Only where it leaves files out, `*` matches hidden ones, too."""
    flags = glob.GLOBSTAR | glob.BRACE | (glob.DOTGLOB if pattern.startswith("!") else 0)
    try:
        return list(map(str, glob.globfilter(paths, pattern.removeprefix("!"), flags=flags)))
    except PatternLimitException:
        raise UsageError(f"{place}: {pattern!r} stands for more than 1,000 patterns: use `*` or `**`.") from None


def _check_readable(documents: Iterable[str], place: str) -> None:
    readable = (*_MARKDOWN, *_HTML, *_TEXT)
    for path in documents:
        if PurePosixPath(path).suffix.lower() not in readable:
            raise UsageError(
                f"{place}: {path} is none of {', '.join(readable)}: narrow the pattern or leave it out with `!`."
            )


def load_chunks(snapshot: Snapshot, paths: Sequence[str], size: int, overlap: int) -> list[Chunk]:
    """Chunks of at most ``size`` characters, in the order of paths and of the text.

    Cuts fall on the largest structure that fits (headings, paragraphs, sentences, words): semantic-text-splitter.
    """
    from semantic_text_splitter import MarkdownSplitter, TextSplitter  # slow, and matching files needs none

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
    if PurePosixPath(path).suffix.lower() not in _HTML:
        return text
    from markdownify import markdownify  # slow, and few have documents in HTML

    try:
        return str(markdownify(text, heading_style="ATX", strip=["img"]))
    except RecursionError:
        problem = "its elements are nested too deeply"
    except ValueError as error:
        problem = str(error)
    raise UsageError(
        f"{path} ({label}): cannot be read as HTML: {problem}: simplify it, or leave it out with a `!` pattern."
    )
