"""Real git repositories for tests: branches from plain dictionaries of files."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

from faithbot.git import git_environment

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_ENVIRONMENT = git_environment() | {
    "GIT_AUTHOR_NAME": "Test",
    "GIT_AUTHOR_EMAIL": "test@example.org",
    "GIT_COMMITTER_NAME": "Test",
    "GIT_COMMITTER_EMAIL": "test@example.org",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
}


def git(folder: Path, *arguments: str) -> str:
    """Run git and return its standard output."""
    done = subprocess.run(
        ["git", "-C", str(folder), *arguments], check=True, capture_output=True, text=True, env=_ENVIRONMENT
    )
    return done.stdout.strip()


def write_files(folder: Path, files: Mapping[str, str | bytes | None]) -> None:
    """Write files; None deletes one."""
    for path, content in files.items():
        target = folder / path
        if content is None:
            target.unlink(missing_ok=True)
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode() if isinstance(content, str) else content)


def make_repository(
    folder: Path, main: Mapping[str, str | bytes | None], branches: Mapping[str, Mapping[str, str | bytes | None]] = {}
) -> Path:
    """A repository with a `main` branch and others that start from it; ends on `main`."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "--quiet", "--initial-branch=main")
    write_files(folder, main)
    commit_all(folder, "main")
    for name, files in branches.items():
        git(folder, "checkout", "--quiet", "-b", name, "main")
        write_files(folder, files)
        commit_all(folder, name)
    git(folder, "checkout", "--quiet", "main")
    return folder


def commit_all(folder: Path, message: str) -> str:
    """Commit everything and return the commit's id."""
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", message)
    return git(folder, "rev-parse", "HEAD")
