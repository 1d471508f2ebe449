"""The files of a classifier: in a folder of this machine, or fetched once from Hugging Face at a pinned commit.

Only data is read: settings, tokenizer and graph. Code that a repository holds is neither fetched nor run.
"""

from __future__ import annotations

import logging
import os
import re
from pathlib import Path
from typing import NamedTuple

import httpx

from faithbot.cache_folder import cache_folder
from faithbot.errors import EvaluationError, UsageError
from faithbot.models.files import replacing

log = logging.getLogger(__name__)

CONFIG = "config.json"
TOKENIZER = "tokenizer.json"
TOKENIZER_CONFIG = "tokenizer_config.json"
GRAPHS = ("model.onnx", "onnx/model.onnx")
"""Where exporters put the graph: the first that is there."""

_HUB = "https://huggingface.co"
_ID = r"(?P<id>[\w-][\w.-]*/[\w-][\w.-]*)"
_PINNED = re.compile(rf"{_ID}@(?P<revision>[0-9a-f]{{40}})", re.ASCII)
_UNPINNED = re.compile(rf"{_ID}(@.*)?", re.ASCII)
_MOST_BYTES = {CONFIG: 1_000_000, TOKENIZER: 100_000_000, TOKENIZER_CONFIG: 10_000_000}
_MOST_GRAPH_BYTES = 2_147_483_647
"""Of one ONNX file: a message of protocol buffers cannot be larger."""
_TIMEOUT = httpx.Timeout(60.0, connect=10.0)
_EXPORT = "Export it with `optimum-cli export onnx`, which writes all that is needed into one folder"


class ClassifierFiles(NamedTuple):
    """Contents of the files."""

    config: bytes
    tokenizer: bytes
    tokenizer_config: bytes | None
    graph: bytes


def read_classifier(model: str) -> ClassifierFiles:
    """The files of the classifier that ``model`` means, fetched if they are not there yet.

    ``model`` is the absolute path of a folder (``~`` is the home folder) or ``org/name@COMMIT``.

    Raises:
        UsageError: it names no classifier that can be read.
        EvaluationError: Hugging Face is not reached, or broke off.
    """
    if pinned := _PINNED.fullmatch(model):
        return _read(_fetched(pinned["id"], pinned["revision"]), model)
    path = Path(os.path.expanduser(model))
    if path.is_absolute():
        return _read(path, model)
    if (named := _UNPINNED.fullmatch(model)) and not path.exists():
        raise UsageError(
            f"classifier {model}: pin the version, so that nobody changes the judge unseen: {named['id']}@COMMIT, with "
            "the 40 hex digits of a commit from the model's history on Hugging Face. (A folder: its absolute path.)"
        )
    raise UsageError(
        f"classifier {model}: name its folder by the absolute path, such as ~/models/nli, or a model of Hugging Face "
        "as org/name@COMMIT. Folders of the repository are not read: a pull request could bring its own judge."
    )


def shown_name(model: str) -> str:
    """How reports call it: without the folders of somebody's machine."""
    return model if _PINNED.fullmatch(model) else Path(model).name


def _read(folder: Path, model: str) -> ClassifierFiles:
    graph = next((name for name in GRAPHS if (folder / name).is_file()), None)
    missing = [name for name in (CONFIG, TOKENIZER) if not (folder / name).is_file()]
    if graph is None or missing:
        lacking = ", ".join([*missing, *([] if graph else [" or ".join(GRAPHS)])])
        raise UsageError(f"classifier {model}: it lacks {lacking}. {_EXPORT}.")
    try:
        optional = folder / TOKENIZER_CONFIG
        return ClassifierFiles(
            config=(folder / CONFIG).read_bytes(),
            tokenizer=(folder / TOKENIZER).read_bytes(),
            tokenizer_config=optional.read_bytes() if optional.is_file() else None,
            graph=(folder / graph).read_bytes(),
        )
    except OSError as error:
        raise UsageError(f"classifier {model}: its files cannot be read: {error.strerror}.") from error


def _fetched(name: str, revision: str) -> Path:
    """The folder of a model of Hugging Face, with its files in it. A commit never changes: what is there stays."""
    folder = cache_folder() / "classifiers" / name.replace("/", "--") / revision
    if any((folder / graph).exists() for graph in GRAPHS):  # fetched last
        return folder
    log.info("fetching the classifier %s, once", name)
    try:
        with httpx.Client(timeout=_TIMEOUT, follow_redirects=True) as http:
            for file in (CONFIG, TOKENIZER, TOKENIZER_CONFIG):
                _fetch(http, f"{name}/resolve/{revision}/{file}", folder / file, _MOST_BYTES[file])
            any(_fetch(http, f"{name}/resolve/{revision}/{file}", folder / file, _MOST_GRAPH_BYTES) for file in GRAPHS)
    except httpx.HTTPError as error:
        raise EvaluationError(
            f"cannot fetch {name} from {_hub()}: {str(error) or type(error).__name__}. "
            "Try again, or fetch its files by hand and name their folder."
        ) from error
    except OSError as error:
        raise EvaluationError(
            f"cannot keep {name} in {folder}: {error.strerror or error}. Set FAITHBOT_CACHE."
        ) from error
    return folder


def _fetch(http: httpx.Client, address: str, path: Path, limit: int) -> bool:
    """Whether the model has the file, which then is at its place."""
    with http.stream("GET", f"{_hub()}/{address}") as response:
        if response.status_code == httpx.codes.NOT_FOUND:
            return False
        if response.status_code in (httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN):
            raise UsageError(
                f"{_hub()} does not hand out {address} without an account, or there is no such model: check the name, "
                "or fetch the files by hand and name their folder."
            )
        response.raise_for_status()
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as temporary:
            _save(response, temporary, limit)
    return True


def _save(response: httpx.Response, path: Path, limit: int) -> None:
    received = 0
    with path.open("wb") as file:
        for block in response.iter_bytes():
            received += len(block)
            if received > limit:
                raise UsageError(f"{response.url} has more than {limit / 1e6:.0f} MB, the limit: it is not read.")
            file.write(block)


def _hub() -> str:
    return (os.environ.get("HF_ENDPOINT") or _HUB).rstrip("/")
