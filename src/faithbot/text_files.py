"""Bytes of a snapshot's files as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faithbot.errors import UsageError

if TYPE_CHECKING:
    from faithbot.snapshots import Snapshot

# Source: https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md
_LFS_POINTER = b"version https://git-lfs.github.com/spec/"
_LFS_POINTER_BYTES = 1024


def read_text(snapshot: Snapshot, path: str) -> str:
    """One file as text: UTF-8, with or without a byte-order mark, or UTF-16 with one."""
    return decode(snapshot.read_many([path])[path], path, snapshot.label)


def decode(data: bytes, path: str, label: str) -> str:
    """Text of a file's bytes, line ends as ``\\n``.

    :class:`UsageError` names the first byte that is not text, or says that the text lies elsewhere, in Git LFS.
    """
    if data.startswith(_LFS_POINTER) and len(data) < _LFS_POINTER_BYTES:
        raise UsageError(
            f"{path} ({label}) is a pointer of Git LFS, not the text: keep it in git itself (take it out of the "
            "patterns in .gitattributes, then `git add --renormalize` it)."
        )
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise UsageError(f"{path} ({label}), line {line}: not valid UTF-8: save it as UTF-8.") from None
    if "\0" in text:
        raise UsageError(f"{path} ({label}) is not a text file: leave it out with a `!` pattern.")
    return text.replace("\r\n", "\n").replace("\r", "\n")
