"""Where a classifier comes from: a folder, or a pinned commit of a hub that is served here over real HTTP."""

from __future__ import annotations

import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import pytest

from faithbot.errors import EvaluationError, UsageError
from faithbot.judge import classifier_files
from faithbot.judge.classifier_files import read_classifier, shown_name
from tiny_classifier import write_classifier

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

COMMIT = "0123456789abcdef" * 2 + "01234567"
MODEL = f"org/tiny-nli@{COMMIT}"


class Hub(SimpleHTTPRequestHandler):
    """Hands out the files of a folder; the graph, like a real hub, from elsewhere."""

    asked: list[str]

    def do_GET(self) -> None:
        self.asked.append(self.path)
        if self.path.endswith("/model.onnx") and not self.path.startswith("/elsewhere"):
            self.send_response(302)
            self.send_header("Location", f"/elsewhere{self.path}")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        if self.path.startswith("/private/"):
            self.send_error(401)
            return
        self.path = self.path.removeprefix("/elsewhere")
        super().do_GET()

    def log_message(self, *_: object) -> None:
        """Keep the output of tests clean."""


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of COMMIT on a hub that holds nothing yet."""
    Hub.asked = []
    folder = tmp_path / "hub"
    files = folder / "org" / "tiny-nli" / "resolve" / COMMIT
    files.mkdir(parents=True)
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Hub, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setenv("FAITHBOT_CACHE", str(tmp_path / "cache"))
    yield files
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_pinned_model_is_fetched_once_and_only_its_data(hub: Path) -> None:
    write_classifier(hub)
    (hub / "modeling_tiny.py").write_text("raise SystemExit('code of a repository was run')")

    first = read_classifier(MODEL)
    asked = len(Hub.asked)

    assert first.graph == (hub / "model.onnx").read_bytes()
    assert first.tokenizer == (hub / "tokenizer.json").read_bytes()
    assert read_classifier(MODEL) == first
    assert len(Hub.asked) == asked
    assert not any(path.endswith(".py") for path in Hub.asked)


def test_a_graph_in_the_folder_onnx_is_found(hub: Path) -> None:
    write_classifier(hub)
    (hub / "onnx").mkdir()
    (hub / "model.onnx").rename(hub / "onnx" / "model.onnx")

    assert read_classifier(MODEL).graph == (hub / "onnx" / "model.onnx").read_bytes()


def test_a_model_without_a_graph_says_how_to_make_one(hub: Path) -> None:
    write_classifier(hub)
    (hub / "model.onnx").unlink()

    with pytest.raises(UsageError, match=rf"{MODEL}: it lacks model.onnx or onnx/model.onnx. Export it with `optimum"):
        read_classifier(MODEL)
    write_classifier(hub)
    assert read_classifier(MODEL).graph


def test_a_file_beyond_the_limit_is_not_kept(hub: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_classifier(hub)
    monkeypatch.setattr(classifier_files, "_MOST_GRAPH_BYTES", 1000)

    with pytest.raises(UsageError, match=r"model.onnx has more than 0 MB"):
        read_classifier(MODEL)
    assert not [path for path in (tmp_path / "cache").rglob("*") if path.suffix in (".onnx", ".incomplete")]


def test_a_cache_that_cannot_be_written_is_told_in_words(hub: Path, tmp_path: Path) -> None:
    write_classifier(hub)
    (tmp_path / "cache").write_text("a file where the folder should be")

    with pytest.raises(EvaluationError, match=r"cannot keep \S+ in \S+: Not a directory\. Set FAITHBOT_CACHE\.$"):
        read_classifier(MODEL)


@pytest.mark.usefixtures("hub")
def test_a_model_behind_an_account_says_what_to_do() -> None:
    with pytest.raises(UsageError, match=r"without an account.*name their folder"):
        read_classifier(f"private/model@{COMMIT}")


def test_a_hub_that_is_not_there_ends_the_evaluation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("FAITHBOT_CACHE", str(tmp_path))

    with pytest.raises(EvaluationError, match=r"cannot fetch org/tiny-nli from http://127.0.0.1:9"):
        read_classifier(MODEL)


@pytest.mark.parametrize("model", ["org/nli", "org/nli@main", f"org/nli@{COMMIT[:39]}", f"org/nli@{COMMIT.upper()}"])
def test_a_model_that_is_not_pinned_is_refused(model: str) -> None:
    with pytest.raises(UsageError, match=r"pin the version.* org/nli@COMMIT, with the 40 hex digits"):
        read_classifier(model)


@pytest.mark.parametrize("model", ["models", "./models/nli", "../nli", "models/nli/v1", f"../..@{COMMIT}"])
def test_a_folder_of_the_repository_is_refused(model: str) -> None:
    with pytest.raises(UsageError, match=r"by the absolute path.*a pull request could bring its own judge"):
        read_classifier(model)


def test_a_folder_may_start_at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    write_classifier(tmp_path / "models" / "nli")

    assert read_classifier("~/models/nli") == read_classifier(str(tmp_path / "models" / "nli"))


def test_a_folder_without_a_classifier_says_what_it_lacks(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"it lacks config.json, tokenizer.json, model.onnx or onnx/model.onnx"):
        read_classifier(str(tmp_path))


def test_reports_name_the_model_without_the_folders_of_a_machine() -> None:
    assert shown_name("/home/ann/models/nli") == shown_name("~/nli") == "nli"
    assert shown_name(MODEL) == MODEL
