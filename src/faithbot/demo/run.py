"""The packaged example: a bike shop's RAG and two pull requests, really answered, judged and compared."""

from __future__ import annotations

import asyncio
import os
import subprocess
import tempfile
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from faithbot.errors import EvaluationError
from faithbot.git import git_environment
from faithbot.job import run_comparison
from faithbot.plan import CompareRequest
from faithbot.report.terminal import render_summary

if TYPE_CHECKING:
    from collections.abc import Iterator
    from importlib.resources.abc import Traversable

    from faithbot.progress import Progress

CHANGES = {
    "friendlier-answers": "The prompt asks for enthusiasm instead of a sentence from the text.",
    "reworded-prompt": "One word of the prompt is exchanged.",
}
"""Branches of the example and what their pull request does."""


def run_demo(cache: Path, progress: Progress) -> Iterator[str]:
    """Compare both branches with main; one text for each, as soon as it is known."""
    with tempfile.TemporaryDirectory(prefix="faithbot-demo-") as folder:
        repository = build_repository(Path(folder))
        for number, (branch, description) in enumerate(CHANGES.items(), start=1):
            progress.say(f"{number} of {len(CHANGES)}: main → {branch}: {description}")
            request = CompareRequest(
                repository=repository, base="main", head=branch, config="faithbot.yaml", cache=cache
            )
            results = asyncio.run(run_comparison(request, progress))
            yield f"main → {branch}: {description}\n\n{render_summary(results)}"


def build_repository(folder: Path) -> Path:
    """A git repository with the example on main and each change on a branch."""
    package = resources.files("faithbot.demo")
    _git(folder, "init", "--quiet", "--initial-branch=main", "--template=")
    _copy(package / "example", folder)
    _commit(folder, "A bike shop's RAG")
    for branch, description in CHANGES.items():
        _git(folder, "checkout", "--quiet", "-b", branch, "main")
        _copy(package / "example" / "changes" / branch, folder)
        _commit(folder, description)
    _git(folder, "checkout", "--quiet", "main")
    return folder


def _copy(source: Traversable, folder: Path) -> None:
    for entry in source.iterdir():
        if entry.is_dir():
            _copy(entry, folder / entry.name)
        else:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / entry.name).write_bytes(entry.read_bytes())


def _commit(folder: Path, message: str) -> None:
    _git(folder, "add", "--all")
    _git(folder, "commit", "--quiet", "--message", message)


def _git(folder: Path, *arguments: str) -> None:
    """Run git with an identity of its own and without the user's hooks and signing."""
    identity = {
        f"GIT_{role}_{field}": value
        for role in ("AUTHOR", "COMMITTER")
        for field, value in (("NAME", "faithbot demo"), ("EMAIL", "demo@example.org"))
    }
    environment = git_environment() | identity | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    try:
        subprocess.run(["git", "-C", str(folder), *arguments], check=True, capture_output=True, env=environment)
    except FileNotFoundError:
        raise EvaluationError("git is not installed: the demo builds a small repository with it.") from None
    except subprocess.CalledProcessError as error:
        raise EvaluationError(f"git {arguments[0]}: {error.stderr.decode(errors='replace').strip()}") from None
