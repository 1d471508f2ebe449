"""A container action works as root, on folders of the runner's user."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from faithbot.github.runner import Runner

KEPT = "faithbot"
"""Folder of calls and models under `runner.temp`, or under the home."""
_HOME_ON_RUNNER = "${{ runner.temp }}/_github_home"
"""How a workflow names a container's home. The runner empties it before each job, as all of `runner.temp`."""


def kept_folder(runner: Runner, environ: Mapping[str, str], variable: str, name: str) -> Path:
    """Where things are kept from run to run: outside the workspace, where a pull request cannot put anything.

    The variable of the environment overrules.
    """
    if given := environ.get(variable):
        return Path(given)
    return keeping_folder(runner.temp) / KEPT / name


def keeping_folder(temp: Path | None) -> Path:
    """`runner.temp`, else the home, which every runner shares with its containers."""
    return temp or Path.home()


def tell_what_is_not_kept(runner: Runner, say: Callable[[str], None]) -> None:
    """A line about a runner that does not mount `runner.temp`."""
    if runner.temp is None:
        say(
            f"this runner does not mount runner.temp into containers: models and calls are kept in {Path.home()} and "
            f"gone with the job, unless it caches {_HOME_ON_RUNNER}/{KEPT}. Update the runner"
        )


def hand_over_all(folders: Iterable[Path], workspace: Path, temp: Path | None) -> None:
    """Leave no file of root's where the runner's user wants to cache or remove it."""
    for folder in folders:
        hand_over(folder, like=workspace)
    keeping = keeping_folder(temp)
    hand_over(keeping / KEPT, like=keeping)


def hand_over(folder: Path, like: Path) -> None:
    """Give a folder and all in it to the owner of ``like``, so that the runner can cache and remove it.

    Links are given away, not followed: a pull request may have put them there, also on the way to the folder. What
    cannot be given away stays as it is.
    """
    if not folder.is_dir() or _leads_through_link(folder, like):
        return
    owner = os.lstat(like)
    for place, folders, files in os.walk(folder):
        for path in (place, *(os.path.join(place, name) for name in (*folders, *files))):
            try:
                if os.lstat(path).st_uid != owner.st_uid:
                    os.lchown(path, owner.st_uid, owner.st_gid)
            except OSError:
                continue


def _leads_through_link(folder: Path, trusted: Path) -> bool:
    """Whether a part of the path is a link; those that lead to ``trusted`` as well are the runner's own."""
    own = (trusted, *trusted.parents)
    return any(part.is_symlink() for part in (folder, *folder.parents) if part not in own)
