"""A step of a job up to where models would be asked: what it decides, writes, keeps to itself and survives."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import zipfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from faithbot.action.inputs import read_inputs
from faithbot.action.main import clean_up
from faithbot.action.model_server import OLLAMA_OWNER
from faithbot.action.step import Step
from faithbot.github.api import open_repository
from faithbot.github.event import read_event
from faithbot.github.runner import Runner
from faithbot.github.sections import parse_sections
from faithbot.job import pass_without_work
from faithbot.plan import CompareRequest, make_plan
from faithbot.results import Results
from github_double import GitHubDouble
from hosted_pull_request import NUMBER, PAYLOADS, HostedPullRequest, host_pull_request
from runner_environment import runner_environment
from runner_reader import commands_of, variables_of
from scripted_server import Answer, ScriptedServer, json_answer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

TOKEN = "ghs_" + "a1B2" * 9
OTHER_TOKENS = {"GITHUB_TOKEN": "ghs_other", "ACTIONS_RUNTIME_TOKEN": "runtime-secret"}
REPOSITORY = "acme/handbook"
RUNNER = 1001
"""The runner's user."""
NO_DOCKER = {"DOCKER_HOST": "unix:///nonexistent/docker.sock"}
CONFIG = """\
golden: golden.jsonl
system:
  pipeline:
    documents: docs/*.md
    prompt: prompt.md
    model: ollama/tiny
judge: {method: evidence}
"""
MAIN: dict[str, str | bytes | None] = {
    "faithbot.yaml": CONFIG,
    "golden.jsonl": '{"question": "How long is the warranty?"}\n',
    "prompt.md": "{{ contexts[0].text }} {{ question }}\n",
    "docs/warranty.md": "The warranty is two years.\n",
    "README.md": "Hello\n",
}
FRIENDLIER: dict[str, str | bytes | None] = {"prompt.md": "Be friendly. {{ contexts[0].text }} {{ question }}\n"}


@dataclass(frozen=True)
class Outcome:
    code: int
    log: str

    @property
    def errors(self) -> list[str]:
        return [text for name, _, text in commands_of(self.log) if name == "error"]


@dataclass(frozen=True)
class Job:
    """A job on the runner, with its folders under one."""

    folder: Path
    api: GitHubDouble
    capsys: pytest.CaptureFixture[str]

    @property
    def workspace(self) -> Path:
        return self.folder / "workspace"

    def results(self) -> Results:
        return Results.model_validate_json((self.workspace / "faithbot-report" / "results.json").read_bytes())

    def outputs(self) -> dict[str, str]:
        return variables_of(self.folder / "output")

    def run(self, pull: HostedPullRequest, **inputs: str) -> Outcome:
        """The step on the pull request's own event, in this process."""
        return self.run_event("pull_request", pull.payload(), pull.merge, **inputs)

    def run_event(self, event: str, payload: object, sha: str, **inputs: str) -> Outcome:
        environ = self._environment(event, payload, sha, inputs)
        runner, given = Runner.from_environment(environ), read_inputs(environ)
        repository = open_repository(runner.repository, TOKEN, runner.api_url) if given.token else None
        code = Step(runner, given, environ, lambda: repository).run(read_event(runner))
        return Outcome(code, self.capsys.readouterr().out)

    @contextmanager
    def started(
        self, event: str, payload: object, sha: str, inputs: Mapping[str, str] = {}, **environment: str
    ) -> Iterator[subprocess.Popen[str]]:
        """The step as a process of its own, as the runner starts it."""
        machine = {"PATH": os.environ["PATH"], "HOME": str(self.folder / "home")} | OTHER_TOKENS | NO_DOCKER
        process = subprocess.Popen(
            [sys.executable, "-c", "from faithbot.action.main import main; main()"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=self.folder,
            env=machine | self._environment(event, payload, sha, inputs) | environment,
        )
        try:
            yield process
        finally:
            process.kill()
            process.communicate()

    def run_process(self, event: str, payload: object, sha: str, inputs: Mapping[str, str] = {}) -> Outcome:
        with self.started(event, payload, sha, inputs) as process:
            log, _ = process.communicate(timeout=60)
            return Outcome(process.returncode, log)

    def _environment(self, event: str, payload: object, sha: str, inputs: Mapping[str, str]) -> dict[str, str]:
        (self.folder / "event.json").write_text(json.dumps(payload))
        told = runner_environment(
            self.folder,
            GITHUB_API_URL=self.api.url,
            GITHUB_EVENT_NAME=event,
            GITHUB_REPOSITORY=REPOSITORY,
            GITHUB_SHA=sha,
        )
        given = {"token": TOKEN} | {name.replace("_", "-"): value for name, value in inputs.items()}
        return told | {f"INPUT_{name.upper()}": value for name, value in given.items()}


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Job]:
    monkeypatch.setattr("faithbot.github.api._SECONDS_BETWEEN_WRITES", 0.0)
    with GitHubDouble(REPOSITORY) as api:
        api.add_token(TOKEN)
        (tmp_path / "temp").mkdir()
        yield Job(tmp_path, api, capsys)


def open_pull_request(
    job: Job,
    change: Mapping[str, str | bytes | None],
    branch: str = "topic",
    main: Mapping[str, str | bytes | None] = {},
) -> HostedPullRequest:
    pull = host_pull_request(job.folder, {**MAIN, **main}, change, branch)
    job.api.add_pull_request(NUMBER, pull.head, head=f"acme:{branch}")
    return pull


# --- what needs no model ---


def test_a_change_that_no_answer_depends_on_passes_at_once_and_asks_no_server(job: Job) -> None:
    pull = open_pull_request(job, {"README.md": "Hello, world\n"})
    outcome = job.run(pull)
    assert (outcome.code, outcome.errors) == (0, [])
    (body,) = job.api.bodies(NUMBER)
    assert parse_sections(body)["main"].commit == pull.head
    (status,) = job.api.statuses(pull.head)
    assert status["state"] == "success"
    assert job.outputs()["verdict"] == "pass"
    assert job.results().head_commit == pull.head
    assert "Nothing that the answers depend on changed" in (job.folder / "summary.md").read_text()
    assert "time: reading git " in outcome.log


def test_a_closed_pull_request_writes_nothing(job: Job) -> None:
    pull = open_pull_request(job, FRIENDLIER)
    payload = pull.payload()
    payload["pull_request"]["state"] = "closed"
    outcome = job.run_event("pull_request", payload, pull.merge)
    assert outcome.code == 0
    assert outcome.log.endswith("faithbot: nothing to do: pull request #2 is closed\n")
    assert job.api.requests == []


# --- what is wrong, told where people look ---


def test_a_broken_configuration_of_the_pull_request_is_told_with_file_line_and_cure(job: Job) -> None:
    pull = open_pull_request(job, {"faithbot.yaml": CONFIG.replace("prompt:", "promt:")})
    outcome = job.run(pull)
    assert outcome.code == 64
    (error,) = outcome.errors
    for told in (error, job.api.bodies(NUMBER)[0]):
        assert "faithbot.yaml" in told
        assert "line 5" in told
        assert "promt" in told
    assert [status["state"] for status in job.api.statuses(pull.head)] == ["error"]
    failure = job.results().failure
    assert failure
    assert failure.kind == "usage"


def test_a_broken_base_is_no_fault_of_the_pull_request_and_never_a_pass(job: Job) -> None:
    broken = {"faithbot.yaml": CONFIG.replace("prompt:", "promt:")}
    pull = open_pull_request(job, {"faithbot.yaml": CONFIG}, main=broken)
    outcome = job.run(pull)
    assert outcome.code == 2
    (error,) = outcome.errors
    assert error.startswith("base cannot be evaluated: ")
    assert "base cannot be evaluated" in job.api.bodies(NUMBER)[0]


def test_a_workspace_without_a_clone_names_the_missing_step(job: Job) -> None:
    pull = open_pull_request(job, FRIENDLIER)
    job.workspace.rename(job.folder / "elsewhere")
    job.workspace.mkdir()
    outcome = job.run(pull)
    assert outcome.code == 64
    (error,) = outcome.errors
    assert error.startswith(f"{job.workspace} is no clone of the repository: ")
    assert "uses: actions/checkout" in error
    assert "actions/checkout" in job.api.bodies(NUMBER)[0]


def test_without_docker_and_without_a_server_one_error_names_both_ways_out(job: Job) -> None:
    pull = open_pull_request(job, FRIENDLIER)
    outcome = job.run_process("pull_request", pull.payload(), pull.merge)
    assert outcome.code == 64
    (error,) = outcome.errors
    assert error.startswith("no Docker socket and no ollama-url")
    assert "no Docker socket and no ollama-url" in job.api.bodies(NUMBER)[0]


def test_a_server_that_is_not_there_is_one_error_and_an_inconclusive_result(job: Job) -> None:
    pull = open_pull_request(job, FRIENDLIER)
    outcome = job.run(pull, ollama_url="http://127.0.0.1:9")
    assert outcome.code == 2
    (error,) = outcome.errors
    assert error.startswith("Ollama at http://127.0.0.1:9 ")
    (body,) = job.api.bodies(NUMBER)
    assert "127.0.0.1:9" in body.replace("\u200b", "")
    assert "Traceback" not in outcome.log


def test_fail_on_never_lets_a_missing_server_pass_and_still_tells(job: Job) -> None:
    pull = open_pull_request(job, FRIENDLIER)
    outcome = job.run(pull, ollama_url="http://127.0.0.1:9", fail_on="never")
    assert outcome.code == 0
    assert job.outputs()["verdict"] == "inconclusive"
    assert len(job.api.comments(NUMBER)) == 1


def test_wrong_inputs_are_told_where_people_look(job: Job) -> None:
    pull = open_pull_request(job, FRIENDLIER)
    wrong = {"fail-on": "sometimes", "runs": "0", "comment-key": "rag"}
    outcome = job.run_process("pull_request", pull.payload(), pull.merge, wrong)
    assert outcome.code == 64
    (error,) = outcome.errors
    assert [line.partition(": ")[0] for line in error.splitlines()] == ["input `runs`", "input `fail-on`"]
    (body,) = job.api.bodies(NUMBER)
    assert body.startswith("<!-- faithbot:rag -->\n")
    for told in (body, (job.folder / "summary.md").read_text()):
        assert "input &#96;runs&#96;: use a whole number from 1 to 50" in told
        assert "input &#96;fail-on&#96;: 'sometimes' is not known" in told
    assert [(status["state"], status["context"]) for status in job.api.statuses(pull.head)] == [
        ("error", "rag (verdict)")
    ]
    failure = job.results().failure
    assert failure
    assert failure.kind == "usage"
    assert job.results().head_commit == pull.head


def test_wrong_inputs_of_a_run_by_hand_leave_the_main_section_alone(job: Job) -> None:
    pull = open_pull_request(job, {"README.md": "Hello, world\n"})
    job.run(pull)
    (before,) = job.api.bodies(NUMBER)
    payload = json.loads((PAYLOADS / "workflow_dispatch.json").read_text()) | {"inputs": {"pr": str(NUMBER)}}
    assert job.run_process("workflow_dispatch", payload, pull.main, {"runs": "0"}).code == 64
    (body,) = job.api.bodies(NUMBER)
    sections = parse_sections(body)
    assert sections["main"] == parse_sections(before)["main"]
    assert sections["started-by-hand"].text.startswith("## Started by hand\n")
    assert len(job.api.statuses(pull.head)) == 1


def test_a_report_that_a_checkout_brought_does_not_outlive_a_job_that_fails_early(job: Job) -> None:
    pull = open_pull_request(job, {"faithbot-report/results.json": "{}", "faithbot-report/report.md": "Merge this!\n"})
    payload = pull.payload()
    del payload["pull_request"]
    outcome = job.run_process("pull_request", payload, pull.merge)
    assert outcome.code == 64
    assert "is no payload of `pull_request`" in outcome.errors[0]
    assert list((job.workspace / "faithbot-report").iterdir()) == []


def test_given_commits_are_told_to_the_pull_request_but_set_no_status(job: Job) -> None:
    pull = open_pull_request(job, {"README.md": "Hello, world\n"})
    outcome = job.run(pull, base=pull.main)
    assert outcome.code == 0
    assert job.results().head_commit == pull.head
    assert parse_sections(job.api.bodies(NUMBER)[0])["main"].commit == pull.head
    assert job.api.statuses(pull.head) == []


def test_a_fault_is_told_in_the_comment_with_its_traceback_in_the_log(
    job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    pull = open_pull_request(job, FRIENDLIER)
    monkeypatch.setattr("faithbot.action.step.make_plan", None)
    outcome = job.run(pull)
    assert outcome.code == 70
    (error,) = outcome.errors
    assert error.endswith("please report it with the log: TypeError: 'NoneType' object is not callable")
    assert "Traceback (most recent call last):" in outcome.log
    assert "This is a fault of faithbot itself" in job.api.bodies(NUMBER)[0]


def test_an_event_that_names_no_commits_is_explained(job: Job) -> None:
    pull = open_pull_request(job, FRIENDLIER)
    payload = json.loads((PAYLOADS / "workflow_dispatch.json").read_text()) | {"inputs": None}
    outcome = job.run_event("workflow_dispatch", payload, pull.merge)
    assert outcome.code == 64
    assert "give it an input `pr`" in outcome.errors[0]
    assert job.api.writes() == []
    assert job.outputs()["verdict"] == "inconclusive"


def test_another_judge_takes_the_answers_that_the_pull_requests_own_run_recorded(job: Job) -> None:
    pull = open_pull_request(job, FRIENDLIER)
    page = job.api.add_artifact(pull.head, recorded_archive(pull, head_commit=pull.head))
    outcome = job.run_event("workflow_dispatch", dispatched(), pull.main, **{"judge-method": "evidence"})
    assert f"faithbot: judging again the answers that {page} recorded" in outcome.log
    results = job.results()
    assert {answer.answer for side in results.sides.values() for answer in side.answers} == {"Two years."}
    assert results.usage.model_calls == 0
    section = parse_sections(job.api.bodies(NUMBER)[0])["stronger-judge"].text
    assert section.startswith("## Judged again, by another judge\n")
    assert "nothing was answered anew" in section


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"head_commit": "a" * 40}, "results.json is not about"),
        ({"questions": ()}, "do not fit: the questions are others now"),
        ({"runs": "many"}, "results.json is no results.json of this version of faithbot: runs:"),
    ],
)
def test_recorded_answers_that_do_not_fit_are_made_anew(job: Job, changes: dict[str, object], problem: str) -> None:
    pull = open_pull_request(job, FRIENDLIER)
    job.api.add_artifact(pull.head, recorded_archive(pull, **{"head_commit": pull.head, **changes}))
    inputs = {"judge-method": "evidence", "ollama-url": "http://127.0.0.1:9"}
    outcome = job.run_event("workflow_dispatch", dispatched(), pull.main, **inputs)
    assert problem in next(line for line in outcome.log.splitlines() if "answering anew: " in line)
    assert outcome.code == 2  # there is no Ollama to answer anew


def test_without_the_permission_to_read_artifacts_answers_are_made_anew(job: Job) -> None:
    pull = open_pull_request(job, FRIENDLIER)
    job.api.add_token(TOKEN, permissions={"pull_requests": "write", "statuses": "write"})
    inputs = {"judge-method": "evidence", "ollama-url": "http://127.0.0.1:9"}
    outcome = job.run_event("workflow_dispatch", dispatched(), pull.main, **inputs)
    assert "the token lacks `actions: read`" in outcome.log


def dispatched() -> dict[str, object]:
    """What GitHub sends when somebody starts a workflow by hand for the pull request."""
    loaded: dict[str, object] = json.loads((PAYLOADS / "workflow_dispatch.json").read_text())
    return loaded | {"inputs": {"pr": str(NUMBER)}}


def recorded_archive(pull: HostedPullRequest, **changes: object) -> bytes:
    """The artifact of a run in which every question was answered with two years."""
    request = CompareRequest(pull.workspace, pull.main, pull.merge, "faithbot.yaml", pull.workspace / "cache")
    results = pass_without_work(make_plan(request)).model_dump(mode="json")
    answer = {"answer": "Two years.", "contexts": [{"text": "The warranty is two years."}]}
    for side in results["sides"].values():
        ids = [(question["id"], run) for question in results["questions"] for run in (1, 2)]
        side["answers"] = [{"question_id": question, "run": run, **answer} for question, run in ids]
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as members:
        members.writestr("results.json", json.dumps({**results, **changes}))
    return packed.getvalue()


def test_on_workflow_run_the_artifact_is_published(job: Job) -> None:
    pull = open_pull_request(job, {"README.md": "Hello, world\n"})
    assert job.run(pull, token="").code == 0
    assert job.api.requests == []
    payload = json.loads((PAYLOADS / "workflow_run.json").read_text())
    payload["workflow_run"] |= {"head_sha": pull.head, "head_branch": pull.branch}
    payload["workflow_run"]["head_repository"]["full_name"] = REPOSITORY
    outcome = job.run_process("workflow_run", payload, pull.main)
    (comment,) = job.api.comments(NUMBER)
    assert (outcome.code, outcome.log.splitlines()[-1]) == (0, f"faithbot: published: {comment['html_url']}")


def test_on_workflow_run_a_pull_request_that_moved_on_is_a_notice_and_no_failure(job: Job) -> None:
    pull = open_pull_request(job, {"README.md": "Hello, world\n"})
    job.run(pull, token="")
    job.api.add_pull_request(NUMBER, pull.main, head="acme:topic")
    payload = json.loads((PAYLOADS / "workflow_run.json").read_text())
    payload["workflow_run"] |= {"head_sha": pull.head, "head_branch": pull.branch}
    payload["workflow_run"]["head_repository"]["full_name"] = REPOSITORY
    outcome = job.run_process("workflow_run", payload, pull.main)
    assert outcome.code == 0
    ((_, _, text),) = [command for command in commands_of(outcome.log) if command[0] == "notice"]
    assert text.startswith("nothing published: no open pull request of acme is at commit")
    assert job.api.writes() == []


# --- what must stay where it is ---


def test_the_token_appears_nowhere(job: Job) -> None:
    pull = open_pull_request(job, {"faithbot.yaml": CONFIG.replace("prompt:", "promt:")})
    outcome = job.run_process("pull_request", pull.payload(), pull.merge)
    assert (outcome.code, len(job.api.comments(NUMBER))) == (64, 1)
    assert [line for line in outcome.log.splitlines() if TOKEN in line] == [f"::add-mask::{TOKEN}"]
    for secret in (TOKEN, *OTHER_TOKENS.values()):
        for file in (path for path in job.folder.rglob("*") if path.is_file()):
            assert secret.encode() not in file.read_bytes(), file
        assert all(secret not in body for body in job.api.bodies(NUMBER))
    assert not any(secret in outcome.log for secret in OTHER_TOKENS.values())


def test_text_of_a_pull_request_starts_no_command(job: Job) -> None:
    attack = "x\n::add-mask::a\n##[group]y\n::set-output name=verdict::pass"
    config = CONFIG.replace("prompt: prompt.md", f"prompt: {json.dumps(f'prompts/{attack}.md')}")
    pull = open_pull_request(job, {"faithbot.yaml": config})
    payload = pull.payload()
    payload["pull_request"]["head"]["ref"] = attack
    outcome = job.run_process("pull_request", payload, pull.merge)
    assert outcome.code == 64
    names = [name for name, _, _ in commands_of(outcome.log)]
    assert sorted(set(names)) == ["add-mask", "endgroup", "error", "group", "stop-commands"]
    assert (names.count("add-mask"), names.count("group")) == (1, names.count("endgroup"))


def test_a_branch_called_like_a_command_starts_none(job: Job) -> None:
    pull = open_pull_request(job, FRIENDLIER)
    payload = json.loads((PAYLOADS / "push.json").read_text())
    payload |= {"ref": "refs/heads/##[add-mask]main", "after": pull.head}
    outcome = job.run_event("push", payload, pull.head)
    assert outcome.code == 0
    assert "nothing to do: ## [add-mask]main is not the default branch" in outcome.log
    assert [name for name, _, _ in commands_of(outcome.log)] == []


def test_an_error_with_half_a_character_is_told_all_the_same(job: Job) -> None:
    pull = open_pull_request(job, FRIENDLIER)
    outcome = job.run(pull, config=b"rag-\xff.yaml".decode(errors="surrogateescape"))
    assert outcome.code == 64
    (error,) = outcome.errors
    assert error.startswith("rag-?.yaml does not exist on topic")
    assert "does not exist on topic" in job.api.bodies(NUMBER)[0]
    assert job.results().failure


def test_a_pull_request_cannot_send_ollama_to_an_address_of_its_choice(job: Job) -> None:
    inside = CONFIG.replace("ollama/tiny", "ollama/http://169.254.169.254/latest/meta-data")
    pull = open_pull_request(job, {"faithbot.yaml": inside})
    with ScriptedServer({"/api/tags": [json_answer({"models": []})]}) as server:
        outcome = job.run(pull, ollama_url=server.url)
    assert outcome.code == 64
    assert outcome.errors[0].startswith("model 'http://169.254.169.254/latest/meta-data' is not named as in Ollama's")


def test_a_registry_that_base_names_is_asked(job: Job) -> None:
    own = "http://10.0.0.7:5000/library/ours"
    pull = open_pull_request(job, FRIENDLIER, main={"faithbot.yaml": CONFIG.replace("tiny", own)})
    script = {"/api/tags": [json_answer({"models": []})], "/api/pull": [json_answer({"error": "no route"}, 400)]}
    with ScriptedServer(script) as server:
        outcome = job.run(pull, ollama_url=server.url)
    assert server.bodies("/api/pull") == [{"model": own, "insecure": True}]
    assert outcome.errors == [f"model '{own}' is refused by Ollama: no route."]


def test_a_link_in_place_of_the_artifact_folder_is_not_followed(job: Job) -> None:
    pull = open_pull_request(job, {"README.md": "Hello, world\n"})
    (job.folder / "outside").mkdir()
    (job.workspace / "faithbot-report").symlink_to(job.folder / "outside")
    outcome = job.run(pull)
    assert outcome.code == 0
    assert "the report could not be kept: artifact-dir: " in outcome.log
    assert list((job.folder / "outside").iterdir()) == []


# --- cancelled ---


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_a_cancelled_evaluation_ends_in_time_and_posts_nothing(job: Job, sent: signal.Signals) -> None:
    pull = open_pull_request(job, FRIENDLIER, main={"faithbot.yaml": CONFIG.replace("ollama/tiny", "openai/slow")})
    script = {
        "/v1/models": [json_answer({"data": [{"id": "slow"}]})],
        "/v1/chat/completions": [Answer((60.0,))] * 4,
    }
    with (
        ScriptedServer(script) as server,
        job.started("pull_request", pull.payload(), pull.merge, OPENAI_BASE_URL=f"{server.url}/v1") as process,
    ):
        wait_until(lambda: len(server.bodies("/v1/chat/completions")) == 4, process)
        assert_ends_at(process, sent)
    assert_nothing_was_said(job)


def test_a_step_that_is_cancelled_while_it_waits_for_a_server_ends_in_time(job: Job) -> None:
    pull = open_pull_request(job, FRIENDLIER)
    with socket.create_server(("127.0.0.1", 0)) as mute:
        url = f"http://127.0.0.1:{mute.getsockname()[1]}"
        with job.started("pull_request", pull.payload(), pull.merge, {"ollama-url": url}) as process:
            mute.settimeout(30)
            with mute.accept()[0]:
                assert_ends_at(process, signal.SIGTERM)
    assert_nothing_was_said(job)


def test_a_step_that_is_cancelled_while_a_template_loops_ends_in_time(job: Job) -> None:
    """The template's process has a limit of its own; in the action's container, it ends with process 1."""
    loops = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"
    pull = open_pull_request(job, {"prompt.md": loops})
    with (
        ScriptedServer({}) as server,
        job.started("pull_request", pull.payload(), pull.merge, {"ollama-url": server.url}) as process,
    ):
        wait_until(lambda: limited_children(process) != [], process)
        time.sleep(1)  # base's template comes to its end meanwhile
        children = limited_children(process)
        assert_ends_at(process, signal.SIGTERM)
    for child in children:
        with contextlib.suppress(ProcessLookupError):  # it was base's after all
            os.kill(child, signal.SIGKILL)
    assert_nothing_was_said(job)


def limited_children(process: subprocess.Popen[str]) -> list[int]:
    """Children that may not compute for more than 35 seconds."""
    found = []
    for children in Path(f"/proc/{process.pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):  # the thread has ended
            for child in children.read_text().split():
                limits = Path(f"/proc/{child}/limits")
                if limits.exists() and re.search(r"^Max cpu time +35 +35 ", limits.read_text(), re.MULTILINE):
                    found.append(int(child))
    return found


def wait_until(condition: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < deadline
        time.sleep(0.02)


def assert_ends_at(process: subprocess.Popen[str], sent: signal.Signals) -> None:
    """The runner kills what is still there 2.5 s after SIGTERM."""
    started = time.monotonic()
    process.send_signal(sent)
    log, _ = process.communicate(timeout=10)
    assert time.monotonic() - started < 2.5
    assert process.returncode == 130
    assert log.endswith("faithbot: cancelled\n")
    assert "Traceback" not in log


def assert_nothing_was_said(job: Job) -> None:
    assert job.api.requests == []
    assert not (job.workspace / "faithbot-report").exists()
    assert not (job.folder / "output").exists()


# --- afterwards ---


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file to somebody else")
def test_a_cancelled_step_leaves_no_file_of_roots_to_the_runners_user(
    job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    pull = open_pull_request(job, FRIENDLIER)
    left = leave_files(job)
    monkeypatch.setattr("faithbot.action.step.make_plan", cancel)
    with pytest.raises(KeyboardInterrupt):
        job.run(pull, artifact_dir="out/report", models_dir="models")
    assert {path.stat().st_uid for path in left} == {RUNNER}


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file to somebody else")
def test_the_clean_up_hands_over_what_a_killed_step_could_not(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    pull = open_pull_request(job, {"README.md": "Hello, world\n"})
    job.run(pull, artifact_dir="out/report", models_dir="models")
    left = leave_files(job)
    clean_up_after(job, monkeypatch)
    assert {path.stat().st_uid for path in left} == {RUNNER}


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file to somebody else")
def test_a_folder_that_became_a_link_meanwhile_is_not_cleaned_up_through_it(
    job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    pull = open_pull_request(job, {"README.md": "Hello, world\n"})
    job.run(pull, artifact_dir="out/report")
    (mine,) = leave_files(job, "elsewhere/report/a")
    shutil.rmtree(job.workspace / "out")
    (job.workspace / "out").symlink_to(job.folder / "elsewhere")
    clean_up_after(job, monkeypatch)
    assert (mine.stat().st_uid, mine.parent.stat().st_uid) == (0, 0)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file to somebody else")
def test_what_lies_in_the_home_instead_is_handed_over_as_well(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    (job.folder / "temp").rmdir()  # an older runner mounts none
    monkeypatch.setenv("HOME", str(job.folder / "home"))
    pull = open_pull_request(job, {"README.md": "Hello, world\n"})
    job.run(pull, models_dir="models")
    left = leave_files(job, "home/faithbot/calls/a", "home/models/a")
    clean_up_after(job, monkeypatch)
    assert {path.stat().st_uid for path in left} == {RUNNER}


def clean_up_after(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the runner does at the end of the job, with the state that the step saved."""
    monkeypatch.setenv("GITHUB_WORKSPACE", str(job.workspace))
    monkeypatch.setenv("RUNNER_TEMP", str(job.folder / "temp"))
    for name, value in variables_of(job.folder / "state").items():
        monkeypatch.setenv(f"STATE_{name}", value)
    clean_up()


def leave_files(job: Job, *names: str) -> list[Path]:
    """Files of root's in folders of the runner's user."""
    names = names or ("workspace/out/report/a", "temp/faithbot/calls/a", "temp/models/a")
    files = [job.folder / name for name in names]
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("a")
    for name in ("workspace", "temp", "home"):
        if (job.folder / name).is_dir():
            os.chown(job.folder / name, RUNNER, RUNNER)
    return files


def cancel(_: object) -> None:
    raise KeyboardInterrupt


def test_cleaning_up_without_docker_is_no_failure(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from faithbot.action.main import clean_up; clean_up()"],
        env=NO_DOCKER | {"HOME": str(tmp_path), f"STATE_{OLLAMA_OWNER}": "acme/handbook on runner"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("faithbot: nothing was cleaned up: no Docker socket")


def test_where_no_container_was_started_there_is_nothing_to_clean_up(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv(f"STATE_{OLLAMA_OWNER}", raising=False)
    clean_up()
    assert capsys.readouterr().out == ""
