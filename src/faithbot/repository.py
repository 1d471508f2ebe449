"""A git repository: where it begins, which commit a ref means, and paths that stay inside."""

from __future__ import annotations

import difflib
import os
import posixpath
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from faithbot.errors import EvaluationError, UsageError
from faithbot.git import run_git
from faithbot.snapshots import Commit, WorkingTree

if TYPE_CHECKING:
    from faithbot.snapshots import Snapshot


def find_root(folder: Path) -> Path:
    """Top level of the git repository that holds ``folder``; of a bare repository its own folder."""
    if not os.path.isdir(folder):
        raise UsageError(f"{folder} is not a folder: name a git repository with --repo.")
    try:
        if _is(folder, "--is-inside-work-tree"):
            return _path_from_git(folder, "--show-toplevel")
        if _is(folder, "--is-bare-repository"):
            return _path_from_git(folder, "--absolute-git-dir")
    except EvaluationError as error:
        if "not a git repository" in str(error):
            raise UsageError(
                f"{folder.resolve()} is not in a git repository: make one with `git init`, or name one with --repo."
            ) from None
        raise
    raise UsageError(f"{folder} is git's own folder: name the repository's top level with --repo.")


def _is(folder: Path, question: str) -> bool:
    return run_git(folder, "rev-parse", question).strip() == b"true"


def _path_from_git(folder: Path, question: str) -> Path:
    return Path(os.fsdecode(run_git(folder, "rev-parse", question)).removesuffix("\n"))


def config_path(root: Path, folder: Path, given: str) -> str:
    """Path from the repository's root of the configuration that the user calls ``given``.

    A relative path starts at the root. One that leads up (`../faithbot.yaml`) starts at ``folder``, the one of
    `--repo`, and an absolute one where it says; both must end inside the repository.
    """
    path = posixpath.normpath(given)
    if path.startswith(("/", "../")):
        target = Path(os.path.realpath(folder), path)
        # Links on the way there are followed; the file itself may be one, which the snapshot then refuses.
        path = os.path.relpath(os.path.realpath(target.parent) + f"/{target.name}", os.path.realpath(root))
    if path in (".", "..") or path.startswith("../"):
        raise UsageError(f"--config {given!r} is no file inside {root}: name it from there, such as `faithbot.yaml`.")
    return path


def open_snapshot(root: Path, ref: str | None, label: str | None = None) -> Snapshot:
    """Files of the commit that ``ref`` names, called ``label`` where given; of the working tree where it is None."""
    if ref is not None:
        return Commit(root, label or ref, resolve_commit(root, ref))
    if _is(root, "--is-bare-repository"):
        raise UsageError(
            f"{root} is a bare repository, without a working tree: name a branch, tag or commit with --head."
        )
    return WorkingTree(root)


def resolve_commit(root: Path, ref: str) -> str:
    """Full commit id of a ref. After a checkout in CI, `main` may exist as `origin/main` only: that is tried too."""
    if ref.startswith("-"):
        raise UsageError(f"{ref!r} is not a git ref.")
    for candidate in (ref, f"origin/{ref}"):
        try:
            return run_git(root, "rev-parse", "--verify", "--quiet", f"{candidate}^{{commit}}").decode().strip()
        except EvaluationError:
            continue
    if _is(root, "--is-shallow-repository"):
        raise EvaluationError(
            f"{ref!r} is not in this shallow clone: run `git fetch --depth=1 origin {ref}`, "
            "or set `fetch-depth: 0` on actions/checkout."
        )
    known = run_git(root, "for-each-ref", "--format=%(refname:short)").decode(errors="replace").split()
    near = difflib.get_close_matches(ref, known, n=1)
    hint = f"did you mean {near[0]!r}?" if near else "`git branch --all` lists what there is."
    raise UsageError(f"{ref!r} is not a commit, branch or tag of {root}: {hint}")


def commits_missing(root: Path, head: str | None, base: str | None) -> int:
    """How many commits of base are not in head (the working tree, None, stands on `HEAD`); 0 where history is cut."""
    try:
        return int(run_git(root, "rev-list", "--count", f"{head or 'HEAD'}..{base or 'HEAD'}"))
    except EvaluationError:
        return 0


def join_inside(folder: str, path: str, what: str) -> str:
    """Path from the root for one that is written relative to ``folder``; it must stay inside the repository."""
    parts: list[str] = []
    for part in (PurePosixPath(folder) / path).parts:
        if part == "..":
            if not parts:
                raise UsageError(f"{what}: {path!r} leads out of the repository.")
            parts.pop()
        elif part != ".":
            parts.append(part)
    if PurePosixPath(path).is_absolute() or not parts:
        raise UsageError(f"{what}: {path!r} must be a path inside the repository, relative to the configuration.")
    return "/".join(parts)
