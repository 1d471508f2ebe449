"""Read-only views of a git repository: the files of a commit or of the working tree, without a second checkout."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Protocol

from faithbot.errors import EvaluationError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

MAX_FILE_BYTES = 10_000_000
_REGULAR_FILE_MODES = ("100644", "100755")

# The checkout may belong to another user (a container's root), and its own configuration must not start programs.
_GIT = ("git", "-c", "safe.directory=*", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false")


class Snapshot(Protocol):
    """The regular files of one side. Symbolic links and submodules are not in it: they could lead out of it."""

    @property
    def label(self) -> str:
        """As the user named it: a branch, a tag, a commit, or `working tree`."""
        ...

    @property
    def commit(self) -> str | None:
        """Full commit id; None for the working tree."""
        ...

    def files(self) -> Mapping[str, str]:
        """Paths from the repository's root, sorted, each with an id of its content."""
        ...

    def read_many(self, paths: Iterable[str]) -> dict[str, bytes]:
        """Contents by path. A path that is missing or larger than 10 MB raises :class:`UsageError`."""
        ...


def run_git(repository: Path, *arguments: str, stdin: bytes | None = None) -> bytes:
    """Standard output of a git command; :class:`EvaluationError` with git's own words where it fails."""
    try:
        done = subprocess.run([*_GIT, "-C", str(repository), *arguments], input=stdin, capture_output=True, check=False)
    except FileNotFoundError:
        raise EvaluationError("git is not installed: faithbot reads both sides out of git.") from None
    if done.returncode != 0:
        raise EvaluationError(f"git {arguments[0]}: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout


def find_root(folder: Path) -> Path:
    """Top level of the git repository that holds ``folder``."""
    if not folder.is_dir():
        raise UsageError(f"{folder} is not a folder: name a git repository with --repo.")
    try:
        return Path(os.fsdecode(run_git(folder, "rev-parse", "--show-toplevel")).rstrip("\n"))
    except EvaluationError as error:
        if "not a git repository" in str(error):
            raise UsageError(f"{folder} is not in a git repository: name one with --repo.") from None
        raise


def open_snapshot(root: Path, ref: str | None) -> Snapshot:
    """Files of the commit that ``ref`` names; of the working tree where it is None."""
    return WorkingTree(root) if ref is None else Commit(root, ref, resolve_commit(root, ref))


def resolve_commit(root: Path, ref: str) -> str:
    """Full commit id of a ref. After a checkout in CI, `main` may exist as `origin/main` only: that is tried too."""
    if ref.startswith("-"):
        raise UsageError(f"{ref!r} is not a git ref.")
    for candidate in (ref, f"origin/{ref}"):
        try:
            return run_git(root, "rev-parse", "--verify", "--quiet", f"{candidate}^{{commit}}").decode().strip()
        except EvaluationError:
            continue
    if run_git(root, "rev-parse", "--is-shallow-repository").strip() == b"true":
        raise EvaluationError(
            f"{ref!r} is not in this shallow clone: run `git fetch --depth=1 origin {ref}`, "
            "or set `fetch-depth: 0` on actions/checkout."
        )
    raise UsageError(f"{ref!r} is not a commit, branch or tag of {root}: `git branch --all` lists what there is.")


def check_size(path: str, size: int, label: str) -> None:
    """Refuse a file that no golden set, prompt or document should be."""
    if size > MAX_FILE_BYTES:
        raise UsageError(
            f"{path} ({label}) has {size / 1e6:.0f} MB, the limit is {MAX_FILE_BYTES / 1e6:.0f} MB: "
            "leave it out with a `!` pattern, or split it."
        )


def missing_file(path: str, label: str) -> UsageError:
    """The error for a path that is not in a snapshot."""
    return UsageError(f"{path} does not exist on {label} (as a regular file inside the repository).")


@dataclass(frozen=True)
class _Blob:
    object_id: str
    size: int


class Commit:
    """The files of one commit, read from git's object store."""

    def __init__(self, root: Path, label: str, commit: str) -> None:
        self._root = root
        self.label = label
        self.commit: str | None = commit
        self._blobs: dict[str, _Blob] | None = None

    def _listing(self) -> dict[str, _Blob]:
        if self._blobs is None:
            listing = run_git(self._root, "ls-tree", "-r", "-z", "--long", "--full-tree", str(self.commit))
            self._blobs = {}
            for entry in filter(None, os.fsdecode(listing).split("\0")):
                facts, path = entry.split("\t", 1)
                mode, _, object_id, size = facts.split()
                if mode in _REGULAR_FILE_MODES:
                    self._blobs[path] = _Blob(object_id, int(size))
        return self._blobs

    def files(self) -> Mapping[str, str]:
        """Paths with git's blob ids."""
        return {path: blob.object_id for path, blob in sorted(self._listing().items())}

    def read_many(self, paths: Iterable[str]) -> dict[str, bytes]:
        """Contents by path, all through one git process."""
        wanted: dict[str, _Blob] = {}
        for path in paths:
            blob = self._listing().get(path)
            if blob is None:
                raise missing_file(path, self.label)
            check_size(path, blob.size, self.label)
            wanted[path] = blob
        names = "".join(f"{blob.object_id}\n" for blob in wanted.values()).encode()
        stream = run_git(self._root, "cat-file", "--batch", stdin=names) if wanted else b""
        contents: dict[str, bytes] = {}
        position = 0
        for path, blob in wanted.items():
            start = stream.index(b"\n", position) + 1  # past the line "<id> blob <size>"
            contents[path] = stream[start : start + blob.size]
            position = start + blob.size + 1
        return contents


class WorkingTree:
    """The files on disk that git tracks or would add: what a commit of everything would hold."""

    label = "working tree"
    commit: str | None = None

    def __init__(self, root: Path) -> None:
        self._root = root
        self._paths: tuple[str, ...] | None = None
        self._files: Mapping[str, str] | None = None

    def _listing(self) -> tuple[str, ...]:
        if self._paths is None:
            listed = run_git(self._root, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
            unique = sorted(set(filter(None, os.fsdecode(listed).split("\0"))))
            self._paths = tuple(path for path in unique if self._is_inside(path))
        return self._paths

    def _is_inside(self, path: str) -> bool:
        """A regular file that is reached without any symbolic link (a tracked folder may have become one)."""
        target = self._root / path
        return target.is_file() and target.resolve() == self._root.resolve() / path

    def files(self) -> Mapping[str, str]:
        """Paths with git's blob ids, so that equal files have equal ids on both sides."""
        if self._files is None:
            paths = [path for path in self._listing() if "\n" not in path]
            names = "".join(f"{path}\n" for path in paths).encode(errors="surrogateescape")
            identifiers = run_git(self._root, "hash-object", "--stdin-paths", stdin=names).decode().split()
            self._files = dict(zip(paths, identifiers, strict=True))
        return self._files

    def read_many(self, paths: Iterable[str]) -> dict[str, bytes]:
        """Contents by path."""
        contents: dict[str, bytes] = {}
        known = set(self._listing())
        for path in paths:
            if path not in known:
                raise missing_file(path, self.label)
            check_size(path, (self._root / path).stat().st_size, self.label)
            contents[path] = (self._root / path).read_bytes()
        return contents


def read_text(snapshot: Snapshot, path: str) -> str:
    """One file as text: UTF-8, with or without a byte-order mark, or UTF-16 with one."""
    return decode(snapshot.read_many([path])[path], path, snapshot.label)


def decode(data: bytes, path: str, label: str) -> str:
    """Text of a file's bytes, line ends as ``\\n``; :class:`UsageError` names the first byte that is not text."""
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise UsageError(f"{path} ({label}), line {line}: not valid UTF-8: save it as UTF-8.") from None
    if "\0" in text:
        raise UsageError(f"{path} ({label}) is not a text file: leave it out with a `!` pattern.")
    return text.replace("\r\n", "\n").replace("\r", "\n")


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
