"""The commits to compare are found by id, in clones of any depth, and fetching them hurts neither history nor token."""

from __future__ import annotations

import base64
import contextlib
import os
import subprocess
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pytest
from pydantic import SecretStr

from faithbot.errors import EvaluationError
from faithbot.github import clone as clone_module
from faithbot.github.clone import Clone
from faithbot.github.commits import CommitPair, choose_commits
from faithbot.github.event import DispatchEvent, MergeGroupEvent, PullRequestEvent, PushEvent, ScheduleEvent
from git_http_server import GitHttpServer
from git_repository import commit_all, git, make_repository, write_files

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_REPOSITORY = "acme/handbook"
_TOKEN = "ghs_" + "a1B2" * 9
_BASIC = base64.b64encode(f"x-access-token:{_TOKEN}".encode()).decode()


@dataclass(frozen=True)
class Hosted:
    """A repository as GitHub hosts it: `main` with three commits, and pull request #7 from the first of them."""

    folder: Path
    first: str
    main: str
    head: str
    merge: str

    @property
    def url(self) -> str:
        return f"file://{self.folder}"

    def pull_request(self, head: str | None = None) -> PullRequestEvent:
        return PullRequestEvent(
            7, head or self.head, "feature", "acme/handbook", self.first, "main", False, True, "mona"
        )  # fmt: skip

    def push_to_pull_request(self) -> str:
        """A new last commit, before GitHub has made its merge commit."""
        git(self.folder, "checkout", "--quiet", self.head)
        write_files(self.folder, {"prompt.md": "friendlier still\n"})
        commit = commit_all(self.folder, "again")
        git(self.folder, "update-ref", "refs/pull/7/head", commit)
        return commit

    def make_merge(self, head: str) -> str:
        """What GitHub does a moment after each push."""
        git(self.folder, "checkout", "--quiet", self.main)
        git(self.folder, "merge", "--quiet", "--no-ff", "--message", "Merge", head)
        merge = git(self.folder, "rev-parse", "HEAD")
        git(self.folder, "update-ref", "refs/pull/7/merge", merge)
        return merge


@pytest.fixture
def hosted(tmp_path: Path) -> Hosted:
    folder = make_repository(tmp_path / "acme" / "handbook", {"prompt.md": "be brief\n"})
    git(folder, "config", "uploadpack.allowAnySHA1InWant", "true")
    first = git(folder, "rev-parse", "main")
    for number in (2, 3):
        write_files(folder, {f"news{number}.md": "news\n"})
        main = commit_all(folder, f"news {number}")
    git(folder, "checkout", "--quiet", "--detach", first)
    write_files(folder, {"prompt.md": "be friendly\n"})
    head = commit_all(folder, "friendlier")
    git(folder, "update-ref", "refs/pull/7/head", head)
    made = Hosted(folder, first, main, head, "")
    return Hosted(folder, first, main, head, made.make_merge(head))


def checkout(hosted: Hosted, folder: Path, commit: str, depth: int = 1, url: str = "") -> Clone:
    """As actions/checkout does it; depth 0 is everything that branches hold."""
    git(folder.parent, "init", "--quiet", folder.name)
    git(folder, "remote", "add", "origin", url or hosted.url)
    how = [f"--depth={depth}"] if depth else []
    branches = [] if depth else ["+refs/heads/*:refs/remotes/origin/*"]
    git(folder, "fetch", "--quiet", "--no-tags", *how, hosted.url, commit, *branches)
    git(folder, "checkout", "--quiet", "--detach", commit)
    return Clone(folder, "https://github.com", _REPOSITORY, None)


def state(clone: Clone) -> tuple[str, str, list[str]]:
    """What a user sees of the clone: history, refs, and files in git's folder that tools write."""
    leftovers = [name for name in ("FETCH_HEAD", "config") if (clone.root / ".git" / name).exists()]
    contents = [(clone.root / ".git" / name).read_text() for name in leftovers]
    return git(clone.root, "log", "--format=%H %P", "HEAD"), git(clone.root, "show-ref", "--head"), contents


@pytest.mark.parametrize("depth", [0, 1, 2])
def test_a_pull_request_is_its_merge_against_what_it_was_merged_into(
    hosted: Hosted, tmp_path: Path, depth: int
) -> None:
    clone = checkout(hosted, tmp_path / "workspace", hosted.merge, depth)
    before = state(clone)
    pair = choose_commits(clone, hosted.pull_request(), hosted.merge)
    assert pair == CommitPair(hosted.main, hosted.merge, hosted.head)
    assert git(clone.root, "diff", "--name-only", pair.base, pair.head) == "prompt.md"
    assert state(clone) == before


@pytest.mark.parametrize("depth", [1, 2])
def test_with_two_commits_nothing_is_fetched(hosted: Hosted, tmp_path: Path, depth: int) -> None:
    clone = checkout(hosted, tmp_path / "workspace", hosted.merge, depth)
    git(clone.root, "remote", "set-url", "origin", f"file://{tmp_path}/nowhere")
    if depth == 2:
        assert choose_commits(clone, hosted.pull_request(), hosted.merge).base == hosted.main
        return
    with pytest.raises(EvaluationError) as caught:
        choose_commits(clone, hosted.pull_request(), hosted.merge)
    assert f"commit {hosted.main} is not in this clone and could not be fetched (git fetch: fatal:" in str(caught.value)
    assert "Set `fetch-depth: 2` on actions/checkout, and `permissions: contents: read` on the job." in str(
        caught.value
    )


def test_what_is_checked_out_plays_no_part(hosted: Hosted, tmp_path: Path) -> None:
    clone = checkout(hosted, tmp_path / "workspace", hosted.head)
    assert choose_commits(clone, hosted.pull_request(), hosted.merge) == CommitPair(
        hosted.main, hosted.merge, hosted.head
    )
    assert git(clone.root, "rev-parse", "HEAD") == hosted.head


def test_a_shallow_clone_keeps_the_history_that_it_has(hosted: Hosted, tmp_path: Path) -> None:
    clone = checkout(hosted, tmp_path / "workspace", hosted.main, depth=2)
    before = state(clone)
    clone.ensure(hosted.merge)
    clone.ensure(hosted.first)
    clone.ensure(hosted.main)
    assert state(clone) == before
    assert len(before[0].splitlines()) == 2


def test_a_complete_clone_stays_complete(hosted: Hosted, tmp_path: Path) -> None:
    clone = checkout(hosted, tmp_path / "workspace", hosted.main, depth=0)
    commit = hosted.push_to_pull_request()
    clone.ensure(commit)
    assert git(clone.root, "rev-parse", "--is-shallow-repository") == "false"
    assert git(clone.root, "merge-base", commit, hosted.main) == hosted.first


def test_a_merge_commit_that_came_late_is_asked_for_once_more(hosted: Hosted, tmp_path: Path) -> None:
    clone = checkout(hosted, tmp_path / "workspace", hosted.merge)
    head = hosted.push_to_pull_request()
    merge = hosted.make_merge(head)
    assert choose_commits(clone, hosted.pull_request(head), hosted.merge) == CommitPair(hosted.main, merge, head)


def test_a_merge_commit_that_lags_behind_is_never_evaluated(hosted: Hosted, tmp_path: Path) -> None:
    clone = checkout(hosted, tmp_path / "workspace", hosted.merge)
    head = hosted.push_to_pull_request()
    with pytest.raises(EvaluationError) as caught:
        choose_commits(clone, hosted.pull_request(head), hosted.merge)
    assert str(caught.value) == (
        f"GitHub has not merged commit {head[:12]} of pull request #7 into main yet "
        f"(its merge commit {hosted.merge[:12]} is of another one): run the job again in a minute, or push again."
    )


def test_after_a_change_of_base_the_merge_into_the_new_one_counts(hosted: Hosted, tmp_path: Path) -> None:
    clone = checkout(hosted, tmp_path / "workspace", hosted.merge)
    git(hosted.folder, "checkout", "--quiet", "-B", "stable", hosted.first)
    write_files(hosted.folder, {"fix.md": "fixed\n"})
    stable = replace(hosted, main=commit_all(hosted.folder, "fix"))
    merge = stable.make_merge(hosted.head)
    retargeted = replace(hosted.pull_request(), base_ref="stable", is_retargeted=True)
    assert choose_commits(clone, retargeted, hosted.merge) == CommitPair(stable.main, merge, hosted.head)


def test_a_run_of_the_heads_own_commit_is_compared_with_base_as_the_event_has_it_and_says_so(
    hosted: Hosted, tmp_path: Path
) -> None:
    clone = checkout(hosted, tmp_path / "workspace", hosted.head)
    pair = choose_commits(clone, hosted.pull_request(), hosted.head)
    assert (pair.base, pair.head, pair.head_of_pull_request) == (hosted.first, hosted.head, hosted.head)
    assert pair.note
    assert "not of its merge into main: what main got meanwhile counts as a difference" in pair.note


def test_a_head_that_is_itself_a_merge_is_not_mistaken_for_githubs(hosted: Hosted, tmp_path: Path) -> None:
    own_merge = hosted.merge
    event = hosted.pull_request(own_merge)
    clone = checkout(hosted, tmp_path / "workspace", own_merge)
    assert choose_commits(clone, event, own_merge).base == event.base_sha


def test_a_merge_group_names_both(hosted: Hosted, tmp_path: Path) -> None:
    clone = checkout(hosted, tmp_path / "workspace", hosted.merge)
    event = MergeGroupEvent(hosted.main, hosted.merge, "refs/heads/main", "refs/heads/gh-readonly-queue/main/pr-7")
    assert choose_commits(clone, event, hosted.merge) == CommitPair(hosted.main, hosted.merge)
    assert git(clone.root, "diff", "--name-only", hosted.main, hosted.merge) == "prompt.md"


def test_a_push_and_a_schedule_have_one_commit_on_both_sides(hosted: Hosted, tmp_path: Path) -> None:
    clone = checkout(hosted, tmp_path / "workspace", hosted.main)
    same = CommitPair(hosted.main, hosted.main)
    assert choose_commits(clone, PushEvent("refs/heads/main", hosted.first, hosted.main, "main"), hosted.main) == same
    assert choose_commits(clone, ScheduleEvent(), hosted.main) == same
    assert choose_commits(clone, DispatchEvent(None, None), hosted.main) == same


def test_a_dispatch_finds_the_pull_request_by_its_number(hosted: Hosted, tmp_path: Path) -> None:
    clone = checkout(hosted, tmp_path / "workspace", hosted.main)
    before = state(clone)
    assert choose_commits(clone, DispatchEvent(7, None), hosted.main) == CommitPair(
        hosted.main, hosted.merge, hosted.head
    )
    assert state(clone) == before


def test_a_dispatch_says_why_a_pull_request_cannot_be_compared(hosted: Hosted, tmp_path: Path) -> None:
    clone = checkout(hosted, tmp_path / "workspace", hosted.main)
    with pytest.raises(EvaluationError, match=r"no pull request #8 in this repository: check the input `pr`"):
        choose_commits(clone, DispatchEvent(8, None), hosted.main)
    hosted.push_to_pull_request()
    with pytest.raises(EvaluationError, match="not merged the last commit of pull request #7 with its base yet"):
        choose_commits(clone, DispatchEvent(7, None), hosted.main)
    git(hosted.folder, "update-ref", "-d", "refs/pull/7/merge")
    with pytest.raises(EvaluationError, match="no merge of pull request #7 with its base: it has conflicts, or is"):
        choose_commits(clone, DispatchEvent(7, None), hosted.main)


@pytest.fixture
def server(hosted: Hosted) -> Iterator[GitHttpServer]:
    with GitHttpServer(hosted.folder.parent.parent, _TOKEN) as running:
        yield running


@pytest.mark.parametrize("left_by_checkout", [False, True], ids=["clean", "with a header in git's configuration"])
def test_the_token_reaches_the_server_and_nothing_else(
    hosted: Hosted, server: GitHttpServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, left_by_checkout: bool
) -> None:
    workspace = checkout(hosted, tmp_path / "workspace", hosted.merge, url=f"{server.url}/acme/handbook/.git").root
    if left_by_checkout:
        git(workspace, "config", f"http.{server.url}/.extraheader", "AUTHORIZATION: basic c29tZTpvdGhlcg==")
    clone = Clone(workspace, server.url, _REPOSITORY, SecretStr(_TOKEN))
    before = state(clone)
    trace = tmp_path / "trace"
    for variable in ("GIT_TRACE", "GIT_TRACE_SETUP", "GIT_TRACE_CURL", "GIT_TRACE2_EVENT"):
        monkeypatch.setenv(variable, str(trace))
    arguments = log_arguments(tmp_path / "bin", monkeypatch)

    assert choose_commits(clone, hosted.pull_request(), hosted.merge).base == hosted.main

    assert server.authorizations
    assert all(given == [f"basic {_BASIC}"] for given in server.authorizations)
    assert "fetch --quiet" in arguments.read_text()
    assert "remote-http" in trace.read_text()
    assert state(clone) == before
    for file in (path for path in tmp_path.rglob("*") if path.is_file()):
        assert _TOKEN.encode() not in file.read_bytes()
        assert _BASIC.encode() not in file.read_bytes()
    assert not any(secret in value for secret in (_TOKEN, _BASIC) for value in os.environ.values())
    assert _TOKEN not in repr(clone)


def log_arguments(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a `git` first on the PATH that writes down its arguments."""
    real = subprocess.run(["which", "git"], check=True, capture_output=True, text=True).stdout.strip()
    write_files(folder, {"git": f'#!/bin/sh\necho "$@" >> {folder}/arguments\nexec {real} "$@"\n'})
    (folder / "git").chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)
    return folder / "arguments"


def test_the_token_is_for_its_server_only(hosted: Hosted, server: GitHttpServer, tmp_path: Path) -> None:
    workspace = checkout(hosted, tmp_path / "workspace", hosted.merge, url=f"{server.url}/acme/handbook/.git").root
    clone = Clone(workspace, "https://github.com", _REPOSITORY, SecretStr(_TOKEN))
    with pytest.raises(EvaluationError, match="could not be fetched"):
        choose_commits(clone, hosted.pull_request(), hosted.merge)
    assert all(given == [] for given in server.authorizations)


@pytest.mark.parametrize(
    "origin", ["git@github.com:acme/handbook.git", "ssh://git@ssh.github.com:443/acme/handbook.git"]
)
def test_what_was_checked_out_by_ssh_is_fetched_by_the_token(
    hosted: Hosted, server: GitHttpServer, tmp_path: Path, origin: str
) -> None:
    workspace = checkout(hosted, tmp_path / "workspace", hosted.merge).root
    git(workspace, "remote", "set-url", "origin", origin)
    clone = Clone(workspace, server.url, "acme/handbook/.git", SecretStr(_TOKEN))
    assert choose_commits(clone, hosted.pull_request(), hosted.merge).base == hosted.main
    assert all(given == [f"basic {_BASIC}"] for given in server.authorizations)
    assert choose_commits(clone, DispatchEvent(7, None), hosted.main).head == hosted.merge


# What the workspace's own configuration can make git start; PROGRAM writes down its environment.
PROGRAMS = {
    "credential helper": {"credential.helper": "PROGRAM"},
    "credential helper of the server": {"credential.SERVER.helper": "!PROGRAM"},
    "asking program": {"core.askPass": "PROGRAM"},
    "alternates": {"core.alternateRefsCommand": "PROGRAM"},
    "ssh": {"remote.origin.url": "ssh://git@github.com/acme/handbook", "core.sshCommand": "PROGRAM"},
    "git protocol": {"remote.origin.url": "git://github.com/acme/handbook", "core.gitProxy": "PROGRAM"},
    "transport": {"remote.origin.url": "ext::PROGRAM", "protocol.ext.allow": "always"},
    "other address": {"url.ext::PROGRAM .insteadOf": "SERVER", "protocol.ext.allow": "always"},
    "foreign remote": {"remote.origin.vcs": "program"},
    "upload pack": {"remote.origin.url": "FOLDER/local", "remote.origin.uploadpack": "PROGRAM"},
}


@pytest.mark.parametrize("settings", PROGRAMS.values(), ids=PROGRAMS)
@pytest.mark.parametrize("token", [_TOKEN, "expired"])
def test_no_program_that_the_workspace_names_gets_to_know_the_token(
    hosted: Hosted,
    server: GitHttpServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    settings: dict[str, str],
    token: str,
) -> None:
    workspace = checkout(hosted, tmp_path / "workspace", hosted.merge, url=f"{server.url}/acme/handbook/.git").root
    for name in ("program", "git-remote-program"):
        write_files(tmp_path, {name: f"#!/bin/sh\nenv >> {tmp_path}/seen\n"})
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    make_repository(tmp_path / "local", {"a": "a"})
    write_files(workspace, {".git/objects/info/alternates": f"{tmp_path}/local/.git/objects\n"})
    places = {"PROGRAM": f"{tmp_path}/program", "FOLDER": str(tmp_path), "SERVER": server.url}
    for key, value in settings.items():
        for place, path in places.items():
            key, value = key.replace(place, path), value.replace(place, path)
        git(workspace, "config", key, value)
    with contextlib.suppress(EvaluationError):
        choose_commits(Clone(workspace, server.url, _REPOSITORY, SecretStr(token)), hosted.pull_request(), hosted.merge)
    basic = base64.b64encode(f"x-access-token:{token}".encode()).decode()
    seen = (tmp_path / "seen").read_text() if (tmp_path / "seen").exists() else ""
    assert basic not in seen


@pytest.mark.parametrize("token", [None, SecretStr("expired")])
def test_a_refused_fetch_asks_nobody_and_names_the_permission(
    hosted: Hosted, server: GitHttpServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, token: SecretStr | None
) -> None:
    write_files(tmp_path, {"ask": f"#!/bin/sh\ntouch {tmp_path}/asked\n"})
    (tmp_path / "ask").chmod(0o755)
    monkeypatch.setenv("GIT_ASKPASS", str(tmp_path / "ask"))
    monkeypatch.setenv("SSH_ASKPASS", str(tmp_path / "ask"))
    workspace = checkout(hosted, tmp_path / "workspace", hosted.merge, url=f"{server.url}/acme/handbook/.git").root
    with pytest.raises(EvaluationError, match="`permissions: contents: read`") as caught:
        choose_commits(Clone(workspace, server.url, _REPOSITORY, token), hosted.pull_request(), hosted.merge)
    assert "expired" not in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "asked").exists()


def test_a_remote_that_never_answers_ends_in_time(
    hosted: Hosted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clone = checkout(hosted, tmp_path / "workspace", hosted.merge)
    git(clone.root, "config", "remote.origin.uploadpack", "sleep 5; git-upload-pack")
    monkeypatch.setattr(clone_module, "_TIME_LIMIT", 0.5)
    with pytest.raises(EvaluationError, match=r"no answer within 0\.5 seconds"):
        choose_commits(clone, hosted.pull_request(), hosted.merge)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_workspace_of_another_user_works(hosted: Hosted, tmp_path: Path) -> None:
    clone = checkout(hosted, tmp_path / "workspace", hosted.merge)
    for path in (clone.root, *clone.root.rglob("*")):
        os.chown(path, 12345, 12345)
    assert choose_commits(clone, hosted.pull_request(), hosted.merge).base == hosted.main
