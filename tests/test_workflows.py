"""This repository's workflows, and those that the README offers to copy: pinned, bounded, least privileged."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[1]
FILES = sorted((ROOT / ".github/workflows").glob("*.yml"))
README = (ROOT / "README.md").read_text(encoding="utf-8")
OFFERED = re.findall(r"^```yaml\n(name: .*?)^```", README, re.DOTALL | re.MULTILINE)
OWN_ACTION = re.compile(r"(uses: [\w.-]+/faithbot)@v\d+$", re.MULTILINE)
"""The action itself is offered by its major tag, whose action.yml names the image by digest."""
ALL = [
    *(pytest.param(path.read_text(encoding="utf-8"), id=path.stem) for path in FILES),
    *(pytest.param(text, id=f"README: {text.splitlines()[0]}") for text in OFFERED),
]

every_workflow = pytest.mark.parametrize("text", ALL)


def jobs(text: str) -> list[dict[str, Any]]:
    return list(yaml.safe_load(text)["jobs"].values())


def steps(text: str) -> list[dict[str, Any]]:
    return [step for job in jobs(text) for step in job["steps"]]


@every_workflow
def test_every_action_is_pinned_by_commit_and_names_its_version(text: str) -> None:
    used = re.findall(r"^\s*(?:- )?uses: (.*)", OWN_ACTION.sub("", text), re.MULTILINE)
    pinned = r"\./|[\w.-]+(/[\w.-]+)+@[0-9a-f]{40} # v\d+\.\d+\.\d+"
    assert [each for each in used if not re.fullmatch(pinned, each)] == []


def test_an_action_is_pinned_to_the_same_commit_everywhere() -> None:
    pins = re.findall(r"uses: ([\w.-]+/[\w.-]+)\S*@([0-9a-f]{40} # \S+)", "".join(param.values[0] for param in ALL))
    assert len(set(pins)) == len({action for action, _ in pins})


@every_workflow
def test_a_job_may_do_nothing_that_it_does_not_ask_for(text: str) -> None:
    assert yaml.safe_load(text)["permissions"] == {}
    for job in jobs(text):
        assert job["permissions"]
        assert "write-all" not in job["permissions"]


@every_workflow
def test_every_job_ends_some_day(text: str) -> None:
    assert all(job["timeout-minutes"] <= 120 for job in jobs(text))
    assert yaml.safe_load(text)["concurrency"]


@every_workflow
def test_no_checkout_leaves_a_token_behind(text: str) -> None:
    for step in steps(text):
        if step.get("uses", "").startswith("actions/checkout@"):
            assert step["with"]["persist-credentials"] is False


@every_workflow
def test_no_script_contains_what_somebody_else_wrote(text: str) -> None:
    assert not any("${{" in step.get("run", "") for step in steps(text))


def test_the_workflow_after_a_run_executes_nothing_of_it() -> None:
    text = (ROOT / ".github/workflows/publish.yml").read_text(encoding="utf-8")
    assert not any("ref" in step.get("with", {}) or "run" in step for step in steps(text))


def test_what_publishes_for_strangers_sets_no_status() -> None:
    for text in (param.values[0] for param in ALL):
        if yaml.safe_load(text)["name"] == "publish":
            assert all("statuses" not in job["permissions"] for job in jobs(text))


def test_the_readme_offers_the_workflows_to_copy_at_most_20_lines_each() -> None:
    names = {yaml.safe_load(text)["name"] for text in OFFERED}
    assert names == {"faithbot", "publish", "stronger judge"}
    assert all(len(text.splitlines()) <= 20 for text in OFFERED)


def test_what_is_offered_runs_on_the_same_events_as_our_own() -> None:
    own = {yaml.safe_load(path.read_text())["name"]: yaml.safe_load(path.read_text())[True] for path in FILES}
    for text in OFFERED:
        workflow = yaml.safe_load(text)
        assert set(workflow[True]) <= set(own[workflow["name"]])


@pytest.fixture
def offered(tmp_path: Path) -> Path:
    """A repository with the offered workflows; the tag of the action itself stands for its commit."""
    folder = tmp_path / ".github/workflows"
    folder.mkdir(parents=True)
    for number, text in enumerate(OFFERED):
        (folder / f"{number}.yml").write_text(OWN_ACTION.sub(rf"\1@{'0' * 40} # v1.0.0", text), encoding="utf-8")
    return tmp_path


def test_zizmor_finds_nothing_in_what_is_offered(offered: Path) -> None:
    zizmor = Path(sys.executable).with_name("zizmor")
    strictest = ["--offline", "--strict-collection", "--persona", "auditor"]
    # "Informational" is a job without a name of its own, for which the 20 lines have no room.
    command = [zizmor, "--quiet", *strictest, "--min-severity", "low", offered]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.skipif(shutil.which("npx") is None, reason="actionlint comes by npx")
def test_actionlint_finds_nothing_in_what_is_offered(offered: Path) -> None:
    (command,) = re.findall(r"^\t(npx .*)", (ROOT / "Makefile").read_text(), re.MULTILINE)
    done = subprocess.run(shlex.split(command), cwd=offered, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
