"""The action end to end: its image, started as the runner does, a real Ollama beside it, and GitHub's API.

The tests of one pull request stand in the order in which a team meets them, and share a machine, whose folders stay.
"""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import time
import zipfile
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from actions_runner import ACTION, HOST, Machine, StepOutcome
from docker_engine import linked_copy
from git_http_server import GitHttpServer
from git_repository import git, make_repository
from github_double import GitHubDouble

if TYPE_CHECKING:
    from collections.abc import Iterator

    from docker import DockerClient

EXAMPLE = Path(__file__).parents[2] / "examples" / "bike-shop"
PAYLOADS = Path(__file__).parents[1] / "github" / "payloads"
TOKEN = "ghs_workflow"  # noqa: S105 - of the double
REPOSITORY = "acme/handbook"
NUMBER = 2
ANSWERS_OF_A_SIDE = 20
"""10 questions, 2 runs."""


class Pull(NamedTuple):
    """A pull request as GitHub has it: its own commit, and GitHub's merge of it."""

    head: str
    merge: str


def example_files() -> dict[str, str | bytes | None]:
    files = {
        str(path.relative_to(EXAMPLE)): path.read_bytes()
        for path in EXAMPLE.rglob("*")
        if path.is_file() and "changes" not in path.parts
    }
    return {**files, "faithbot.yaml": (EXAMPLE / "faithbot.ollama.yaml").read_bytes()}


def change(name: str) -> dict[str, str | bytes | None]:
    folder = EXAMPLE / "changes" / name
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository on GitHub: main, and what pull requests may do to it."""
    folder = tmp_path_factory.mktemp("origin") / f"{REPOSITORY}.git"
    branches = {
        "from-memory": change("from-memory"),
        "reworded": change("reworded-prompt"),
        "elsewhere": {"CONTRIBUTING.md": "Be kind.\n"},
        "broken": {"prompts/answer.md": "{% for context in contexts %}"},
    }
    make_repository(folder, example_files(), branches)
    git(folder, "config", "uploadpack.allowAnySHA1InWant", "true")
    return folder


def open_pull(origin: Path, branch: str, into: str = "main") -> Pull:
    """GitHub's merge commit of a branch, under the refs that GitHub gives it."""
    head = git(origin, "rev-parse", branch)
    merge = git(origin, "commit-tree", f"{branch}^{{tree}}", "-p", into, "-p", head, "-m", f"Merge {head} into {into}")
    git(origin, "update-ref", f"refs/pull/{NUMBER}/merge", merge)
    git(origin, "update-ref", f"refs/pull/{NUMBER}/head", head)
    return Pull(head, merge)


def check_out(origin: Path, machine: Machine, commit: str) -> None:
    """As `actions/checkout` with `fetch-depth: 2` leaves the workspace."""
    shutil.rmtree(machine.workspace)
    machine.workspace.mkdir()
    git(machine.workspace, "init", "--quiet", "--template=")
    git(machine.workspace, "remote", "add", "origin", f"file://{origin}")
    git(machine.workspace, "fetch", "--quiet", "--no-tags", "--depth=2", "origin", commit)
    git(machine.workspace, "checkout", "--quiet", "--detach", commit)


def payload(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((PAYLOADS / f"{name}.json").read_text())
    return loaded


def opened(pull: Pull, branch: str, kind: str = "opened") -> dict[str, Any]:
    event = deepcopy(payload(f"pull_request.{kind}"))
    event["number"] = event["pull_request"]["number"] = NUMBER
    event["pull_request"]["head"] |= {"sha": pull.head, "ref": branch}
    event["pull_request"]["base"]["ref"] = "main"
    return event


def packed(folder: Path) -> bytes:
    """As actions/upload-artifact packs a folder."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as members:
        for path in folder.iterdir():
            members.write(path, path.name)
    return archive.getvalue()


@pytest.fixture(scope="module")
def api() -> Iterator[GitHubDouble]:
    """GitHub, which fails the module if anything was asked that its description does not allow."""
    with GitHubDouble(REPOSITORY) as double:
        double.add_token(TOKEN)
        double.add_token("ghs_reader", permissions={"pull_requests": "read"})
        yield double


@pytest.fixture(scope="module")
def machine(
    tmp_path_factory: pytest.TempPathFactory,
    faithbot_image: str,
    test_ollama_image: str,
    models_folder: Path,
    api: GitHubDouble,
) -> Machine:
    machine = Machine(
        tmp_path_factory.mktemp("machine"), faithbot_image, f"http://{HOST}:{api.port}", REPOSITORY, test_ollama_image
    )
    machine.models.parent.mkdir(parents=True)
    linked_copy(models_folder, machine.models)
    return machine


@pytest.fixture(autouse=True)
def _nothing_is_left(docker_client: DockerClient, machine: Machine) -> Iterator[None]:
    """After each test there is neither an Ollama nor a network of it."""
    before = {network.id for network in docker_client.networks.list()}
    yield
    left = docker_client.containers.list(all=True, filters={"label": f"faithbot.owner={REPOSITORY} on {machine.name}"})
    assert [container.name for container in left] == []
    assert {network.id for network in docker_client.networks.list()} == before


@pytest.fixture(scope="module")
def recorded() -> bytearray:
    """The archive of the folder that the regression's run left, which that test fills."""
    return bytearray()


def comment_of(api: GitHubDouble) -> str:
    """The one comment of the pull request."""
    [body] = api.bodies(NUMBER)
    return str(body)


def test_a_push_to_the_default_branch_keeps_its_answers_for_the_next_pull_request(
    origin: Path, machine: Machine, api: GitHubDouble
) -> None:
    sha = git(origin, "rev-parse", "main")
    check_out(origin, machine, sha)
    event = payload("push") | {"ref": "refs/heads/main", "after": sha}
    event["repository"]["default_branch"] = "main"
    outcome = machine.run("push", event, sha)
    assert outcome.code == 0, outcome.log
    assert set(outcome.outputs) == set(ACTION["outputs"])
    assert outcome.outputs["verdict"] == "first"
    assert machine.results()["usage"]["model_calls"] == ANSWERS_OF_A_SIDE
    assert api.writes() == []


def test_a_regression_turns_red_and_is_told_everywhere(
    origin: Path, machine: Machine, api: GitHubDouble, recorded: bytearray, record_property: Any
) -> None:
    pull = open_pull(origin, "from-memory")
    api.add_pull_request(NUMBER, pull.head, head="acme:from-memory")
    check_out(origin, machine, pull.merge)
    outcome = machine.run("pull_request", opened(pull, "from-memory"), pull.merge)
    assert outcome.code == 1, outcome.log
    record_property("log", outcome.log)

    comment = comment_of(api)
    assert comment.startswith("<!-- faithbot:faithbot -->")
    assert "### ❌ Faithfulness fell by" in comment
    base = git(origin, "rev-parse", "main")
    assert f"<code>main</code> {base[:7]} → <code>from-memory</code> {pull.head[:7]}" in comment
    assert "claims became unsupported" in comment
    [status] = api.statuses(pull.head)
    assert (status["state"], status["context"]) == ("failure", "faithbot (verdict)")
    assert status["description"].startswith("faithfulness ")
    assert "❌ Faithfulness fell by" in outcome.summary
    assert "::error file=prompts/answer.md,line=" in outcome.log

    outputs = outcome.outputs
    assert outputs["verdict"] == "regression"
    assert float(outputs["delta"]) < -float(outputs["noise-band"]) < 0
    assert int(outputs["newly-unsupported"]) > 0
    assert outputs["comment-url"] == api.comments(NUMBER)[0]["html_url"]
    results = json.loads((machine.workspace / outputs["results"]).read_text())
    assert results["head_commit"] == pull.head
    assert "became unsupported" in (machine.workspace / outputs["report"]).read_text()
    # Base's answers came from the push.
    assert (results["usage"]["model_calls"], results["usage"]["cached_calls"]) == (ANSWERS_OF_A_SIDE, ANSWERS_OF_A_SIDE)
    recorded.extend(packed(machine.workspace / "faithbot-report"))


def test_the_token_is_nowhere_but_where_it_is_used(machine: Machine) -> None:
    log = (machine.root / "log").read_text()
    assert [line for line in log.splitlines() if TOKEN in line] == [f"::add-mask::{TOKEN}"]
    kept = [path for path in machine.root.rglob("*") if path.is_file() and "models" not in path.parts]
    kept.remove(machine.root / "log")
    for secret in (TOKEN, "runtime-secret"):
        assert [path for path in kept if secret.encode() in path.read_bytes()] == []


def test_a_stronger_judge_adds_its_section_and_asks_the_generator_nothing(
    origin: Path, machine: Machine, api: GitHubDouble
) -> None:
    """By hand, on the pull request that is red."""
    outcome = judge_again(origin, machine)
    assert outcome.code == 0, outcome.log
    assert "answering anew: no run of this repository on `pull_request` has left an artifact" in outcome.log
    comment = comment_of(api)
    assert "### ❌ Faithfulness fell by" in comment
    assert comment.index("## Judged again, by another judge") > comment.index("### ❌ Faithfulness fell by")
    results = machine.results()
    assert results["fingerprint"]["method"] == "claims"
    assert results["usage"]["cached_calls"] >= results["usage"]["answers"] == 3 * 2 * 2  # questions, runs, sides
    assert results["usage"]["model_calls"] <= most_calls_of_judge(results)
    assert [status["context"] for status in api.statuses(git(origin, "rev-parse", "from-memory"))] == [
        "faithbot (verdict)",
        "faithbot (stronger-judge)",
    ]


def most_calls_of_judge(results: dict[str, Any]) -> int:
    """One that takes the answer apart and one for each claim; fewer where an answer or a claim came twice."""
    records = [record for side in results["sides"].values() for record in side["answers"]]
    return sum(1 + len(record["judgement"]["claims"]) for record in records)


def judge_again(origin: Path, machine: Machine) -> StepOutcome:
    """The stronger judge by hand. The workspace is a checkout of main, so the commits are fetched."""
    sha = git(origin, "rev-parse", "main")
    check_out(origin, machine, sha)
    event = payload("workflow_dispatch")
    event["inputs"] = {"pr": str(NUMBER), "judge-model": "ollama/smollm2:135m"}
    with GitHttpServer(origin.parents[1], TOKEN, host="0.0.0.0") as server:  # noqa: S104 - containers must reach it
        machine.server_url = f"http://{HOST}:{server.port}"
        git(machine.workspace, "remote", "set-url", "origin", f"{machine.server_url}/{REPOSITORY}.git")
        outcome = machine.run("workflow_dispatch", event, sha, inputs={"fail-on": "never", "limit": "3"})
        machine.server_url = "https://github.com"
    return outcome


def test_a_stronger_judge_without_that_cache_takes_the_answers_that_the_pull_request_left(
    origin: Path, machine: Machine, api: GitHubDouble, recorded: bytearray
) -> None:
    """On GitHub's runners no other run sees the cache of a pull request."""
    page = api.add_artifact(git(origin, "rev-parse", "from-memory"), bytes(recorded))
    calls = machine.root / "temp" / "faithbot" / "calls"
    calls.rename(calls.with_name("set-aside"))
    try:
        outcome = judge_again(origin, machine)
    finally:
        shutil.rmtree(calls, ignore_errors=True)
        calls.with_name("set-aside").rename(calls)
    assert outcome.code == 0, outcome.log
    assert f"judging again the answers that {page} recorded" in outcome.log
    assert "nothing was answered anew" in comment_of(api)
    results = machine.results()
    usage = results["usage"]
    assert usage["answers"] == 3 * 2 * 2
    assert 0 < usage["model_calls"] + usage["cached_calls"] <= most_calls_of_judge(results)
    with zipfile.ZipFile(io.BytesIO(recorded)) as archive:
        before = json.loads(archive.read("results.json"))
    for name, side in results["sides"].items():
        answers = {(each["question_id"], each["run"]): each["answer"] for each in before["sides"][name]["answers"]}
        assert all(answers[each["question_id"], each["run"]] == each["answer"] for each in side["answers"])


def test_a_merge_queue_gets_its_answer(origin: Path, machine: Machine, api: GitHubDouble) -> None:
    pull = open_pull(origin, "from-memory")
    api.commits.add(pull.merge)
    check_out(origin, machine, pull.merge)
    event = payload("merge_group")
    event["merge_group"] |= {"base_sha": git(origin, "rev-parse", "main"), "head_sha": pull.merge}
    outcome = machine.run("merge_group", event, pull.merge)
    assert (outcome.code, outcome.outputs["verdict"]) == (1, "regression"), outcome.log
    assert machine.results()["usage"]["model_calls"] == 0
    assert [status["state"] for status in api.statuses(pull.merge)] == ["failure"]


def test_a_harmless_change_stays_green_and_replaces_the_comment(
    origin: Path, machine: Machine, api: GitHubDouble, docker_client: DockerClient
) -> None:
    """On a job's network, and with what a killed job left on this machine."""
    pull = open_pull(origin, "reworded")
    api.add_pull_request(NUMBER, pull.head, head="acme:reworded")
    check_out(origin, machine, pull.merge)
    owner = {"faithbot.owner": f"{REPOSITORY} on {machine.name}"}
    leftover = docker_client.containers.run(machine.ollama_image, detach=True, labels=owner)
    network = docker_client.networks.create("github_network_faithbot_test")
    try:
        outcome = machine.run("pull_request", opened(pull, "reworded"), pull.merge, network=network.name)
    finally:
        network.remove()
    assert outcome.code == 0, outcome.log
    assert leftover.id not in {container.id for container in docker_client.containers.list(all=True)}
    comment = comment_of(api)
    assert "### ✅" in comment
    assert "❌" not in comment
    assert "Judged again" not in comment  # it was about another commit
    assert api.statuses(pull.head)[0]["state"] == "success"
    assert "::error file" not in outcome.log


def test_nothing_changed_passes_in_seconds_without_any_model(origin: Path, machine: Machine, api: GitHubDouble) -> None:
    pull = open_pull(origin, "elsewhere")
    api.add_pull_request(NUMBER, pull.head, head="acme:elsewhere")
    check_out(origin, machine, pull.merge)
    outcome = machine.run("pull_request", opened(pull, "elsewhere"), pull.merge)
    assert outcome.code == 0, outcome.log
    assert "### ✅ Nothing that the answers depend on changed" in comment_of(api)
    assert "Ollama" not in outcome.log
    assert (outcome.outputs["verdict"], outcome.outputs["delta"]) == ("pass", "0.0000")


def test_a_broken_pull_request_is_told_where(origin: Path, machine: Machine, api: GitHubDouble) -> None:
    pull = open_pull(origin, "broken")
    api.add_pull_request(NUMBER, pull.head, head="acme:broken")
    check_out(origin, machine, pull.merge)
    outcome = machine.run("pull_request", opened(pull, "broken"), pull.merge)
    assert outcome.code == 64, outcome.log
    assert "### ⚪ Cannot tell: the evaluation could not be done" in comment_of(api)
    assert "prompts/answer.md" in comment_of(api)
    assert api.statuses(pull.head)[0]["state"] == "error"


def test_the_pull_request_that_introduces_faithbot(origin: Path, machine: Machine, api: GitHubDouble) -> None:
    git(origin, "branch", "--force", "before", git(origin, "commit-tree", f"{_empty_tree(origin)}", "-m", "Empty"))
    pull = open_pull(origin, "main", into="before")
    api.add_pull_request(NUMBER, pull.head, head="acme:main", base="before")
    check_out(origin, machine, pull.merge)
    outcome = machine.run("pull_request", opened(pull, "main"), pull.merge)
    assert (outcome.code, outcome.outputs["verdict"]) == (0, "first"), outcome.log
    assert machine.results()["usage"]["model_calls"] == 0  # answered by the push already
    assert "### ⚪ First evaluation: faithfulness" in comment_of(api)


def _empty_tree(repository: Path) -> str:
    return git(repository, "hash-object", "-t", "tree", "-w", "/dev/null")


def test_a_fork_is_evaluated_with_a_token_that_only_reads_and_published_by_a_second_workflow(
    origin: Path, machine: Machine, api: GitHubDouble
) -> None:
    pull = open_pull(origin, "from-memory")
    api.add_pull_request(NUMBER, pull.head, head="stranger:from-memory")
    before = comment_of(api)
    check_out(origin, machine, pull.merge)
    outcome = machine.run(
        "pull_request", opened(pull, "from-memory", kind="fork"), pull.merge, inputs={"token": "ghs_reader"}
    )
    assert outcome.code == 1, outcome.log
    assert "❌ Faithfulness fell by" in outcome.summary
    assert "faithbot publish" in outcome.log
    assert comment_of(api) == before

    event = payload("workflow_run")
    event["workflow_run"] |= {"head_sha": pull.head, "head_branch": "from-memory", "event": "pull_request"}
    event["workflow_run"]["head_repository"]["full_name"] = "stranger/handbook"
    published = machine.run("workflow_run", event, git(origin, "rev-parse", "main"))
    assert published.code == 0, published.log
    assert "### ❌ Faithfulness fell by" in comment_of(api)
    assert "had no permission to write here" in comment_of(api)


def test_a_cancelled_job_leaves_nothing_behind(origin: Path, machine: Machine, api: GitHubDouble) -> None:
    pull = open_pull(origin, "from-memory")
    check_out(origin, machine, pull.merge)
    writes = len(api.writes())
    with machine.started("pull_request", opened(pull, "from-memory"), pull.merge, inputs={"runs": "9"}) as step:
        step.wait_for("answers judged")
        cancelled = time.monotonic()
        step.cancel()
        outcome = step.wait()
    assert outcome.code == 130, outcome.log
    assert time.monotonic() - cancelled < 7.5
    assert len(api.writes()) == writes


def test_the_clean_up_removes_what_a_killed_job_could_not(origin: Path, machine: Machine) -> None:
    pull = open_pull(origin, "from-memory")
    check_out(origin, machine, pull.merge)
    with machine.started("pull_request", opened(pull, "from-memory"), pull.merge, inputs={"runs": "9"}) as step:
        step.wait_for("answers judged")
        subprocess.run(["docker", "kill", step.name], check=True, capture_output=True)
        outcome = step.wait()
    assert outcome.state
    post = machine.run(
        "pull_request", {}, pull.merge, entrypoint="/opt/faithbot/bin/faithbot-action-post", state=outcome.state
    )
    assert post.code == 0, post.log


def test_an_ollama_that_dies_in_the_middle_is_told_with_what_was_computed(
    origin: Path, machine: Machine, api: GitHubDouble, docker_client: DockerClient
) -> None:
    pull = open_pull(origin, "from-memory")
    api.add_pull_request(NUMBER, pull.head, head="acme:from-memory")
    check_out(origin, machine, pull.merge)
    with machine.started("pull_request", opened(pull, "from-memory"), pull.merge, inputs={"runs": "9"}) as step:
        step.wait_for("answers judged")
        [ollama] = docker_client.containers.list(filters={"label": f"faithbot.owner={REPOSITORY} on {machine.name}"})
        ollama.kill()
        outcome = step.wait()
    assert outcome.code == 2, outcome.log
    comment = comment_of(api)
    assert "### ⚪ Cannot tell: the evaluation could not be done" in comment
    assert "answers were judged before that" in comment
    assert "re-run the job" in comment
    assert (machine.workspace / "faithbot-report" / "ollama.log").read_text()


def test_a_run_on_a_schedule_measures_the_noise(origin: Path, machine: Machine, api: GitHubDouble) -> None:
    sha = git(origin, "rev-parse", "main")
    check_out(origin, machine, sha)
    writes = len(api.writes())
    outcome = machine.run("schedule", payload("schedule"), sha, inputs={"runs": "1", "fail-on": "never"})
    assert outcome.code == 0, outcome.log
    results = machine.results()
    assert {side["label"].partition(", ")[2] for side in results["sides"].values()} == {"run 1", "run 2"}
    assert results["usage"]["model_calls"] == 0  # two runs were answered by the push
    assert len(api.writes()) == writes


def test_a_runner_that_does_not_mount_its_temp_keeps_everything_in_the_home(
    origin: Path, machine: Machine, api: GitHubDouble, models_folder: Path, tmp_path: Path
) -> None:
    old = replace(machine, root=tmp_path, mounts_temp=False)
    old.models.parent.mkdir(parents=True)
    linked_copy(models_folder, old.models)
    pull = open_pull(origin, "reworded")
    api.add_pull_request(NUMBER, pull.head, head="acme:reworded")
    check_out(origin, old, pull.merge)
    outcome = old.run("pull_request", opened(pull, "reworded"), pull.merge)
    assert (outcome.code, outcome.outputs["verdict"]) == (0, "pass"), outcome.log
    assert outcome.log.count("this runner does not mount runner.temp into containers") == 1
    assert "smollm2:135m is there already" in outcome.log
    assert list((old.root / "home" / "faithbot" / "calls").iterdir())
