"""The files of one side: of a commit, out of git's object store, or of the working tree."""

from __future__ import annotations

import hashlib
import os
import posixpath
import stat
from abc import ABC, abstractmethod
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING, NamedTuple, Protocol

from faithbot.errors import EvaluationError, UsageError
from faithbot.git import run_git, stream_git

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

MAX_FILE_BYTES = 10_000_000
_REGULAR_FILE_MODES = ("100644", "100755")


class Snapshot(Protocol):
    """The regular files of one side whose names are UTF-8.

    Symbolic links and submodules are not in it: they could lead out of it. Names that are not UTF-8 are not in it
    either: no pattern could be written for them, and no report could hold them.
    """

    @property
    def label(self) -> str:
        """As the user named it: a branch, a tag, a commit, or `working tree`."""
        ...

    @property
    def commit(self) -> str | None:
        """Full commit id; None for the working tree."""
        ...

    def paths(self) -> Sequence[str]:
        """Paths from the repository's root, sorted."""
        ...

    def has(self, path: str) -> bool:
        """Whether the file is there; :class:`UsageError` where something else stands there, such as a symbolic link."""
        ...

    def content_ids(self, paths: Iterable[str]) -> dict[str, str]:
        """Git's blob ids by path: the same on both sides means the same content.

        Different ids can still mean the same text: where git converts line ends, the working tree has other bytes.
        """
        ...

    def read_many(self, paths: Iterable[str]) -> dict[str, bytes]:
        """Contents by path. A path that is missing or larger than 10 MB raises :class:`UsageError`."""
        ...


def check_size(path: str, size: int, label: str) -> None:
    """Refuse a file that no golden set, prompt or document should be."""
    if size > MAX_FILE_BYTES:
        raise UsageError(
            f"{path} ({label}) has {size / 1e6:.0f} MB, the limit is {MAX_FILE_BYTES / 1e6:.0f} MB: "
            "leave it out with a `!` pattern, or split it."
        )


class _Listing(NamedTuple):
    """What stands in a snapshot, by path from the root, sorted."""

    files: dict[str, str]
    """Regular files, each with the place of its content: a blob id, or a path on disk."""
    others: frozenset[str]
    """Symbolic links, submodules, and what is reached through them."""


class _Files(ABC):
    """The part of a snapshot that follows from its listing."""

    label: str

    def __init__(self, root: Path) -> None:
        self._root = Path(os.path.realpath(root))

    @cached_property
    @abstractmethod
    def _listing(self) -> _Listing: ...

    def paths(self) -> Sequence[str]:
        """Paths from the repository's root, sorted."""
        return tuple(self._listing.files)

    def has(self, path: str) -> bool:
        """Whether the regular file is there; :class:`UsageError` where something else has its name."""
        if path in self._listing.files:
            return True
        in_the_way = self._listing.others.intersection([path, *map(str, PurePosixPath(path).parents)])
        if in_the_way or any(known.startswith(f"{path}/") for known in self._listing.files):
            raise UsageError(
                f"{path} is no regular file on {self.label}: {min(in_the_way, default=path)} "
                "is a symbolic link, a submodule or a folder. Put the file itself there."
            )
        return False

    def _places(self, paths: Iterable[str]) -> dict[str, str]:
        places: dict[str, str] = {}
        for path in paths:
            if path not in self._listing.files:
                raise UsageError(f"{path} does not exist on {self.label} (as a regular file inside the repository).")
            places[path] = self._listing.files[path]
        return places


class Commit(_Files):
    """The files of one commit, read from git's object store."""

    def __init__(self, root: Path, label: str, commit: str) -> None:
        super().__init__(root)
        self.label = label
        self.commit: str | None = commit

    @cached_property
    def _listing(self) -> _Listing:
        files: dict[str, str] = {}
        others: set[str] = set()
        for entry in _utf8_entries(run_git(self._root, "ls-tree", "-r", "-z", "--full-tree", str(self.commit))):
            facts, path = entry.split("\t", 1)
            mode, _, object_id = facts.split()
            if mode in _REGULAR_FILE_MODES:
                files[path] = object_id
            else:
                others.add(path)
        return _Listing(dict(sorted(files.items())), frozenset(others))

    def content_ids(self, paths: Iterable[str]) -> dict[str, str]:
        """Blob ids by path, as the commit lists them."""
        return self._places(paths)

    def read_many(self, paths: Iterable[str]) -> dict[str, bytes]:
        """Contents by path, all through one git process; a file that is too large is not read."""
        blobs = self._places(paths)
        if not blobs:
            return {}
        names = "".join(f"{object_id}\n" for object_id in blobs.values()).encode()
        with stream_git(self._root, "cat-file", "--batch", stdin=names) as stream:
            return {path: self._read_next(stream, path) for path in blobs}

    def _read_next(self, stream: IO[bytes], path: str) -> bytes:
        """The next object of ``git cat-file --batch``: a line ``ID blob SIZE`` or ``ID missing``, content, newline."""
        header = stream.readline().split()
        if not header:
            raise EOFError
        if header[-1] == b"missing":
            raise EvaluationError(
                f"{path} ({self.label}): the clone lacks its content: make a full one, or see `git fsck`."
            )
        size = int(header[-1])
        check_size(path, size, self.label)
        content = stream.read(size + 1)
        if len(content) <= size:
            raise EOFError
        return content[:-1]


class WorkingTree(_Files):
    """The files on disk that git tracks or would add: what a commit of everything would hold."""

    label = "working tree"
    commit: str | None = None

    @cached_property
    def _listing(self) -> _Listing:
        listed = run_git(self._root, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
        paths = sorted({path.rstrip("/") for path in _utf8_entries(listed)})  # a repository inside ends with a slash
        folders = {posixpath.dirname(path) for path in paths}  # a tracked folder may have become a symbolic link
        direct = {folder for folder in folders if os.path.realpath(self._root / folder) == str(self._root / folder)}
        files: dict[str, str] = {}
        others: set[str] = set()
        for path in paths:
            target = str(self._root / path)
            if not os.path.lexists(target):
                continue  # deleted, and git still tracks it
            if stat.S_ISREG(os.lstat(target).st_mode) and posixpath.dirname(path) in direct:
                files[path] = target
            else:
                others.add(path)
        return _Listing(files, frozenset(others))

    def content_ids(self, paths: Iterable[str]) -> dict[str, str]:
        """Blob ids by path, computed as git does: of the length and the content."""
        sha256 = run_git(self._root, "rev-parse", "--show-object-format").strip() == b"sha256"
        ids: dict[str, str] = {}
        for path, place in self._places(paths).items():
            content = self._read(path, place)
            digest = hashlib.new("sha256" if sha256 else "sha1", b"blob %d\0" % len(content), usedforsecurity=False)
            digest.update(content)
            ids[path] = digest.hexdigest()
        return ids

    def read_many(self, paths: Iterable[str]) -> dict[str, bytes]:
        """Contents by path."""
        return {path: self._read(path, place) for path, place in self._places(paths).items()}

    def _read(self, path: str, place: str) -> bytes:
        try:
            check_size(path, os.path.getsize(place), self.label)
            return Path(place).read_bytes()
        except OSError as error:
            raise UsageError(f"{path} ({self.label}) cannot be read: {error.strerror}.") from None


def _utf8_entries(listing: bytes) -> Iterator[str]:
    """Entries of git's `-z` output; those with a name that is not UTF-8 are left out."""
    for entry in filter(None, listing.split(b"\0")):
        try:
            yield entry.decode()
        except UnicodeDecodeError:
            continue
