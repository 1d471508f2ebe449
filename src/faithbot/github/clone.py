"""The workspace's clone, which may hold one commit only, and the fetching of what it lacks."""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from faithbot.errors import EvaluationError
from faithbot.git import run_git

if TYPE_CHECKING:
    from pathlib import Path

    from pydantic import SecretStr

_TIME_LIMIT = 300.0
"""Seconds that the remote has for one answer: a large repository at depth 1 takes a minute or two."""


@dataclass(frozen=True)
class Clone:
    """A clone of the repository with the remote `origin`, as actions/checkout makes it."""

    root: Path
    server_url: str
    """Where the token may go, such as https://github.com."""
    repository: str
    """OWNER/NAME there."""
    token: SecretStr | None
    """None where `origin` needs none, or git's own configuration has one."""

    def ensure(self, commit: str) -> None:
        """Fetch the commit (full id) where the clone lacks it; :class:`EvaluationError` with the cure where that fails.

        In a shallow clone it comes alone, in a complete one with its history: what is there stays as deep as it was.
        """
        if self._has(commit):
            return
        depth = ("--depth=1",) if self._is_shallow() else ()
        quiet = ("--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--no-auto-gc")
        try:
            self._ask("fetch", *quiet, *depth, self._remote, commit)
        except EvaluationError as error:
            raise EvaluationError(
                f"commit {commit} is not in this clone and could not be fetched ({error}). "
                "Set `fetch-depth: 2` on actions/checkout, and `permissions: contents: read` on the job."
            ) from None

    def parents(self, commit: str) -> list[str]:
        """Parents' ids as the commit names them, also where a shallow clone hides them from `git log`."""
        header = run_git(self.root, "cat-file", "commit", commit).partition(b"\n\n")[0].decode(errors="replace")
        return [line.removeprefix("parent ") for line in header.splitlines() if line.startswith("parent ")]

    def remote_refs(self, *names: str) -> dict[str, str]:
        """Commit ids by full ref name, of those that `origin` has."""
        lines = self._ask("ls-remote", "--quiet", self._remote, *names).decode(errors="replace").splitlines()
        found = {ref: commit for commit, _, ref in (line.partition("\t") for line in lines)}
        return {name: found[name] for name in names if name in found}

    def _has(self, commit: str) -> bool:
        try:
            run_git(self.root, "cat-file", "-e", f"{commit}^{{commit}}")
        except EvaluationError:
            return False
        return True

    def _is_shallow(self) -> bool:
        return run_git(self.root, "rev-parse", "--is-shallow-repository").strip() == b"true"

    @cached_property
    def _remote(self) -> str:
        """`origin`; where that is reached by SSH, for which a container has neither program nor key, its repository."""
        return f"{self.server_url}/{self.repository}" if self.token and _is_ssh(self._origin) else "origin"

    @cached_property
    def _origin(self) -> str:
        return run_git(self.root, "remote", "get-url", "origin").decode(errors="replace").strip()

    def _ask(self, *arguments: str) -> bytes:
        return run_git(self.root, *arguments, environment=self._access(), time_limit=_TIME_LIMIT)

    def _access(self) -> dict[str, str]:
        """Environment that lets one git process read from `origin`, and never ask a person.

        The token stands in no argument and no file. Only git itself gets to know it: no helper, transport or hook that
        the workspace's configuration names is started beside it. The empty header takes back the one that
        actions/checkout may have left there: GitHub refuses a request with two.
        """
        never_ask = {"GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": ""}
        if self.token is None or not self._is_on_server():
            return never_ask
        credentials = base64.b64encode(f"x-access-token:{self.token.get_secret_value()}".encode()).decode()
        header = f"http.{self.server_url}/.extraheader"
        settings = [("credential.helper", ""), (header, ""), (header, f"AUTHORIZATION: basic {credentials}")]
        config = {"GIT_CONFIG_COUNT": str(len(settings))}
        for number, (key, value) in enumerate(settings):
            config |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
        return never_ask | {"GIT_ALLOW_PROTOCOL": "https:http"} | config

    def _is_on_server(self) -> bool:
        """Whether we ask where the token may go: `origin` stands in the workspace, where anything may stand."""
        if self._remote != "origin":
            return True
        try:
            return _host_of(self._origin) == _host_of(self.server_url)
        except ValueError:  # no address at all
            return False


def _is_ssh(address: str) -> bool:
    """``ssh://HOST/PATH``, or ``USER@HOST:PATH`` as scp writes it."""
    return address.startswith("ssh://") or re.match(r"[^/@:]+@[^/:]+:", address) is not None


def _host_of(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port
