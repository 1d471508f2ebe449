"""Every event that faithbot serves is read from a payload as GitHub sends it; any other gets advice."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from faithbot.errors import UsageError
from faithbot.github.event import (
    DispatchEvent,
    Event,
    MergeGroupEvent,
    PullRequestEvent,
    PushEvent,
    ScheduleEvent,
    WorkflowRunEvent,
    read_event,
)
from runner_environment import make_runner

_PAYLOADS = Path(__file__).parent / "payloads"


def payload(name: str) -> Any:
    return json.loads((_PAYLOADS / f"{name}.json").read_text())


def read(tmp_path: Path, event_name: str, content: Any) -> Event:
    path = tmp_path / "event.json"
    path.write_text(json.dumps(content))
    return read_event(make_runner(tmp_path, GITHUB_EVENT_NAME=event_name, GITHUB_EVENT_PATH=path))


def test_a_pull_request(tmp_path: Path) -> None:
    assert read(tmp_path, "pull_request", payload("pull_request.opened")) == PullRequestEvent(
        number=2,
        head_sha="ec26c3e57ca3a959ca5aad62de7213c562f8c821",
        head_ref="changes",
        head_repository="Codertocat/Hello-World",
        base_sha="f95f852bd8fca8fcc58a9a2d6c842781e32a215e",
        base_ref="master",
        is_fork=False,
        is_open=True,
        author="Codertocat",
    )


def test_a_pull_request_that_got_another_title_or_another_base(tmp_path: Path) -> None:
    content = payload("pull_request.opened") | {"action": "edited"}
    for changes, is_retargeted in ({"title": {"from": "Before"}}, False), ({"base": {"ref": {"from": "main"}}}, True):
        event = read(tmp_path, "pull_request", content | {"changes": changes})
        assert isinstance(event, PullRequestEvent)
        assert event.is_retargeted == is_retargeted


def test_a_pull_request_from_a_fork(tmp_path: Path) -> None:
    event = read(tmp_path, "pull_request", payload("pull_request.fork"))
    assert isinstance(event, PullRequestEvent)
    assert (event.is_fork, event.head_repository, event.author) == (True, "mona/Hello-World", "mona")


def test_a_fork_that_is_gone_is_a_fork_still_and_its_author_a_ghost(tmp_path: Path) -> None:
    content = payload("pull_request.fork")
    content["pull_request"]["head"]["repo"] = None
    content["pull_request"]["user"] = None
    event = read(tmp_path, "pull_request", content)
    assert isinstance(event, PullRequestEvent)
    assert (event.is_fork, event.head_repository, event.author) == (True, None, "ghost")


def test_a_repository_that_is_itself_a_fork_has_pull_requests_of_its_own(tmp_path: Path) -> None:
    content = payload("pull_request.opened")
    content["pull_request"]["head"]["repo"]["fork"] = content["pull_request"]["base"]["repo"]["fork"] = True
    event = read(tmp_path, "pull_request", content)
    assert isinstance(event, PullRequestEvent)
    assert not event.is_fork


def test_a_closed_pull_request_is_known_as_such_whatever_happened_to_it(tmp_path: Path) -> None:
    content = payload("pull_request.closed")
    for action in ("closed", "labeled"):
        event = read(tmp_path, "pull_request", content | {"action": action})
        assert isinstance(event, PullRequestEvent)
        assert not event.is_open


def test_a_merge_group(tmp_path: Path) -> None:
    assert read(tmp_path, "merge_group", payload("merge_group")) == MergeGroupEvent(
        base_sha="380387fbc80638b734a49e1be1c4dfec1c01b33c",
        head_sha="2ffea6db159f6b6c47a24e778fb9ef40cf6b1c7d",
        base_ref="refs/heads/main",
        head_ref="refs/heads/gh-readonly-queue/main/pr-104-929f8209d40f77f4abc622a499c93a83babdbe64",
    )


def test_a_push_that_makes_the_default_branch(tmp_path: Path) -> None:
    event = read(tmp_path, "push", payload("push"))
    assert event == PushEvent("refs/heads/master", None, "6113728f27ae82c7b1a177c8d03f9e96e0adf246", "master")
    assert isinstance(event, PushEvent)
    assert event.is_default_branch


@pytest.mark.parametrize("ref", ["refs/heads/feature", "refs/tags/master", "refs/heads/x/refs/heads/master"])
def test_a_push_to_anything_else(tmp_path: Path, ref: str) -> None:
    event = read(tmp_path, "push", payload("push") | {"ref": ref, "before": "a" * 40})
    assert isinstance(event, PushEvent)
    assert not event.is_default_branch
    assert event.before == "a" * 40


def test_a_deleted_branch_has_nothing_to_evaluate(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="refs/heads/master was deleted: there is nothing to evaluate"):
        read(tmp_path, "push", payload("push") | {"after": "0" * 40})


def test_a_dispatch_names_a_pull_request_and_a_stronger_judge(tmp_path: Path) -> None:
    event = read(tmp_path, "workflow_dispatch", payload("workflow_dispatch"))
    assert event == DispatchEvent(pull_request=12, judge_model="ollama/qwen2.5:14b")


@pytest.mark.parametrize(
    ("inputs", "expected"),
    [
        (None, DispatchEvent(None, None)),
        ({}, DispatchEvent(None, None)),
        ({"pr": "", "judge-model": " "}, DispatchEvent(None, None)),
        ({"pr": " #7 "}, DispatchEvent(7, None)),
        ({"pr": 7, "something": "else"}, DispatchEvent(7, None)),
    ],
)
def test_a_dispatch_may_leave_out_either(tmp_path: Path, inputs: Any, expected: DispatchEvent) -> None:
    assert read(tmp_path, "workflow_dispatch", {"inputs": inputs}) == expected


@pytest.mark.parametrize("number", ["0", "-1", "twelve", "1.5", "1e3", "12 13", "٣", "#", "9" * 30, True, ["12"]])
def test_a_wrong_number_is_named(tmp_path: Path, number: Any) -> None:
    with pytest.raises(UsageError, match="input `pr`: use the number of a pull request, such as 12; found"):
        read(tmp_path, "workflow_dispatch", {"inputs": {"pr": number}})


def test_a_schedule(tmp_path: Path) -> None:
    assert read(tmp_path, "schedule", payload("schedule")) == ScheduleEvent()


def test_a_workflow_run(tmp_path: Path) -> None:
    assert read(tmp_path, "workflow_run", payload("workflow_run")) == WorkflowRunEvent(
        run_id=289782451,
        head_sha="3484a3fb816e0859fd6e1cea078d76385ff50625",
        head_branch="master",
        head_owner="octo-org",
        head_repository="octo-org/octo-repo",
        event="pull_request",
        conclusion="success",
    )


def test_a_workflow_run_may_outlive_its_repository(tmp_path: Path) -> None:
    content = payload("workflow_run")
    content["workflow_run"] |= {"head_repository": None, "head_branch": None, "conclusion": None}
    event = read(tmp_path, "workflow_run", content)
    assert isinstance(event, WorkflowRunEvent)
    assert (event.head_owner, event.head_repository, event.head_branch, event.conclusion) == (None, None, None, None)


@pytest.mark.parametrize("name", ["issue_comment", "release", "repository_dispatch"])
def test_another_event_is_told_what_is_served(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError) as caught:
        read(tmp_path, name, {})
    assert str(caught.value) == (
        f"the event `{name}` says nothing to compare: run faithbot `on: pull_request`, or on one of "
        "merge_group, push, workflow_dispatch, schedule, workflow_run."
    )


def test_pull_request_target_is_warned_of(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        read(tmp_path, "pull_request_target", payload("pull_request.fork"))
    assert str(caught.value) == (
        "`pull_request_target` hands a token that can write to code of strangers. Use `on: pull_request`; "
        "for comments on pull requests from forks add `faithbot publish` in a workflow `on: workflow_run`."
    )


@pytest.mark.parametrize("commit", ["main", "--upload-pack=touch /tmp/x", "ABCDEF", "a" * 39, "a" * 40 + "\n"])
def test_a_commit_is_a_full_id_and_nothing_else(tmp_path: Path, commit: str) -> None:
    content = payload("pull_request.opened")
    content["pull_request"]["head"]["sha"] = commit
    with pytest.raises(UsageError, match=r"event\.json is no payload of `pull_request`: pull_request\.head\.sha: "):
        read(tmp_path, "pull_request", content)


def test_a_payload_that_is_not_there_or_not_json_is_named(tmp_path: Path) -> None:
    path = tmp_path / "event.json"
    runner = make_runner(tmp_path, GITHUB_EVENT_NAME="push", GITHUB_EVENT_PATH=path)
    with pytest.raises(UsageError, match=r"event\.json cannot be read: No such file"):
        read_event(runner)
    path.write_text("{")
    with pytest.raises(UsageError, match=r"event\.json is no payload of `push`: the whole: Invalid JSON"):
        read_event(runner)
