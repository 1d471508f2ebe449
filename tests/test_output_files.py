"""What a command writes is checked early, whole, and never led elsewhere by a link."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from faithbot.errors import UsageError
from faithbot.output_files import OutputFile, default_results_file

if TYPE_CHECKING:
    from pathlib import Path


def test_folders_are_made_and_contents_replaced(tmp_path: Path) -> None:
    file = OutputFile(tmp_path / "a" / "b" / "results.json")
    file.write("one")
    file.write("two")
    assert (tmp_path / "a" / "b" / "results.json").read_text() == "two"
    assert [path.name for path in (tmp_path / "a" / "b").iterdir()] == ["results.json"]


def test_what_cannot_be_written_is_said_before_the_work(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="it is a folder"):
        OutputFile(tmp_path)
    with pytest.raises(UsageError, match=r"cannot write .*file/results\.json: "):
        OutputFile(tmp_path / "file" / "results.json")


def test_a_link_in_the_place_of_the_file_is_replaced_not_followed(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("precious")
    link = tmp_path / "results.json"
    link.symlink_to(precious)
    OutputFile(link).write("results")
    assert precious.read_text() == "precious"
    assert (link.is_symlink(), link.read_text()) == (False, "results")


def test_the_default_is_a_folder_that_git_ignores(tmp_path: Path) -> None:
    default_results_file(tmp_path).write("{}")
    assert (tmp_path / ".faithbot" / ".gitignore").read_text() == "*\n"
    assert (tmp_path / ".faithbot" / "results.json").read_text() == "{}"


def test_a_pull_request_cannot_lead_the_default_folder_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "victim").mkdir()
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / ".faithbot").symlink_to(tmp_path / "victim")
    with pytest.raises(UsageError, match="is a link: remove it, or name a file with --json"):
        default_results_file(tmp_path / "root")
    assert list((tmp_path / "victim").iterdir()) == []
