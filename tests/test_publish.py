"""The results of a run that could not write are posted by one that can, and nothing in them is trusted."""

from __future__ import annotations

import json
import os
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, get_args

import pytest

import example_results as examples
from command import faithbot
from faithbot.action.activity import NothingToDo
from faithbot.errors import EvaluationError, UsageError
from faithbot.github.event import WorkflowRunEvent
from faithbot.github.sections import LIMIT, MAIN, Section, join_sections, parse_sections
from faithbot.publish import ORIGIN, publish, read_results
from faithbot.results import Reason
from faithbot.untrusted_results import MAX_BYTES, MAX_VALUES
from github_double import Failure, GitHubDouble
from hosted_pull_request import PAYLOADS
from runner_environment import make_runner, runner_environment
from runner_reader import commands_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from faithbot.results import Results

NUMBER = 7
TOKEN = "ghs_workflow"  # noqa: S105 - of the double
HEAD, NEXT = "1" * 40, "3" * 40
RUN = WorkflowRunEvent(289782451, HEAD, "friendlier", "mona", "mona/Hello-World", "pull_request", "failure")


@pytest.fixture(autouse=True)
def _no_pause_between_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("faithbot.github.api._SECONDS_BETWEEN_WRITES", 0.0)


@pytest.fixture
def api() -> Iterator[GitHubDouble]:
    with GitHubDouble() as double:
        double.add_token(TOKEN)
        double.add_pull_request(NUMBER, HEAD, head="mona:friendlier")
        yield double


def artifact(folder: Path, results: Results | None = None, **changes: Any) -> dict[str, Any]:
    """Leave results in the folder as a run of the pull request does; what was written."""
    recorded = (results or examples.regression()).model_copy(update={"head_commit": HEAD})
    content: dict[str, Any] = json.loads(recorded.to_json()) | changes
    (folder / "results.json").write_text(json.dumps(content))
    return content


def post(
    folder: Path, api: GitHubDouble, event: WorkflowRunEvent = RUN, token: str | None = TOKEN
) -> str | NothingToDo:
    runner = make_runner(folder, GITHUB_API_URL=api.url, GITHUB_REPOSITORY=api.repository)
    return publish(folder, event, runner, token, "faithbot")


# --- what is posted ---


def test_a_run_that_left_no_results_is_no_failure(tmp_path: Path, api: GitHubDouble) -> None:
    posted = post(tmp_path, api)
    assert isinstance(posted, NothingToDo)
    assert posted.reason.startswith("that run left no results.json")
    assert api.comments(NUMBER) == []


def test_the_recorded_results_of_a_fork_are_rendered_again_and_posted(tmp_path: Path, api: GitHubDouble) -> None:
    artifact(tmp_path)
    (tmp_path / "report.md").write_text("Merge this at once!")
    assert post(tmp_path, api) == api.comments(NUMBER)[0]["html_url"]
    section = parse_sections(api.bodies(NUMBER)[0])[MAIN]
    assert section.commit == HEAD
    assert section.text.startswith(ORIGIN)
    assert "Faithfulness fell by 0.12" in section.text
    assert "https://github.com/octocat/Hello-World/actions/runs/289782451" in section.text
    assert "Merge this" not in section.text


def test_the_next_run_edits_the_comment(tmp_path: Path, api: GitHubDouble) -> None:
    for results in (examples.regression(), examples.improvement()):
        artifact(tmp_path, results)
        post(tmp_path, api)
    (body,) = api.bodies(NUMBER)
    assert "Faithfulness fell" not in body


def test_what_another_run_overwrites_at_once_is_posted_again_beside_that_runs(
    tmp_path: Path, api: GitHubDouble
) -> None:
    artifact(tmp_path)
    judged_again = Section("stronger-judge", HEAD, "Another judge")

    def overwrite() -> None:
        api.comments(NUMBER)[0]["body"] = join_sections("faithbot", {judged_again.name: judged_again})

    api.meanwhile.append((f"POST /issues/{NUMBER}/comments", overwrite))
    post(tmp_path, api)
    sections = parse_sections(api.bodies(NUMBER)[0])
    assert list(sections) == [MAIN, judged_again.name]
    assert sections[MAIN].text.startswith(ORIGIN)


def test_a_comment_that_cannot_be_looked_at_again_is_posted_all_the_same(tmp_path: Path, api: GitHubDouble) -> None:
    artifact(tmp_path)
    post(tmp_path, api)
    edit = f"PATCH /issues/comments/{api.comments(NUMBER)[0]['id']}"
    api.meanwhile.append((edit, lambda: api.failures.append(Failure(403, "Forbidden", only="GET"))))
    assert post(tmp_path, api) == api.comments(NUMBER)[0]["html_url"]


def test_a_failure_is_told_as_well(tmp_path: Path, api: GitHubDouble) -> None:
    artifact(tmp_path, examples.failed())
    post(tmp_path, api)
    assert "connection refused" in api.bodies(NUMBER)[0]


@pytest.mark.parametrize("results", [examples.results, examples.first])
@pytest.mark.parametrize("conclusion", ["failure", "timed_out", "<b>@octocat", None])
def test_a_pass_from_a_run_that_did_not_pass_is_doubted_above_it(
    tmp_path: Path, api: GitHubDouble, results: Callable[[], Results], conclusion: str | None
) -> None:
    artifact(tmp_path, results())
    post(tmp_path, api, replace(RUN, conclusion=conclusion))
    _, doubt, rest = parse_sections(api.bodies(NUMBER)[0])[MAIN].text.split("\n\n", 2)
    ended = {"timed_out": "timed&#95;out", "<b>@octocat": "&lt;b&gt;@\u200boctocat", None: "no conclusion"}
    assert doubt == (
        f"> ⚠️ The run itself ended with “{ended.get(conclusion, conclusion)}”, not with success: "
        "look at it before you rely on this result."
    )
    assert "### " in rest


@pytest.mark.parametrize(("results", "conclusion"), [(examples.results, "success"), (examples.regression, "failure")])
def test_what_fits_the_runs_conclusion_is_not_doubted(
    tmp_path: Path, api: GitHubDouble, results: Callable[[], Results], conclusion: str
) -> None:
    artifact(tmp_path, results())
    post(tmp_path, api, replace(RUN, conclusion=conclusion))
    assert "The run itself ended" not in api.bodies(NUMBER)[0]


# --- whom it is about ---


def test_results_of_another_commit_are_refused(tmp_path: Path, api: GitHubDouble) -> None:
    for commit in (NEXT, None, "--help"):
        artifact(tmp_path, head_commit=commit)
        with pytest.raises(UsageError, match="is not about 1111111, the commit of the run"):
            post(tmp_path, api)
    assert api.requests == []


@pytest.mark.parametrize(("commit", "state"), [(NEXT, "open"), (HEAD, "closed")])
def test_a_pull_request_that_moved_on_or_was_closed_gets_no_comment(
    tmp_path: Path, api: GitHubDouble, commit: str, state: str
) -> None:
    api.add_pull_request(NUMBER, commit, head="mona:friendlier", state=state)
    artifact(tmp_path)
    assert post(tmp_path, api) == NothingToDo(
        "no open pull request of mona is at commit 1111111: it has moved on, and its newer run is published instead, "
        "or it was closed"
    )
    assert api.writes() == []


def test_two_pull_requests_from_one_branch_at_one_commit_are_told_apart_by_nothing_else(
    tmp_path: Path, api: GitHubDouble
) -> None:
    api.add_pull_request(8, HEAD, head="mona:friendlier", base="release/2")
    artifact(tmp_path)
    assert post(tmp_path, api) == NothingToDo(
        "pull requests #7 and #8 come from one branch and are all at commit 1111111: the run does not say which"
    )
    assert api.writes() == []


def test_of_two_pull_requests_of_one_branch_the_run_says_which(tmp_path: Path, api: GitHubDouble) -> None:
    api.add_pull_request(8, HEAD, head="mona:friendlier", base="release/2")
    artifact(tmp_path, pull_request=8)
    post(tmp_path, api)
    assert (len(api.bodies(7)), len(api.bodies(8))) == (0, 1)


def test_a_run_cannot_choose_a_pull_request_of_another_commit(tmp_path: Path, api: GitHubDouble) -> None:
    api.add_pull_request(9, "a" * 40, head="octocat:other")
    artifact(tmp_path, pull_request=9)
    post(tmp_path, api)
    assert (len(api.bodies(7)), len(api.bodies(9))) == (1, 0)


@pytest.mark.parametrize("changes", [{"head_owner": "eve"}, {"head_branch": "main"}])
def test_another_owner_or_branch_at_the_same_commit_is_another_pull_request(
    tmp_path: Path, api: GitHubDouble, changes: dict[str, str]
) -> None:
    artifact(tmp_path)
    assert isinstance(post(tmp_path, api, replace(RUN, **changes)), NothingToDo)


def test_only_runs_of_pull_requests_are_published(tmp_path: Path, api: GitHubDouble) -> None:
    artifact(tmp_path)
    with pytest.raises(UsageError, match="was started by `push`: only those of `pull_request` are published"):
        post(tmp_path, api, replace(RUN, event="push"))
    gone = post(tmp_path, api, replace(RUN, head_owner=None, head_repository=None))
    assert gone == NothingToDo("the repository or branch of that run is gone, and its pull request with it")
    assert api.requests == []


def test_a_token_is_needed_and_one_that_can_write(tmp_path: Path, api: GitHubDouble) -> None:
    artifact(tmp_path)
    with pytest.raises(UsageError, match="needs a token"):
        post(tmp_path, api, token=None)
    reader = api.add_token("ghs_reader", permissions={"pull_requests": "read"})
    with pytest.raises(EvaluationError, match="the token lacks `pull-requests: write`"):
        post(tmp_path, api, token=reader)


# --- files that are none ---


def make_huge(path: Path) -> None:
    with path.open("wb") as stream:
        stream.truncate(60_000_000)


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda _: None, "cannot be read: No such file or directory"),
        (lambda path: path.symlink_to("/etc/hostname"), "cannot be read: Too many levels of symbolic links"),
        (os.mkfifo, "is no file of at most 50 MB"),
        (lambda path: path.mkdir(), "is no file of at most 50 MB"),
        (make_huge, "is no file of at most 50 MB"),
    ],
    ids=["missing", "a link", "a pipe", "a folder", "60 MB"],
)
def test_only_a_plain_file_of_some_size_is_read(tmp_path: Path, make: Callable[[Path], None], problem: str) -> None:
    make(tmp_path / "results.json")
    with pytest.raises(UsageError, match=problem):
        read_results(tmp_path)


# --- content that is none ---


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"not JSON",
        b"\xff\xfe",
        b"null",
        b"[]",
        b"[" * 200_000,
        b'{"a":' * 200_000,
        b'{"runs": ' + b"9" * 10_000 + b"}",
        b"\\ud800",
    ],
    ids=["empty", "text", "not UTF-8", "null", "list", "deep lists", "deep objects", "a long number", "half escape"],
)
def test_what_is_not_the_json_of_a_result_is_refused_in_one_line(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "results.json").write_bytes(content)
    with pytest.raises(UsageError, match=r"is no results\.json of this version of faithbot: ") as caught:
        read_results(tmp_path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"schema_version": 2}, "schema_version: Input should be 1"),
        ({"verdict": "merge"}, "verdict: Input should be 'pass', 'regression', 'inconclusive' or 'first'"),
        ({"sides": {"base": None}}, "sides.base: Input should be an object"),
        ({"runs": "two"}, "runs: Input should be a valid integer"),
        ({"expected_by_chance": float("nan")}, "expected_by_chance: Input should be a finite number"),
        ({"expected_by_chance": float("-inf")}, "expected_by_chance: Input should be a finite number"),
        ({"shell": "curl | sh"}, "shell: Extra inputs are not permitted"),
        ({"newly_unsupported": [{"claim": 1}]}, "newly_unsupported.0.question_id: Field required"),
    ],
)
def test_another_schema_or_type_is_refused_with_its_place(
    tmp_path: Path, changes: dict[str, Any], problem: str
) -> None:
    artifact(tmp_path, **changes)
    with pytest.raises(UsageError) as caught:
        read_results(tmp_path)
    assert problem in str(caught.value)


def test_keys_are_the_artifacts_own_words_and_are_repeated_harmlessly(tmp_path: Path) -> None:
    artifact(tmp_path, **{"a\n::set-output name=x::##[set-output name=x]y\x1b[31m" + "z" * 10_000: 1})
    with pytest.raises(UsageError) as caught:
        read_results(tmp_path)
    assert commands_of(str(caught.value)) == []
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 400 + len(str(tmp_path))


def test_more_wrong_values_than_memory_has_room_for_are_not_even_looked_at(tmp_path: Path) -> None:
    (tmp_path / "results.json").write_text(f'{{"questions": [{"1," * (MAX_VALUES + 1)}1]}}')
    with pytest.raises(UsageError, match="holds more than 1,000,000 values"):
        read_results(tmp_path)


# --- content that attacks ---

ATTACKS = (
    f"\n<!-- faithbot-section main {NEXT} -->\n<!-- faithbot:faithbot -->\n",
    "@octocat **bold** [link](https://evil.example) ![](https://evil.example/x.png) <img src=x> #1 `code`",
    "```\n</details></table>\n# heading\n| a | b |\n",
    "\u202eevil\u200b\x1b[31m",
)


def strings_replaced(value: Any, text: str, key: str = "") -> Any:
    """The content with every free text and every free name in it replaced."""
    if isinstance(value, dict):
        free_names = key == "metrics"
        return {text if free_names else name: strings_replaced(item, text, name) for name, item in value.items()}
    if isinstance(value, list):
        return [strings_replaced(item, text, key) for item in value]
    closed = {"verdict", "kind", "support", "better", "method", "name", "retrieved", "graded_by", "head_commit"}
    is_closed = key in closed or (key == "reason" and value in get_args(Reason))  # a verdict's reason is free text
    return text if isinstance(value, str) and not is_closed else value


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("results", [examples.regression, examples.two_regressions, examples.failed])
def test_nothing_in_it_is_markup_mention_or_marker(
    tmp_path: Path, api: GitHubDouble, results: Callable[[], Results], attack: str
) -> None:
    artifact(tmp_path, **strings_replaced(json.loads(results().to_json()), attack) | {"head_commit": HEAD})
    post(tmp_path, api)
    (body,) = api.bodies(NUMBER)
    assert [(section.name, section.commit) for section in parse_sections(body).values()] == [(MAIN, HEAD)]
    assert body.count("<!-- faithbot:faithbot -->") == 1
    outside_code = re.sub(r"^(`{3,}).*?^\1$", "", body, flags=re.MULTILINE | re.DOTALL)
    for markup in ("@octocat", "**bold**", "](https://evil", "<img", "\n# heading", "\x1b", "\u202e", "https://evil"):
        assert markup not in outside_code
    assert "@octocat" not in body
    assert len(body) <= LIMIT


def test_texts_of_megabytes_are_cut(tmp_path: Path, api: GitHubDouble) -> None:
    text = "<!-- faithbot:faithbot --> @octocat " * 2_000
    artifact(tmp_path, **strings_replaced(json.loads(examples.regression().to_json()), text) | {"head_commit": HEAD})
    assert (tmp_path / "results.json").stat().st_size > MAX_BYTES // 20
    post(tmp_path, api)
    assert len(api.bodies(NUMBER)[0]) <= LIMIT
    assert "@octocat" not in api.bodies(NUMBER)[0]


@pytest.mark.parametrize(
    ("escape", "read"),
    [
        (r"\ud800", "\ufffd"),
        (r"\udc00\ud800", "\ufffd\ufffd"),
        (r"\ud83d\ude00", "\N{GRINNING FACE}"),
        (r"\\ud800", r"\ud800"),
        (r"\\\ud800", "\\\ufffd"),
        (r"\uD83D\uDE00\uDBFF", "\N{GRINNING FACE}\ufffd"),
    ],
)
def test_half_a_character_loses_no_comment(tmp_path: Path, api: GitHubDouble, escape: str, read: str) -> None:
    artifact(tmp_path, reason="HERE")
    path = tmp_path / "results.json"
    path.write_text(path.read_text().replace("HERE", escape))
    assert read_results(tmp_path).reason == read
    post(tmp_path, api)
    assert len(api.comments(NUMBER)) == 1


ODD_DIFF = {"kind": "prompt", "name": "", "before": None, "after": None, "diff": f"@@ -0 +{'9' * 50} @@\n+"}


@pytest.mark.parametrize(
    "changes",
    [
        {"sides": {}},
        {"questions": []},
        {"metrics": {}},
        {"verdict": "first"},
        {"verdict": "inconclusive", "fingerprint": None},
        {"runs": -(10**4000)},
        {"changes": [ODD_DIFF]},
    ],
    ids=["no sides", "no questions", "no metrics", "first", "nothing judged", "runs", "odd diff"],
)
def test_parts_that_contradict_each_other_are_shown_as_they_are(
    tmp_path: Path, api: GitHubDouble, changes: dict[str, Any]
) -> None:
    artifact(tmp_path, **changes)
    post(tmp_path, api)
    assert len(api.comments(NUMBER)) == 1


def test_parts_that_cannot_be_rendered_together_are_refused(tmp_path: Path, api: GitHubDouble) -> None:
    sides = json.loads(examples.regression().to_json())["sides"]
    artifact(tmp_path, sides={"base": sides["base"]})
    with pytest.raises(UsageError, match=r"does not fit together: it cannot be rendered \(UndefinedError\)"):
        post(tmp_path, api)
    assert api.writes() == []


@pytest.mark.parametrize("number", [1e308, -1e308, 5e-324, 0.0])
def test_numbers_of_any_size_are_shown(tmp_path: Path, api: GitHubDouble, number: float) -> None:
    content = json.loads(examples.regression().to_json())
    metric = content["metrics"]["faithfulness"] | {"head": -number, "interval": [number, -number], "n_questions": -1}
    metric |= dict.fromkeys(("base", "delta", "noise_band", "p_value", "smallest_detectable", "min_effect"), number)
    usage = content["usage"] | {"seconds": number, "busy_share": number}
    artifact(tmp_path, metrics={"faithfulness": metric}, usage=usage)
    post(tmp_path, api)
    assert len(api.comments(NUMBER)) == 1


# --- the command ---


def command_environment(folder: Path, api: GitHubDouble) -> dict[str, str]:
    payload = json.loads((PAYLOADS / "workflow_run.json").read_text())
    payload["workflow_run"] |= {"head_sha": HEAD, "head_branch": "friendlier"}
    payload["workflow_run"]["head_repository"]["full_name"] = "mona/Hello-World"
    (folder / "event.json").write_text(json.dumps(payload))
    return runner_environment(
        folder, GITHUB_API_URL=api.url, GITHUB_REPOSITORY=api.repository, GITHUB_EVENT_NAME="workflow_run",
        GITHUB_TOKEN=TOKEN,
    )  # fmt: skip


def test_the_command_posts_and_says_where(tmp_path: Path, api: GitHubDouble) -> None:
    artifact(tmp_path)
    outcome = faithbot("publish", tmp_path, "--comment-key", "rag", **command_environment(tmp_path, api))
    assert outcome == (0, f"{api.comments(NUMBER)[0]['html_url']}\n", "")
    assert api.bodies(NUMBER)[0].startswith("<!-- faithbot:rag -->\n")


def test_the_command_ends_well_where_the_pull_request_moved_on(tmp_path: Path, api: GitHubDouble) -> None:
    api.add_pull_request(NUMBER, NEXT, head="mona:friendlier")
    artifact(tmp_path)
    outcome = faithbot("publish", tmp_path, **command_environment(tmp_path, api))
    assert (outcome.code, outcome.stderr) == (0, "")
    ((name, _, text),) = commands_of(outcome.stdout)
    assert name == "notice"
    assert text.startswith("nothing published: no open pull request of mona is at commit 1111111: it has moved on")


def test_the_command_refuses_an_artifact_without_obeying_it(tmp_path: Path, api: GitHubDouble) -> None:
    artifact(tmp_path, **{"##[add-mask]x": 1})
    outcome = faithbot("publish", tmp_path, **command_environment(tmp_path, api))
    assert (outcome.code, outcome.stdout) == (64, "")
    assert "Extra inputs are not permitted" in outcome.stderr
    assert commands_of(outcome.stderr) == []
    assert api.writes() == []


def test_the_command_wants_a_run_on_workflow_run(tmp_path: Path, api: GitHubDouble) -> None:
    environment = command_environment(tmp_path, api) | {"GITHUB_EVENT_NAME": "schedule"}
    outcome = faithbot("publish", tmp_path, **environment)
    assert (outcome.code, outcome.stderr) == (
        64,
        "faithbot: this is a run on `schedule`: publish in a workflow `on: workflow_run`.\n",
    )
