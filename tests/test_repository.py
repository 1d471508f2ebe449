"""Both sides are read out of git, without a second checkout and never from outside the repository."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from faithbot.errors import EvaluationError, UsageError
from faithbot.repository import MAX_FILE_BYTES, decode, find_root, join_inside, open_snapshot, read_text
from git_repository import commit_all, git, make_repository, write_files

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    return make_repository(
        tmp_path / "repo",
        {"docs/a.md": "on main\n", "docs/ü nïcode.md": "ünïcode\n"},
        {"feature": {"docs/a.md": "on feature\n", "docs/b.md": "new\n"}},
    )


def test_each_ref_shows_its_own_files(repository: Path) -> None:
    main, feature = open_snapshot(repository, "main"), open_snapshot(repository, "feature")
    assert list(main.files()) == ["docs/a.md", "docs/ü nïcode.md"]
    assert list(feature.files()) == ["docs/a.md", "docs/b.md", "docs/ü nïcode.md"]
    assert read_text(main, "docs/a.md") == "on main\n"
    assert read_text(feature, "docs/a.md") == "on feature\n"
    assert read_text(main, "docs/ü nïcode.md") == "ünïcode\n"


def test_many_files_are_read_at_once_in_the_order_asked(repository: Path) -> None:
    feature = open_snapshot(repository, "feature")
    assert feature.read_many(["docs/b.md", "docs/a.md"]) == {"docs/b.md": b"new\n", "docs/a.md": b"on feature\n"}


def test_equal_files_have_equal_ids_in_a_commit_and_in_the_working_tree(repository: Path) -> None:
    assert open_snapshot(repository, None).files() == open_snapshot(repository, "main").files()


def test_the_working_tree_shows_what_a_commit_of_everything_would_hold(repository: Path) -> None:
    write_files(repository, {".gitignore": "*.log\n", "x.log": "ignored", "new.md": "untracked", "docs/a.md": None})
    tree = open_snapshot(repository, None)
    assert list(tree.files()) == [".gitignore", "docs/ü nïcode.md", "new.md"]
    assert tree.commit is None
    assert tree.label == "working tree"


def test_a_snapshot_names_its_commit(repository: Path) -> None:
    snapshot = open_snapshot(repository, "feature")
    assert snapshot.commit == git(repository, "rev-parse", "feature")
    assert snapshot.label == "feature"


def test_symbolic_links_are_not_files(repository: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.md"
    secret.write_text("outside")
    os.symlink(secret, repository / "docs" / "link.md")
    os.symlink(tmp_path, repository / "folder")
    commit_all(repository, "links")
    for ref in (None, "main"):
        snapshot = open_snapshot(repository, ref)
        assert list(snapshot.files()) == ["docs/a.md", "docs/ü nïcode.md"]
        with pytest.raises(UsageError, match=r"docs/link\.md does not exist on .* \(as a regular file"):
            read_text(snapshot, "docs/link.md")


def test_a_file_below_a_folder_that_became_a_link_is_not_read(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "a.md").write_text("outside")
    for path in (repository / "docs").iterdir():
        path.unlink()
    (repository / "docs").rmdir()
    os.symlink(tmp_path / "outside", repository / "docs")
    assert "docs/a.md" not in open_snapshot(repository, None).files()


def test_a_file_that_is_too_large_is_named_with_its_size(repository: Path) -> None:
    write_files(repository, {"docs/big.md": b"x" * (MAX_FILE_BYTES + 1)})
    commit_all(repository, "big")
    for ref, label in ((None, "working tree"), ("main", "main")):
        with pytest.raises(UsageError, match=rf"docs/big\.md \({label}\) has 10 MB, the limit is 10 MB"):
            read_text(open_snapshot(repository, ref), "docs/big.md")


def test_a_branch_that_only_the_remote_has_is_found(repository: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "--quiet", str(repository), "clone")
    assert open_snapshot(tmp_path / "clone", "feature").commit == git(repository, "rev-parse", "feature")


def test_an_unknown_ref_is_named(repository: Path) -> None:
    with pytest.raises(UsageError, match="'nowhere' is not a commit"):
        open_snapshot(repository, "nowhere")


def test_a_ref_cannot_be_an_option_of_git(repository: Path) -> None:
    with pytest.raises(UsageError, match="not a git ref"):
        open_snapshot(repository, "--output=x")


def test_a_shallow_clone_without_the_base_says_how_to_fetch_it(repository: Path, tmp_path: Path) -> None:
    first = git(repository, "rev-parse", "main")
    write_files(repository, {"later.md": "later"})
    commit_all(repository, "later")
    git(tmp_path, "clone", "--quiet", "--depth=1", f"file://{repository}", "shallow")
    with pytest.raises(EvaluationError, match=r"not in this shallow clone: run `git fetch --depth=1 origin"):
        open_snapshot(tmp_path / "shallow", first)


def test_a_folder_without_git_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not in a git repository: name one with --repo"):
        find_root(tmp_path)
    with pytest.raises(UsageError, match="is not a folder"):
        find_root(tmp_path / "missing")


def test_the_root_is_found_from_a_folder_inside(repository: Path) -> None:
    assert find_root(repository / "docs") == repository.resolve()


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"plain\r\nlines\r", "plain\nlines\n"),
        (b"\xef\xbb\xbfmarked", "marked"),
        ("sechzehn ✓".encode("utf-16"), "sechzehn ✓"),
        (b"", ""),
    ],
)
def test_text_files_are_decoded(data: bytes, text: str) -> None:
    assert decode(data, "x.md", "main") == text


def test_a_file_that_is_not_text_is_named_with_its_line() -> None:
    with pytest.raises(UsageError, match=r"x\.md \(main\), line 2: not valid UTF-8"):
        decode(b"fine\n\xff\xfe", "x.md", "main")
    with pytest.raises(UsageError, match=r"x\.md \(main\) is not a text file"):
        decode(b"a\0b", "x.md", "main")


@pytest.mark.parametrize(
    ("folder", "path", "joined"),
    [("", "a.md", "a.md"), ("evals", "../docs/*.md", "docs/*.md"), ("a/b", "./c", "a/b/c"), ("", "a//b", "a/b")],
)
def test_paths_are_relative_to_the_configuration(folder: str, path: str, joined: str) -> None:
    assert join_inside(folder, path, "golden") == joined


@pytest.mark.parametrize(("folder", "path"), [("", "../x"), ("a", "../../x"), ("", "/etc/passwd"), ("", "."), ("", "")])
def test_paths_cannot_leave_the_repository(folder: str, path: str) -> None:
    with pytest.raises(UsageError, match=r"^golden: "):
        join_inside(folder, path, "golden")
