"""The files that a step leaves in `artifact-dir`: their names, and never through a link of the checkout."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from faithbot.errors import UsageError
from faithbot.output_files import OutputFile

if TYPE_CHECKING:
    from pathlib import Path

RESULTS_FILE = "results.json"
REPORT_FILE = "report.md"
LOG_FILE = "ollama.log"


def artifact_folder(workspace: Path, folder: str) -> Path:
    """The folder for the report; never through a link, which a pull request may have put there."""
    return _without_links(workspace, folder)


def artifact_file(workspace: Path, folder: str, name: str) -> OutputFile:
    """A file in that folder; no link either: one to a device, such as the job's log, would be followed."""
    return OutputFile(_without_links(workspace, f"{folder}/{name}"))


def remove_stale(workspace: Path, folder: str) -> None:
    """Remove files of our names that a checkout brought: a job that fails early must not leave them as its report."""
    for name in (RESULTS_FILE, REPORT_FILE, LOG_FILE):
        with suppress(OSError):
            (_without_links(workspace, folder) / name).unlink()


def _without_links(workspace: Path, path: str) -> Path:
    reached = workspace
    for part in path.split("/"):
        reached /= part
        if reached.is_symlink():
            raise UsageError(f"artifact-dir: {reached} is a symbolic link: remove it, or name another folder.")
    return reached
