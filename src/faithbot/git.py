"""Git, run for its output: never redirected to another repository, and never starting the repository's own programs."""

from __future__ import annotations

import os
import subprocess
import tempfile
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, cast

from faithbot.errors import EvaluationError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

# The checkout may belong to another user (a container's root), and its own configuration must not start programs.
_SETTINGS = (
    "safe.directory=*", "core.fsmonitor=false", "core.hooksPath=/dev/null", "core.alternateRefsCommand=true",
    "core.quotePath=false",
)  # fmt: skip
_GIT = ("git", *(word for setting in _SETTINGS for word in ("-c", setting)))

_PARTIAL = "promisor remote"
"""In git's words where a clone that was made without all contents cannot fetch one after all."""

# What `git rev-parse --local-env-vars` lists, and two more that a server's hooks set: each ties git to one repository.
_REPOSITORY_VARIABLES = frozenset(
    {
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_COMMON_DIR",
        "GIT_CONFIG",
        "GIT_CONFIG_COUNT",
        "GIT_CONFIG_PARAMETERS",
        "GIT_DIR",
        "GIT_GRAFT_FILE",
        "GIT_IMPLICIT_WORK_TREE",
        "GIT_INDEX_FILE",
        "GIT_INTERNAL_SUPER_PREFIX",
        "GIT_NAMESPACE",
        "GIT_NO_REPLACE_OBJECTS",
        "GIT_OBJECT_DIRECTORY",
        "GIT_PREFIX",
        "GIT_QUARANTINE_PATH",
        "GIT_REPLACE_REF_BASE",
        "GIT_SHALLOW_FILE",
        "GIT_WORK_TREE",
    }
)


def git_environment() -> dict[str, str]:
    """Environment for git: messages in English, and nothing that redirects it to another repository, as hooks do."""
    kept = {name: value for name, value in os.environ.items() if name not in _REPOSITORY_VARIABLES}
    return kept | {"LC_ALL": "C"}


def run_git(
    repository: Path,
    *arguments: str,
    stdin: bytes | None = None,
    environment: Mapping[str, str] = {},
    time_limit: float | None = None,
) -> bytes:
    """Standard output of a git command; :class:`EvaluationError` with git's own words where it fails.

    ``environment`` is added for this one process; ``time_limit`` is in seconds.
    """
    try:
        done = subprocess.run(
            _command(repository, arguments),
            input=stdin,
            capture_output=True,
            check=False,
            env={**git_environment(), **environment},
            timeout=time_limit,
        )
    except FileNotFoundError:
        raise _not_installed() from None
    except subprocess.TimeoutExpired:
        raise EvaluationError(f"git {arguments[0]}: no answer within {time_limit:g} seconds") from None
    if done.returncode != 0:
        raise EvaluationError(f"git {arguments[0]}: {_explain(done.stderr)}")
    return done.stdout


@contextmanager
def stream_git(repository: Path, *arguments: str, stdin: bytes) -> Iterator[IO[bytes]]:
    """Standard output of a git command while it runs, for a block that reads all of it.

    The block raises :class:`EOFError` where that ends too early; :class:`EvaluationError` then has git's own words.
    """
    with tempfile.TemporaryFile() as source, tempfile.TemporaryFile() as stderr:
        source.write(stdin)
        source.seek(0)
        try:
            process = subprocess.Popen(
                _command(repository, arguments),
                stdin=source,
                stdout=subprocess.PIPE,
                stderr=stderr,
                env=git_environment(),
            )
        except FileNotFoundError:
            raise _not_installed() from None
        with process:
            try:
                yield cast("IO[bytes]", process.stdout)
            except EOFError:
                process.wait()
                stderr.seek(0)
                raise EvaluationError(f"git {arguments[0]}: {_explain(stderr.read())}") from None
            finally:
                process.kill()  # where the block did not want the rest


def _command(repository: Path, arguments: Sequence[str]) -> list[str]:
    return [*_GIT, "-C", str(repository), *arguments]


def _not_installed() -> EvaluationError:
    return EvaluationError("git is not installed: faithbot reads both sides out of git.")


def _explain(stderr: bytes) -> str:
    said = " ".join(stderr.decode(errors="replace").split())
    if _PARTIAL not in said:
        return said
    return (
        "this is a partial clone, and what it lacks could not be fetched: make a full one, in a workflow by leaving "
        f"`filter` and `sparse-checkout` out of actions/checkout. Git says: {said}"
    )
