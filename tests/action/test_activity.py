"""What each event asks for: which commits are compared, whose comment and status tell it, and who judges."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from faithbot.action.activity import (
    OWN_GRADING,
    STARTED_BY_HAND,
    STRONGER_JUDGE,
    Activity,
    NothingToDo,
    activity_without_commits,
    choose_activity,
    judge_settings,
)
from faithbot.action.inputs import ActionInputs
from faithbot.config import JudgeSettings
from faithbot.errors import EvaluationError, UsageError
from faithbot.github.clone import Clone
from faithbot.github.event import (
    DispatchEvent,
    Event,
    MergeGroupEvent,
    PullRequestEvent,
    PushEvent,
    ScheduleEvent,
    WorkflowRunEvent,
)
from faithbot.github.sections import MAIN
from hosted_pull_request import NUMBER, HostedPullRequest, host_pull_request

BIGGER = "ollama/qwen2.5:14b"


@pytest.fixture(scope="module")
def pull(tmp_path_factory: pytest.TempPathFactory) -> HostedPullRequest:
    folder = tmp_path_factory.mktemp("hosted")
    return host_pull_request(folder, {"prompt.md": "be brief\n"}, {"prompt.md": "be friendly\n"}, branch="friendlier")


def choose(pull: HostedPullRequest, event: Event, sha: str | None = None, **inputs: Any) -> Activity | NothingToDo:
    clone = Clone(pull.workspace, "https://github.com", "acme/handbook", None)
    return choose_activity(event, ActionInputs(**inputs), clone, sha or pull.merge)


def activity(pull: HostedPullRequest, event: Event, sha: str | None = None, **inputs: Any) -> Activity:
    chosen = choose(pull, event, sha, **inputs)
    assert isinstance(chosen, Activity)
    return chosen


def opened(pull: HostedPullRequest) -> PullRequestEvent:
    return PullRequestEvent(
        NUMBER, pull.head, pull.branch, "acme/handbook", pull.left_from, "main", False, True, "mona"
    )  # fmt: skip


# --- which commits, and where the result belongs ---


def test_a_pull_request_is_githubs_merge_against_its_first_parent_and_the_status_is_its_own_commits(
    pull: HostedPullRequest,
) -> None:
    assert activity(pull, opened(pull)) == Activity(
        task="compare",
        base=pull.main,
        head=pull.merge,
        labels={"base": "main", "head": "friendlier"},
        pull_request=NUMBER,
        head_of_pull_request=pull.head,
        status_commit=pull.head,
    )


def test_a_run_of_the_pull_requests_own_commit_says_so(pull: HostedPullRequest) -> None:
    chosen = activity(pull, opened(pull), sha=pull.head)
    assert (chosen.base, chosen.head, chosen.status_commit) == (pull.left_from, pull.head, pull.head)
    assert "what main got meanwhile counts as a difference" in str(chosen.note)


@pytest.mark.parametrize("inputs", [{}, {"base": "main"}], ids=["from the event", "with a given base"])
def test_a_closed_pull_request_asks_for_nothing(pull: HostedPullRequest, inputs: dict[str, str]) -> None:
    closed = replace(opened(pull), is_open=False)
    assert choose(pull, closed, **inputs) == NothingToDo("pull request #2 is closed")


def test_a_merge_group_is_what_the_queue_made_against_what_it_started_from(pull: HostedPullRequest) -> None:
    event = MergeGroupEvent(pull.main, pull.merge, "refs/heads/main", "refs/heads/gh-readonly-queue/main/pr-2")
    assert activity(pull, event) == Activity(
        task="compare",
        base=pull.main,
        head=pull.merge,
        labels={"base": "main", "head": "merge queue"},
        status_commit=pull.merge,
    )


def test_a_push_to_the_default_branch_measures_it_for_the_next_pull_request(pull: HostedPullRequest) -> None:
    event = PushEvent("refs/heads/main", pull.left_from, pull.main, "main")
    chosen = activity(pull, event)
    assert chosen == Activity("measure", None, pull.main, {"head": "main"}, note=chosen.note)
    assert "the next pull requests pay for one side only" in str(chosen.note)
    assert chosen.heading == "## The default branch by itself"


def test_a_push_elsewhere_waits_for_its_pull_request(pull: HostedPullRequest) -> None:
    chosen = choose(pull, PushEvent("refs/heads/friendlier", None, pull.head, "main"))
    assert chosen == NothingToDo("friendlier is not the default branch: its pull request is evaluated instead")


def test_a_schedule_measures_the_noise(pull: HostedPullRequest) -> None:
    chosen = activity(pull, ScheduleEvent(), sha=pull.main)
    assert chosen == Activity("noise", None, pull.main, note=chosen.note)
    assert "whatever differs here is the noise of measuring" in str(chosen.note)


def test_given_commits_come_before_the_events_and_the_result_still_belongs_to_the_pull_request(
    pull: HostedPullRequest,
) -> None:
    assert activity(pull, opened(pull), base="v1.0") == Activity(
        "compare", "v1.0", pull.merge, pull_request=NUMBER, head_of_pull_request=pull.head, status_commit=None
    )
    assert activity(pull, ScheduleEvent(), base="v1.0", head="v1.1") == Activity("compare", "v1.0", "v1.1")
    assert activity(pull, DispatchEvent(None, None), sha=pull.main, base="v1.0").head == pull.main


def test_a_head_without_a_base_is_no_comparison(pull: HostedPullRequest) -> None:
    with pytest.raises(UsageError, match="input `base` must say what to compare it with"):
        choose(pull, opened(pull), head="v1.1")


def test_another_workflows_run_is_published_and_not_evaluated(pull: HostedPullRequest) -> None:
    event = WorkflowRunEvent(1, pull.head, "friendlier", "mona", "mona/handbook", "pull_request", "success")
    with pytest.raises(UsageError, match="`workflow_run` event publishes"):
        choose(pull, event)


def test_where_the_commits_cannot_be_found_the_pull_request_is_still_told(pull: HostedPullRequest) -> None:
    ahead_of_its_merge = replace(opened(pull), head_sha=pull.left_from)
    with pytest.raises(EvaluationError, match="has not merged commit"):
        choose(pull, ahead_of_its_merge)
    told = activity_without_commits(ahead_of_its_merge, ActionInputs())
    assert told is not None
    assert (told.pull_request, told.status_commit, told.section) == (NUMBER, pull.left_from, MAIN)
    assert told.head_of_pull_request == pull.left_from


def test_where_they_cannot_be_found_a_merge_group_still_has_its_status_and_no_comment(pull: HostedPullRequest) -> None:
    told = activity_without_commits(MergeGroupEvent(pull.main, pull.merge, "main", "queue"), ActionInputs())
    assert told is not None
    assert (told.pull_request, told.status_commit) == (None, pull.merge)


@pytest.mark.parametrize(
    ("event", "inputs", "section"),
    [
        (DispatchEvent(NUMBER, None), {}, STARTED_BY_HAND),
        (DispatchEvent(NUMBER, BIGGER), {}, STRONGER_JUDGE),
        (DispatchEvent(NUMBER, None), {"judge_method": "label"}, STRONGER_JUDGE),
        (DispatchEvent(NUMBER, None, "head"), {}, OWN_GRADING),
    ],
)
def test_a_dispatch_that_fails_early_leaves_the_main_section_alone(
    event: DispatchEvent, inputs: dict[str, Any], section: str
) -> None:
    told = activity_without_commits(event, ActionInputs(**inputs))
    assert told is not None
    assert (told.pull_request, told.section, told.status_commit) == (NUMBER, section, None)
    assert told.heading


@pytest.mark.parametrize("event", [ScheduleEvent(), DispatchEvent(None, None)])
def test_where_nobody_waits_only_the_job_itself_is_told(event: Event) -> None:
    assert activity_without_commits(event, ActionInputs()) is None


def test_a_closed_pull_request_is_not_told_either(pull: HostedPullRequest) -> None:
    assert activity_without_commits(replace(opened(pull), is_open=False), ActionInputs()) is None


# --- started by hand ---


@pytest.mark.parametrize(
    ("event", "inputs", "section", "judge", "graded_by"),
    [
        (DispatchEvent(NUMBER, None), {}, MAIN, None, "base"),
        (DispatchEvent(NUMBER, BIGGER), {}, STRONGER_JUDGE, BIGGER, "base"),
        (DispatchEvent(NUMBER, None), {"judge_model": BIGGER}, STRONGER_JUDGE, BIGGER, "base"),
        (DispatchEvent(NUMBER, BIGGER), {"judge_model": "ollama/usual"}, STRONGER_JUDGE, BIGGER, "base"),
        (DispatchEvent(NUMBER, BIGGER), {"judge_method": "evidence"}, STRONGER_JUDGE, BIGGER, "base"),
        (DispatchEvent(NUMBER, None, "head"), {}, OWN_GRADING, None, "head"),
        (DispatchEvent(NUMBER, BIGGER, "head"), {}, OWN_GRADING, None, "head"),
        (DispatchEvent(NUMBER, None, "head"), {"judge_model": BIGGER}, OWN_GRADING, BIGGER, "head"),
    ],
    ids=["again", "a judge of the run's", "a judge of the workflow's", "the run's before the workflow's",
         "a model needs no method", "own grading", "its own judge before the run's",
         "the workflow's judge before its own"],
)  # fmt: skip
def test_a_dispatch_for_a_pull_request_has_the_section_that_its_judge_and_grading_ask_for(
    pull: HostedPullRequest, event: DispatchEvent, inputs: dict[str, str], section: str, judge: str, graded_by: str
) -> None:
    chosen = activity(pull, event, sha=pull.main, **inputs)
    assert (chosen.base, chosen.head, chosen.status_commit) == (pull.main, pull.merge, pull.head)
    assert (chosen.pull_request, chosen.labels) == (NUMBER, {"base": "base", "head": "#2"})
    assert (chosen.section, chosen.graded_by) == (section, graded_by)
    assert (chosen.judge.model if chosen.judge else None) == judge


def test_a_dispatch_without_a_pull_request_says_what_to_give(pull: HostedPullRequest) -> None:
    with pytest.raises(UsageError, match="give it an input `pr`"):
        choose(pull, DispatchEvent(None, BIGGER), sha=pull.main)


@pytest.mark.parametrize(
    "event", [DispatchEvent(NUMBER, None), DispatchEvent(None, BIGGER), DispatchEvent(None, None, "head")]
)
def test_what_a_dispatch_asks_for_is_not_passed_over_for_commits_of_the_workflow(
    pull: HostedPullRequest, event: DispatchEvent
) -> None:
    with pytest.raises(UsageError, match="the dispatch's `pr`, `judge-model` and `graded-by` would say nothing"):
        choose(pull, event, sha=pull.main, base=pull.main)


def test_only_a_section_beside_the_main_one_has_a_heading() -> None:
    headings = [Activity("compare", "a", "b", section=section).heading for section in (MAIN, STRONGER_JUDGE)]
    assert headings == ["", "## Judged again, by another judge"]


# --- another judge ---


def test_another_judge_needs_no_section_of_its_own_on_a_pull_request(pull: HostedPullRequest) -> None:
    chosen = activity(pull, opened(pull), judge_model=BIGGER)
    assert (chosen.judge, chosen.section) == (JudgeSettings(method="claims", model=BIGGER), MAIN)


@pytest.mark.parametrize(
    ("method", "model", "judge"),
    [
        (None, None, None),
        (None, BIGGER, JudgeSettings(method="claims", model=BIGGER)),
        ("label", BIGGER, JudgeSettings(method="label", model=BIGGER)),
        ("evidence", None, JudgeSettings(method="evidence")),
    ],
)
def test_method_and_model_name_a_judge(method: str | None, model: str | None, judge: JudgeSettings | None) -> None:
    assert judge_settings(method, model) == judge


@pytest.mark.parametrize(
    ("method", "model", "message"),
    [
        ("label", None, "inputs `judge-method` and `judge-model`: method `label` needs a `model`"),
        ("evidence", BIGGER, "inputs `judge-method` and `judge-model`: method `evidence` calls no model"),
        (None, "a\nb", "inputs `judge-method` and `judge-model`: "),
    ],
)
def test_a_judge_that_cannot_be_is_refused_before_any_work(method: str, model: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        judge_settings(method, model)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)
