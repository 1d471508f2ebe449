"""Files that a command writes: checked before the work begins, whole or not at all, and never through a link."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from faithbot.errors import UsageError
from faithbot.models.files import replacing

if TYPE_CHECKING:
    from pathlib import Path


class OutputFile:
    """A file to write later. :class:`UsageError` at once where that cannot work, not when the work is done."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise _cannot_write(path, error) from None
        if path.is_dir():
            raise UsageError(f"cannot write {path}: it is a folder.")
        if not os.access(path.parent, os.W_OK):
            raise UsageError(f"cannot write {path}: no permission for its folder.")

    def write(self, text: str) -> None:
        """Put the text in place of what is there. A link is replaced, not followed: it may come from a pull request."""
        if self._path.exists() and not self._path.is_file():  # a device such as /dev/stderr cannot be replaced
            with self._path.open("w", encoding="utf-8") as stream:
                stream.write(text)
            return
        try:
            with replacing(self._path) as temporary:
                temporary.write_text(text, encoding="utf-8")
        except OSError as error:
            raise _cannot_write(self._path, error) from None


def default_results_file(root: Path) -> OutputFile:
    """`.faithbot/results.json` in the repository, in a folder that git ignores by itself."""
    folder = root / ".faithbot"
    if folder.is_symlink():
        raise UsageError(f"{folder} is a link: remove it, or name a file with --json.")
    OutputFile(folder / ".gitignore").write("*\n")
    return OutputFile(folder / "results.json")


def _cannot_write(path: Path, error: OSError) -> UsageError:
    return UsageError(f"cannot write {path}: {error.strerror}.")
