"""What a container writes as root belongs to the runner's user in the end."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from faithbot.action.ownership import hand_over, kept_folder, tell_what_is_not_kept
from runner_environment import make_runner

RUNNER = 1001 if os.getuid() == 0 else os.getuid()
"""Only root, which is who tests in a container are, can give a file to somebody else."""


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A folder of the runner's user, with what root wrote into it, and a file of somebody else's elsewhere."""
    (tmp_path / "outside.txt").write_text("mine")
    folder = tmp_path / "workspace"
    (folder / "report" / "deep").mkdir(parents=True)
    (folder / "report" / "deep" / "results.json").write_text("{}")
    (folder / "report" / "link").symlink_to(tmp_path / "outside.txt")
    (folder / "report" / "away").symlink_to(tmp_path)
    os.chown(folder, RUNNER, RUNNER)
    return folder


def test_everything_in_the_folder_is_handed_over(workspace: Path) -> None:
    hand_over(workspace / "report", like=workspace)
    assert {os.lstat(path).st_uid for path in workspace.rglob("*")} == {RUNNER}


def test_what_a_link_leads_to_stays_whose_it_is(workspace: Path) -> None:
    hand_over(workspace / "report", like=workspace)
    assert os.lstat(workspace.parent / "outside.txt").st_uid == os.getuid()
    assert os.lstat(workspace.parent).st_uid == os.getuid()


def test_a_folder_that_was_never_made_is_no_error(workspace: Path) -> None:
    hand_over(workspace / "nothing", like=workspace)


def test_a_link_in_place_of_the_folder_is_not_followed(workspace: Path) -> None:
    hand_over(workspace / "report" / "away", like=workspace)
    assert os.lstat(workspace.parent / "outside.txt").st_uid == os.getuid()


@pytest.mark.parametrize("folder", ["away/elsewhere", "report/away/elsewhere"])
def test_a_link_on_the_way_to_the_folder_is_not_followed(workspace: Path, folder: str) -> None:
    (workspace / "away").symlink_to(workspace.parent)
    elsewhere = workspace.parent / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "mine.txt").write_text("mine")
    hand_over(workspace / folder, like=workspace)
    assert {os.lstat(path).st_uid for path in (elsewhere, elsewhere / "mine.txt")} == {os.getuid()}


def test_links_that_lead_to_the_workspace_are_the_runners_own(workspace: Path) -> None:
    reached = workspace.parent / "link"
    reached.symlink_to(workspace)
    os.lchown(reached, RUNNER, RUNNER)
    hand_over(reached / "report", like=reached)
    assert os.lstat(workspace / "report" / "deep").st_uid == RUNNER


def test_what_is_kept_lies_in_the_folder_that_the_runner_shares(tmp_path: Path) -> None:
    (tmp_path / "temp").mkdir()
    runner, said = make_runner(tmp_path), list[str]()
    assert kept_folder(runner, {}, "FAITHBOT_MODELS", "models") == tmp_path / "temp" / "faithbot" / "models"
    assert kept_folder(runner, {"FAITHBOT_MODELS": "/m"}, "FAITHBOT_MODELS", "models") == Path("/m")
    tell_what_is_not_kept(runner, said.append)
    assert said == []


@pytest.mark.parametrize("temp", ["", "/home/runner/work/_nowhere"], ids=["not named", "named but not mounted"])
def test_without_one_it_lies_in_the_home_and_the_log_tells_what_that_costs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, temp: str
) -> None:
    monkeypatch.setenv("HOME", "/github/home")
    runner, said = make_runner(tmp_path, RUNNER_TEMP=temp), list[str]()
    assert kept_folder(runner, {}, "FAITHBOT_CACHE", "calls") == Path("/github/home/faithbot/calls")
    tell_what_is_not_kept(runner, said.append)
    assert said == [
        "this runner does not mount runner.temp into containers: models and calls are kept in /github/home and gone "
        "with the job, unless it caches ${{ runner.temp }}/_github_home/faithbot. Update the runner"
    ]
