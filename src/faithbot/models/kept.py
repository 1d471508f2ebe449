"""Replies on disk: one JSON file a call, whole or not there, whatever ends the process that writes it."""

from __future__ import annotations

import contextlib
import hashlib
import json
import tempfile
import time
from typing import TYPE_CHECKING, Any

from faithbot.errors import EvaluationError, UsageError
from faithbot.models.files import TEMPORARY_SUFFIX, replacing

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_STALE = 3600.0
"""Seconds after which a temporary file has no writer any more."""


class KeptReplies:
    """Replies (JSON objects) by key (what decides the reply, a JSON object as well) in ``folder``.

    A file appears under its name only once it is whole, and carries its key and a checksum, so that neither a process
    killed at any moment nor a damaged disk can give a wrong reply: what cannot be trusted is not there.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        _prepare(folder)

    def read(self, key: Mapping[str, Any]) -> Any | None:
        """The reply that was kept under the key; None where there is none."""
        try:
            record = json.loads(self._path(key).read_bytes())
            if record["key"] != key or record["checksum"] != digest(record["reply"]):
                return None
            return record["reply"]
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def write(self, key: Mapping[str, Any], reply: Mapping[str, Any]) -> None:
        """Keep a reply; :class:`EvaluationError` where the disk does not take it."""
        path = self._path(key)
        try:
            if not path.parent.exists():
                path.parent.mkdir(parents=True, exist_ok=True)
            with replacing(path, self._folder) as temporary:
                temporary.write_bytes(json.dumps({"key": key, "reply": reply, "checksum": digest(reply)}).encode())
        except OSError as error:
            raise EvaluationError(
                f"cannot write to the cache {self._folder}: {error.strerror}. Free some space, or name another folder."
            ) from error

    def _path(self, key: Mapping[str, Any]) -> Path:
        name = digest(key)
        return self._folder / name[:2] / f"{name}.json"


def digest(value: Mapping[str, Any]) -> str:
    """SHA-256 of a JSON object, the order of its keys included."""
    # Not sorted: the order of a schema's properties decides the order in which a model writes them.
    return hashlib.sha256(json.dumps(value, separators=(",", ":")).encode()).hexdigest()


def _prepare(folder: Path) -> None:
    """Make the folder, make sure that it can be written to, and remove what killed writers left."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
        for leftover in folder.glob(f"*{TEMPORARY_SUFFIX}"):
            with contextlib.suppress(FileNotFoundError):  # another process cleans up as well
                if time.time() - leftover.stat().st_mtime > _STALE:
                    leftover.unlink()
    except OSError as error:
        raise UsageError(f"the cache folder {folder} cannot be written to: {error.strerror}. Name another.") from error
