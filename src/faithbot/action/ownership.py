"""A container action works as root, on folders of the runner's user."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from faithbot.github.runner import Runner

KEPT = "faithbot"
"""Folder of calls and models under `runner.temp`."""


def kept_folder(runner: Runner, environ: Mapping[str, str], variable: str, name: str) -> Path:
    """Where things are kept from run to run: outside the workspace, where a pull request cannot put anything.

    The variable of the environment overrules.
    """
    if given := environ.get(variable):
        return Path(given)
    return (runner.temp or Path.home()) / KEPT / name


def hand_over_all(folders: Iterable[Path], workspace: Path, temp: Path | None) -> None:
    """Leave no file of root's where the runner's user wants to cache or remove it."""
    for folder in folders:
        hand_over(folder, like=workspace)
    if temp is not None:
        hand_over(temp / KEPT, like=temp)


def hand_over(folder: Path, like: Path) -> None:
    """Give a folder and all in it to the owner of ``like``, so that the runner can cache and remove it.

    Links are given away, not followed. What cannot be given away stays as it is.
    """
    if folder.is_symlink() or not folder.is_dir():
        return
    owner = os.lstat(like)
    for place, folders, files in os.walk(folder):
        for path in (place, *(os.path.join(place, name) for name in (*folders, *files))):
            try:
                if os.lstat(path).st_uid != owner.st_uid:
                    os.lchown(path, owner.st_uid, owner.st_gid)
            except OSError:
                continue
