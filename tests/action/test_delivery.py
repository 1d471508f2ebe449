"""A result reaches files, summary, comment, status and outputs, and what fails on the way changes no verdict."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pytest

import example_results as examples
from faithbot.action.activity import OWN_GRADING, STRONGER_JUDGE, Activity
from faithbot.action.delivery import Delivery, job_exit_code, leading_metric
from faithbot.action.inputs import ActionInputs
from faithbot.action.report_files import artifact_folder, remove_stale
from faithbot.errors import UsageError
from faithbot.github.api import open_repository
from faithbot.github.retry import Patience
from faithbot.github.sections import LIMIT, MAIN, Section, join_sections, parse_sections, update_sections
from faithbot.results import Failure as EvaluationFailure
from faithbot.results import Results
from github_double import Failure, GitHubDouble
from runner_environment import make_runner
from runner_reader import commands_of, variables_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NUMBER = 7
OWN, MERGE, NEXT = "1" * 40, "2" * 40, "3" * 40
RUN_URL = "https://github.com/octocat/Hello-World/actions/runs/289782451/attempts/1"
PULL_REQUEST = Activity("compare", "b" * 40, MERGE, pull_request=NUMBER, head_of_pull_request=OWN, status_commit=OWN)
BESIDE = replace(PULL_REQUEST, section=STRONGER_JUDGE)


@dataclass
class Desk:
    """Delivers to folders of one job and to the API, and keeps what was logged."""

    folder: Path
    url: str
    token: str | None = "ghs_workflow"  # noqa: S105 - of the double
    log: list[str] = field(default_factory=list)

    def deliver(self, results: Results, activity: Activity | None = PULL_REQUEST, **inputs: Any) -> int:
        runner = make_runner(self.folder, GITHUB_API_URL=self.url, GITHUB_REPOSITORY="octocat/Hello-World")
        repository = self.token and open_repository(
            runner.repository, self.token, self.url, Patience(attempts=2, first_wait=0.01)
        )
        return Delivery(runner, ActionInputs(**inputs), repository or None, self.log.append).deliver(results, activity)

    @property
    def workspace(self) -> Path:
        return self.folder / "workspace"

    @property
    def summary(self) -> str:
        return (self.folder / "summary.md").read_text()

    def outputs(self) -> dict[str, str]:
        return variables_of(self.folder / "output")


@pytest.fixture(autouse=True)
def _no_pause_between_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("faithbot.github.api._SECONDS_BETWEEN_WRITES", 0.0)


@pytest.fixture
def api() -> Iterator[GitHubDouble]:
    with GitHubDouble() as double:
        double.add_token("ghs_workflow")
        double.add_pull_request(NUMBER, OWN)
        yield double


@pytest.fixture
def desk(api: GitHubDouble, tmp_path: Path) -> Desk:
    (tmp_path / "workspace").mkdir()
    return Desk(tmp_path, api.url)


def about(results: Results, commit: str = OWN) -> Results:
    """The result with the pull request's own commit, as the step adds it."""
    return results.model_copy(update={"head_commit": commit})


# --- files, summary, outputs, annotations ---


def test_results_and_the_whole_report_are_kept_in_the_artifact_folder(desk: Desk) -> None:
    results = about(examples.regression())
    desk.deliver(results, artifact_dir="out/faithbot")
    folder = desk.workspace / "out" / "faithbot"
    assert Results.model_validate_json((folder / "results.json").read_bytes()) == results
    report = (folder / "report.md").read_text()
    assert "We ship to more than 40 countries." in report
    assert desk.summary == report
    assert RUN_URL in report


def test_the_outputs_tell_how_it_went_and_where_to_find_it(desk: Desk, api: GitHubDouble) -> None:
    desk.deliver(about(examples.regression()))
    assert desk.outputs() == {
        "verdict": "regression",
        "delta": "-0.1200",
        "noise-band": "0.0400",
        "newly-unsupported": "6",
        "results": "faithbot-report/results.json",
        "report": "faithbot-report/report.md",
        "comment-url": api.comments(NUMBER)[0]["html_url"],
    }


def test_outputs_without_a_number_are_empty(desk: Desk) -> None:
    desk.deliver(about(examples.failed()), comment="never")
    outputs = desk.outputs()
    assert (outputs["verdict"], outputs["newly-unsupported"]) == ("inconclusive", "0")
    assert outputs["delta"] == outputs["noise-band"] == outputs["comment-url"] == ""


def test_the_deciding_metric_is_the_flagged_one_else_the_first_that_is_gated() -> None:
    calm, worse = examples.metric(0.9, 0.9), examples.metric(0.9, 0.5, flagged=True)
    ungated = examples.metric(0.9, 0.1, gated=False)
    assert leading_metric(examples.results(metrics={"hit_rate": ungated, "a": calm, "b": worse})) == worse
    assert leading_metric(examples.results(metrics={"hit_rate": ungated, "a": calm})) == calm
    assert leading_metric(examples.results(metrics={})) is None
    beyond = examples.metric(0.66, 0.60, floor=0.65, floor_standing="broken")
    assert leading_metric(examples.results(metrics={"a": calm, "b": beyond})) == beyond


@pytest.mark.parametrize(
    ("results", "fail_on", "levels"),
    [
        (examples.regression, "inconclusive", ["error"]),
        (examples.regression, "never", ["warning"]),
        (examples.improvement, "inconclusive", []),
        (examples.inconclusive, "inconclusive", []),
        (examples.failed, "inconclusive", []),
    ],
)
def test_only_a_regression_is_noted_at_the_changed_lines(
    desk: Desk, capsys: pytest.CaptureFixture[str], results: Any, fail_on: str, levels: list[str]
) -> None:
    prompt = examples.CHANGES[1].model_copy(update={"file": "prompts/answer.md"})
    desk.deliver(about(results().model_copy(update={"changes": (prompt,)})), fail_on=fail_on)
    commands = commands_of(capsys.readouterr().out)
    assert [name for name, _, _ in commands] == levels
    assert [properties["file"] for _, properties, _ in commands] == ["prompts/answer.md"] * len(levels)


def test_lines_of_other_commits_than_the_pull_requests_own_are_not_annotated(
    desk: Desk, api: GitHubDouble, capsys: pytest.CaptureFixture[str]
) -> None:
    given = replace(PULL_REQUEST, status_commit=None)
    assert desk.deliver(about(examples.regression()), given) == 1
    assert commands_of(capsys.readouterr().out) == []
    assert api.statuses(OWN) == []
    assert "Faithfulness fell" in api.bodies(NUMBER)[0]


def test_one_side_alone_says_what_it_is(desk: Desk) -> None:
    desk.deliver(examples.first(), Activity("measure", None, MERGE, note="Measured once."))
    assert desk.summary.startswith("## The default branch by itself\n\n> Measured once.\n\n")
    assert "### ⚪ Faithfulness 0.91 ± 0.03\n" in desk.summary
    assert "First evaluation" not in desk.summary


# --- the comment ---


def test_the_next_result_replaces_the_last_in_the_same_comment(desk: Desk, api: GitHubDouble) -> None:
    desk.deliver(about(examples.regression()))
    first = api.comments(NUMBER)[0]["id"]
    desk.deliver(about(examples.improvement(), NEXT))
    (comment,) = api.comments(NUMBER)
    assert comment["id"] == first
    (section,) = parse_sections(comment["body"]).values()
    assert (section.name, section.commit) == (MAIN, NEXT)
    assert "Faithfulness fell" not in comment["body"]


def test_another_judges_result_stands_beside_the_first_until_there_is_a_new_commit(
    desk: Desk, api: GitHubDouble
) -> None:
    desk.deliver(about(examples.regression()))
    desk.deliver(about(examples.improvement()), BESIDE)
    sections = parse_sections(api.bodies(NUMBER)[0])
    assert list(sections) == [MAIN, STRONGER_JUDGE]
    assert "Faithfulness fell" in sections[MAIN].text
    assert sections[STRONGER_JUDGE].text.startswith("## Judged again, by another judge\n")
    desk.deliver(about(examples.nothing_changed()))
    assert list(parse_sections(api.bodies(NUMBER)[0])) == [MAIN, STRONGER_JUDGE]
    desk.deliver(about(examples.nothing_changed(), NEXT))
    assert list(parse_sections(api.bodies(NUMBER)[0])) == [MAIN]


def test_what_must_be_known_about_the_commits_stands_above_the_result_as_plain_text(
    desk: Desk, api: GitHubDouble
) -> None:
    desk.deliver(about(examples.improvement()), replace(BESIDE, section=OWN_GRADING, note="not of its merge into <b>"))
    start = "## Graded as this pull request would have it\n\n> not of its merge into &lt;b&gt;\n\n"
    text = parse_sections(api.bodies(NUMBER)[0])[OWN_GRADING].text
    assert text.startswith(start + "Only the two sides of this section were judged alike")
    assert desk.summary.startswith(start)
    assert (desk.workspace / "faithbot-report" / "report.md").read_text().startswith(start)


def test_an_older_run_that_ends_later_does_not_overwrite_the_newer_ones_result(desk: Desk, api: GitHubDouble) -> None:
    api.add_pull_request(NUMBER, NEXT)
    newer = replace(PULL_REQUEST, head_of_pull_request=NEXT, status_commit=NEXT)
    desk.deliver(about(examples.improvement(), NEXT), newer)
    assert desk.deliver(about(examples.regression())) == 1
    (section,) = parse_sections(api.bodies(NUMBER)[0]).values()
    assert section.commit == NEXT
    assert "Faithfulness fell" not in section.text
    assert desk.log == ["no comment: pull request #7 has moved on to 3333333, whose own run will comment"]
    assert [status["state"] for status in api.statuses(OWN)] == ["failure"]
    assert desk.outputs()["verdict"] == "regression"
    assert "Faithfulness fell" in desk.summary


def test_comment_then_status_then_one_look_whether_the_comment_stands(desk: Desk, api: GitHubDouble) -> None:
    """So no pause between two writes lies between reading the comment and editing it."""
    desk.deliver(about(examples.regression()))
    first = len(api.requests)
    desk.deliver(about(examples.improvement()))
    comment = f"/issues/comments/{api.comments(NUMBER)[0]['id']}"
    assert [(each.method, each.path.removeprefix("/repos/octocat/Hello-World")) for each in api.requests[first:]] == [
        ("GET", f"/pulls/{NUMBER}"),
        ("GET", "/user"),
        ("GET", f"/issues/{NUMBER}/comments"),
        ("PATCH", comment),
        ("POST", f"/statuses/{OWN}"),
        ("GET", comment),
    ]


def test_a_section_that_another_run_overwrites_is_written_again_beside_that_runs(desk: Desk, api: GitHubDouble) -> None:
    desk.deliver(about(examples.regression()))
    (comment,) = api.comments(NUMBER)
    read_before = parse_sections(comment["body"])
    attempt = Section(MAIN, OWN, "the next attempt of the pull request's own run")

    def overwrite() -> None:
        comment["body"] = join_sections("faithbot", update_sections(read_before, attempt))

    api.meanwhile.append((f"PATCH /issues/comments/{comment['id']}", overwrite))
    assert desk.deliver(about(examples.improvement()), BESIDE) == 0
    sections = parse_sections(api.bodies(NUMBER)[0])
    assert sections[MAIN] == attempt
    assert sections[STRONGER_JUDGE].text.startswith("## Judged again, by another judge\n")
    assert desk.outputs()["comment-url"] == comment["html_url"]
    assert desk.log == []


def test_a_comment_that_cannot_be_looked_at_again_costs_one_line(desk: Desk, api: GitHubDouble) -> None:
    outage = [Failure(502, only="GET")] * 2
    api.meanwhile.append((f"POST /statuses/{OWN}", lambda: api.failures.extend(outage)))
    assert desk.deliver(about(examples.regression())) == 1
    (line,) = desk.log
    assert line.startswith("the comment could not be looked at again: GitHub answered 502")
    assert desk.outputs()["comment-url"] == api.comments(NUMBER)[0]["html_url"]


def test_a_pull_request_that_was_closed_meanwhile_is_still_told(desk: Desk, api: GitHubDouble) -> None:
    api.add_pull_request(NUMBER, OWN, state="closed")
    desk.deliver(about(examples.regression()))
    assert "Faithfulness fell" in api.bodies(NUMBER)[0]


def test_where_the_pull_request_cannot_be_read_the_comment_is_written_all_the_same(
    desk: Desk, api: GitHubDouble
) -> None:
    desk.token = api.add_token("ghs_issues", permissions={"issues": "write", "statuses": "write"})
    desk.deliver(about(examples.regression()))
    assert len(api.comments(NUMBER)) == 1
    assert desk.log == []


def test_several_jobs_have_a_comment_each(desk: Desk, api: GitHubDouble) -> None:
    for key in ("faithbot", "docs-bot"):
        desk.deliver(about(examples.improvement()), comment_key=key)
    assert [body.partition("\n")[0] for body in api.bodies(NUMBER)] == [
        "<!-- faithbot:faithbot -->",
        "<!-- faithbot:docs-bot -->",
    ]
    assert [status["context"] for status in api.statuses(OWN)] == ["faithbot (verdict)", "docs-bot (verdict)"]


@pytest.mark.parametrize("unchanged", [examples.nothing_changed, examples.no_work])
def test_comment_changes_keeps_quiet_where_no_answer_changed(desk: Desk, api: GitHubDouble, unchanged: Any) -> None:
    desk.deliver(about(unchanged()), comment="changes")
    assert api.comments(NUMBER) == []
    desk.deliver(about(examples.regression()), comment="changes")
    desk.deliver(about(unchanged(), NEXT), comment="changes")
    (body,) = api.bodies(NUMBER)
    assert "Faithfulness fell" not in body, "a comment that is there must not go stale"


def test_comment_changes_tells_a_failure(desk: Desk, api: GitHubDouble) -> None:
    desk.deliver(about(examples.failed()), comment="changes")
    assert "connection refused" in api.bodies(NUMBER)[0]


def test_comment_never_comments_never_but_sets_the_status(desk: Desk, api: GitHubDouble) -> None:
    desk.deliver(about(examples.regression()), comment="never")
    assert [request.path.rsplit("/", 2)[1] for request in api.requests] == ["statuses"]


def test_the_longest_result_fits_beside_another_section(desk: Desk, api: GitHubDouble) -> None:
    other = Section(STRONGER_JUDGE, OWN, "\n\n".join(["paragraph " * 10] * 300))
    assert len(other.text) > 30_000
    ours = api.add_comment(NUMBER, join_sections("faithbot", {STRONGER_JUDGE: other}), "github-actions[bot]", "Bot")
    claims = tuple(
        claim.model_copy(update={"claim": f"{claim.claim} {'and so on ' * 300}", "evidence": "word " * 900})
        for claim in examples.NEWLY_UNSUPPORTED * 40
    )
    desk.deliver(about(examples.regression(newly_unsupported=claims)))
    (comment,) = api.comments(NUMBER)
    assert comment["id"] == ours
    assert len(comment["body"]) <= LIMIT
    assert list(parse_sections(comment["body"])) == [MAIN, STRONGER_JUDGE]
    assert "Faithfulness fell" in comment["body"]
    assert desk.outputs()["newly-unsupported"] == "240"


# --- the commit status ---


@pytest.mark.parametrize(
    ("results", "inputs", "state", "description"),
    [
        (examples.regression, {}, "failure", "faithfulness 0.91 → 0.79 (−0.12, noise ±0.04)"),
        (examples.regression, {"fail_on": "never"}, "success", "faithfulness 0.91 → 0.79 (−0.12, noise ±0.04)"),
        (examples.improvement, {}, "success", "faithfulness 0.84 → 0.90 (+0.06, noise ±0.03)"),
        (examples.failed, {}, "error", "Cannot tell: the evaluation could not be done"),
    ],
)
def test_the_status_stands_on_the_pull_requests_own_commit(
    desk: Desk, api: GitHubDouble, results: Any, inputs: dict[str, str], state: str, description: str
) -> None:
    desk.deliver(about(results()), **inputs)
    (status,) = api.statuses(OWN)
    assert (status["state"], status["context"], status["target_url"]) == (state, "faithbot (verdict)", RUN_URL)
    assert status["description"] == description


def test_each_section_has_a_status_of_its_own(desk: Desk, api: GitHubDouble) -> None:
    desk.deliver(about(examples.regression()), comment_key="rag")
    desk.deliver(about(examples.improvement()), BESIDE, comment_key="rag")
    assert [(status["context"], status["state"]) for status in api.statuses(OWN)] == [
        ("rag (verdict)", "failure"),
        ("rag (stronger-judge)", "success"),
    ]


def test_a_merge_group_has_a_status_and_no_comment(desk: Desk, api: GitHubDouble) -> None:
    api.commits.add(MERGE)
    desk.deliver(examples.improvement(), Activity("compare", "b" * 40, MERGE, status_commit=MERGE))
    assert len(api.statuses(MERGE)) == 1
    assert api.comments(NUMBER) == []


# --- what it ends with ---


@pytest.mark.parametrize(
    ("results", "inconclusive", "regression", "never"),
    [
        (examples.results(), 0, 0, 0),
        (examples.first(), 0, 0, 0),
        (examples.regression(), 1, 1, 0),
        (examples.inconclusive(), 2, 0, 0),
        (examples.failed(), 2, 0, 0),
        (examples.failed().model_copy(update={"failure": EvaluationFailure(kind="usage", message="m")}), 64, 64, 64),
        (examples.failed().model_copy(update={"failure": EvaluationFailure(kind="fault", message="m")}), 70, 70, 70),
    ],
    ids=["pass", "first", "regression", "inconclusive", "not to be done", "wrong usage", "fault"],
)
def test_fail_on_says_which_results_end_the_job_red(
    results: Results, inconclusive: int, regression: int, never: int
) -> None:
    assert job_exit_code(results, "inconclusive") == inconclusive
    assert job_exit_code(results, "regression") == regression
    assert job_exit_code(results, "never") == never


def test_a_token_that_cannot_write_costs_one_line_each_and_not_the_verdict(desk: Desk, api: GitHubDouble) -> None:
    desk.token = api.add_token("ghs_fork", permissions={"pull_requests": "read"})
    assert desk.deliver(about(examples.regression())) == 1
    comment, status = desk.log
    assert comment.startswith("the comment could not be posted: the token lacks `pull-requests: write`")
    assert status.startswith("the status on 1111111 could not be set: the token lacks `statuses: write`")
    assert all("\n" not in line for line in desk.log)
    assert desk.outputs()["comment-url"] == ""
    assert "Faithfulness fell" in desk.summary


def test_without_a_token_nothing_is_written_on_github(desk: Desk, api: GitHubDouble) -> None:
    desk.token = None
    assert desk.deliver(about(examples.regression())) == 1
    assert api.requests == []
    assert desk.outputs()["verdict"] == "regression"


def test_a_result_without_an_activity_stays_in_the_job(desk: Desk, api: GitHubDouble) -> None:
    assert desk.deliver(examples.failed(), None) == 2
    assert api.requests == []
    assert "connection refused" in desk.summary


def test_an_api_that_is_down_changes_nothing_else(tmp_path: Path) -> None:
    desk = Desk(tmp_path, "http://127.0.0.1:9")
    assert desk.deliver(about(examples.regression())) == 1
    assert [line.partition(":")[0] for line in desk.log] == [
        "the comment could not be posted",
        "the status on 1111111 could not be set",
    ]
    assert desk.outputs()["verdict"] == "regression"
    assert (desk.workspace / "faithbot-report" / "results.json").exists()


@pytest.mark.parametrize("link", ["out", "out/report", "out/report/results.json", "out/report/report.md"])
def test_nothing_is_written_through_a_link_that_a_pull_request_committed(
    desk: Desk, api: GitHubDouble, capsys: pytest.CaptureFixture[str], link: str
) -> None:
    elsewhere = desk.folder / "elsewhere"
    elsewhere.mkdir()
    path = desk.workspace / link
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to("/dev/stdout" if path.suffix else elsewhere)
    assert desk.deliver(about(examples.regression()), artifact_dir="out/report") == 1
    assert list(elsewhere.iterdir()) == []
    assert capsys.readouterr().out == ""
    assert desk.log == [
        f"the report could not be kept: artifact-dir: {path} is a symbolic link: remove it, or name another folder."
    ]
    assert desk.outputs()["results"] == desk.outputs()["report"] == ""
    assert len(api.comments(NUMBER)) == 1


def test_files_of_our_names_that_a_checkout_brought_are_removed_and_no_others(tmp_path: Path) -> None:
    folder = tmp_path / "report"
    folder.mkdir()
    for name in ("results.json", "report.md", "ollama.log", "notes.md"):
        (folder / name).write_text("merge this")
    remove_stale(tmp_path, "report")
    remove_stale(tmp_path, "report")
    assert [path.name for path in folder.iterdir()] == ["notes.md"]


def test_nothing_is_removed_behind_a_link(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "results.json").write_text("{}")
    (tmp_path / "report").symlink_to(elsewhere)
    with pytest.raises(UsageError, match="is a symbolic link"):
        remove_stale(tmp_path, "report")
    assert (elsewhere / "results.json").exists()


def test_the_artifact_folder_is_where_the_input_says(tmp_path: Path) -> None:
    assert artifact_folder(tmp_path, "a/b") == tmp_path / "a" / "b"
    (tmp_path / "a").symlink_to(tmp_path)
    with pytest.raises(UsageError, match="is a symbolic link"):
        artifact_folder(tmp_path, "a/b")


def test_a_full_disk_or_a_missing_file_of_the_runner_changes_nothing_else(desk: Desk, api: GitHubDouble) -> None:
    for name in ("summary.md", "output"):
        (desk.folder / name).mkdir()
    (desk.workspace / "faithbot-report").write_text("a file")
    assert desk.deliver(about(examples.improvement())) == 0
    assert [line.partition(" could not be ")[0] for line in desk.log] == ["the report", "the summary", "the outputs"]
    assert len(api.comments(NUMBER)) == 1


def test_half_a_character_in_an_answer_is_kept_as_a_question_mark(desk: Desk, api: GitHubDouble) -> None:
    claim = examples.NEWLY_UNSUPPORTED[0].model_copy(update={"claim": "Half \ud800 a character"})
    assert desk.deliver(about(examples.regression(newly_unsupported=(claim,)))) == 1
    kept = json.loads((desk.workspace / "faithbot-report" / "results.json").read_text())
    assert kept["newly_unsupported"][0]["claim"] == "Half ? a character"
    assert "Half a character" in api.bodies(NUMBER)[0]
