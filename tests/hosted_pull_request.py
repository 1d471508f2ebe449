"""A pull request as GitHub hosts it and as actions/checkout leaves it in a workspace, with the event that it causes."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from git_repository import commit_all, git, make_repository, write_files

if TYPE_CHECKING:
    from collections.abc import Mapping

PAYLOADS = Path(__file__).parent / "github" / "payloads"
NUMBER = 2


@dataclass(frozen=True)
class HostedPullRequest:
    """Full ids of its commits. `main` went on after the branch had left it."""

    workspace: Path
    branch: str
    left_from: str
    main: str
    head: str
    merge: str

    def payload(self) -> dict[str, Any]:
        """What GitHub sends about it."""
        content: dict[str, Any] = json.loads((PAYLOADS / "pull_request.opened.json").read_text())
        content["number"] = content["pull_request"]["number"] = NUMBER
        content["pull_request"]["head"].update(ref=self.branch, sha=self.head)
        content["pull_request"]["base"].update(ref="main", sha=self.left_from)
        return content


def host_pull_request(
    folder: Path,
    main: Mapping[str, str | bytes | None],
    change: Mapping[str, str | bytes | None],
    branch: str = "topic",
) -> HostedPullRequest:
    """Pull request #2, which makes ``change`` to ``main``, checked out two commits deep in ``folder``/workspace."""
    origin = make_repository(folder / "origin", main, {branch: change})
    git(origin, "config", "uploadpack.allowAnySHA1InWant", "true")
    left_from, head = git(origin, "rev-parse", "main", branch).split()
    write_files(origin, {"NEWS.md": "news\n"})
    tip = commit_all(origin, "news")
    git(origin, "checkout", "--quiet", "--detach")
    git(origin, "merge", "--quiet", "--no-ff", "--message", "Merge", branch)
    merge = git(origin, "rev-parse", "HEAD")
    git(origin, "update-ref", f"refs/pull/{NUMBER}/merge", merge)
    git(origin, "update-ref", f"refs/pull/{NUMBER}/head", head)
    return HostedPullRequest(check_out(origin, folder / "workspace", merge), branch, left_from, tip, head, merge)


def check_out(origin: Path, workspace: Path, commit: str) -> Path:
    """A clone of the commit and its parents."""
    git(origin, "init", "--quiet", str(workspace))
    git(workspace, "remote", "add", "origin", f"file://{origin}")
    git(workspace, "fetch", "--quiet", "--no-tags", "--depth=2", "origin", commit)
    git(workspace, "checkout", "--quiet", "--detach", commit)
    return workspace
