"""Both sides are read out of git, without a second checkout and never from outside the repository."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from faithbot.errors import EvaluationError, UsageError
from faithbot.git import git_environment, run_git
from faithbot.repository import commits_missing, config_path, find_root, join_inside, open_snapshot
from faithbot.snapshots import MAX_FILE_BYTES
from faithbot.text_files import decode, read_text
from git_repository import commit_all, git, make_repository, write_files


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    return make_repository(
        tmp_path / "repo",
        {"docs/a.md": "on main\n", "docs/ü nïcode.md": "ünïcode\n"},
        {"feature": {"docs/a.md": "on feature\n", "docs/b.md": "new\n"}},
    )


def test_each_ref_shows_its_own_files(repository: Path) -> None:
    main, feature = open_snapshot(repository, "main"), open_snapshot(repository, "feature")
    assert list(main.paths()) == ["docs/a.md", "docs/ü nïcode.md"]
    assert list(feature.paths()) == ["docs/a.md", "docs/b.md", "docs/ü nïcode.md"]
    assert read_text(main, "docs/a.md") == "on main\n"
    assert read_text(feature, "docs/a.md") == "on feature\n"
    assert read_text(main, "docs/ü nïcode.md") == "ünïcode\n"


def test_many_files_are_read_at_once_in_the_order_asked(repository: Path) -> None:
    feature = open_snapshot(repository, "feature")
    assert feature.read_many(["docs/b.md", "docs/a.md"]) == {"docs/b.md": b"new\n", "docs/a.md": b"on feature\n"}


@pytest.mark.parametrize("object_format", ["sha1", "sha256"])
def test_equal_files_have_equal_ids_in_a_commit_and_in_the_working_tree(tmp_path: Path, object_format: str) -> None:
    git(tmp_path, "init", "--quiet", f"--object-format={object_format}", "--initial-branch=main")
    write_files(tmp_path, {"a.md": "a", "empty.md": "", "ü.md": "ü" * 1000})
    commit_all(tmp_path, "files")
    commit, tree = open_snapshot(tmp_path, "main"), open_snapshot(tmp_path, None)
    assert tree.content_ids(tree.paths()) == commit.content_ids(commit.paths())
    write_files(tmp_path, {"a.md": "b"})
    assert tree.content_ids(["a.md"]) != commit.content_ids(["a.md"])


def test_names_may_hold_what_git_would_quote(repository: Path) -> None:
    names = ['"quoted".md', " spaces .md", "back\\slash.md", "new\nline.md", "tab\t.md"]
    write_files(repository, dict.fromkeys(names, "text"))
    commit_all(repository, "names")
    commit, tree = open_snapshot(repository, "main"), open_snapshot(repository, None)
    assert set(names) < set(commit.paths())
    assert commit.paths() == tree.paths() == tuple(sorted(commit.paths()))
    assert commit.content_ids(names) == tree.content_ids(names)
    assert commit.read_many(names) == tree.read_many(names) == dict.fromkeys(names, b"text")


def test_a_name_that_is_not_utf8_is_not_in_a_snapshot(repository: Path) -> None:
    Path(os.fsdecode(os.fsencode(repository) + b"/docs/caf\xe9.md")).write_text("latin")
    commit_all(repository, "latin")
    for ref in (None, "main"):
        assert list(open_snapshot(repository, ref).paths()) == ["docs/a.md", "docs/ü nïcode.md"]


def test_a_hooks_environment_leads_to_no_other_repository(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = make_repository(tmp_path / "other", {"other.md": "other"})
    for name in git(repository, "rev-parse", "--local-env-vars").split():
        monkeypatch.setenv(name, str(other / ".git"))
        assert name not in git_environment()
    assert find_root(repository / "docs") == repository
    for ref in (None, "main"):
        assert list(open_snapshot(repository, ref).paths()) == ["docs/a.md", "docs/ü nïcode.md"]


def test_the_working_tree_shows_what_a_commit_of_everything_would_hold(repository: Path) -> None:
    write_files(repository, {".gitignore": "*.log\n", "x.log": "ignored", "new.md": "untracked", "docs/a.md": None})
    tree = open_snapshot(repository, None)
    assert list(tree.paths()) == [".gitignore", "docs/ü nïcode.md", "new.md"]
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
        assert list(snapshot.paths()) == ["docs/a.md", "docs/ü nïcode.md"]
        with pytest.raises(UsageError, match=r"docs/link\.md does not exist on .* \(as a regular file"):
            read_text(snapshot, "docs/link.md")


def test_what_is_no_regular_file_is_not_taken_for_missing(repository: Path, tmp_path: Path) -> None:
    module = make_repository(tmp_path / "module", {"x.md": "x"})
    git(repository, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(module), "module")
    os.symlink("docs/a.md", repository / "link.md")
    os.symlink("docs", repository / "folder")
    commit_all(repository, "links")
    for ref in (None, "main"):
        snapshot = open_snapshot(repository, ref)
        assert snapshot.has("docs/a.md")
        assert not snapshot.has("docs/missing.md")
        for path, culprit in {
            "link.md": "link.md",
            "module": "module",
            "module/x.md": "module",
            "folder/a.md": "folder",
            "docs": "docs",
        }.items():
            with pytest.raises(
                UsageError, match=rf"^{path} is no regular file on .*: {culprit} is a symbolic link, a "
            ):
                snapshot.has(path)


def test_a_file_below_a_folder_that_became_a_link_is_not_read(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "a.md").write_text("outside")
    for path in (repository / "docs").iterdir():
        path.unlink()
    (repository / "docs").rmdir()
    os.symlink(tmp_path / "outside", repository / "docs")
    tree = open_snapshot(repository, None)
    assert "docs/a.md" not in tree.paths()
    with pytest.raises(UsageError, match=r"docs/a\.md is no regular file on working tree: docs is a symbolic link"):
        tree.has("docs/a.md")


def test_a_file_that_vanishes_after_it_was_listed_is_named(repository: Path) -> None:
    tree = open_snapshot(repository, None)
    assert tree.has("docs/a.md")
    write_files(repository, {"docs/a.md": None})
    for read in (tree.read_many, tree.content_ids):
        with pytest.raises(UsageError, match=r"docs/a\.md \(working tree\) cannot be read: No such file"):
            read(["docs/a.md"])


def test_a_clone_that_lacks_a_files_content_says_so(repository: Path) -> None:
    blob = git(repository, "rev-parse", "main:docs/a.md")
    (repository / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    main = open_snapshot(repository, "main")
    assert read_text(main, "docs/ü nïcode.md") == "ünïcode\n"
    with pytest.raises(EvaluationError, match=r"docs/a\.md \(main\): the clone lacks its content"):
        read_text(main, "docs/a.md")


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


def test_a_ref_with_a_slip_is_told_the_one_that_was_meant(repository: Path) -> None:
    with pytest.raises(UsageError, match=r"'mian' is not a commit, branch or tag of .*: did you mean 'main'"):
        open_snapshot(repository, "mian")


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
    with pytest.raises(
        UsageError, match="is not in a git repository: make one with `git init`, or name one with --repo"
    ):
        find_root(tmp_path)
    with pytest.raises(UsageError, match="is not a folder"):
        find_root(tmp_path / "missing")


def test_the_root_is_found_from_a_folder_inside(repository: Path) -> None:
    assert find_root(repository / "docs") == repository.resolve()


def test_gits_own_folder_is_no_place_to_start(repository: Path) -> None:
    with pytest.raises(UsageError, match=r"is git's own folder: name the repository's top level with --repo"):
        find_root(repository / ".git")


def test_a_bare_repository_has_commits_and_no_working_tree(repository: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "--quiet", "--bare", str(repository), "bare.git")
    root = find_root(tmp_path / "bare.git")
    assert root == tmp_path / "bare.git"
    assert read_text(open_snapshot(root, "feature"), "docs/b.md") == "new\n"
    with pytest.raises(UsageError, match=r"is a bare repository, without .* with --head"):
        open_snapshot(root, None)


@pytest.mark.parametrize(
    ("folder", "given", "path"),
    [
        ("", "faithbot.yaml", "faithbot.yaml"),
        ("", "./faithbot.yaml", "faithbot.yaml"),
        ("docs", "faithbot.yaml", "faithbot.yaml"),
        ("docs", "./evals//faithbot.yaml", "evals/faithbot.yaml"),
        ("docs", "evals/../faithbot.yaml", "faithbot.yaml"),
        ("docs", "../faithbot.yaml", "faithbot.yaml"),
        ("docs", "../../repo/faithbot.yaml", "faithbot.yaml"),
        ("docs", "..faithbot.yaml", "..faithbot.yaml"),
    ],
)
def test_a_configuration_is_named_from_the_root(repository: Path, folder: str, given: str, path: str) -> None:
    assert config_path(repository, repository / folder, given) == path


def test_a_configuration_may_be_named_by_its_absolute_path(repository: Path, tmp_path: Path) -> None:
    os.symlink(repository, tmp_path / "link to repo")
    for start in (repository, tmp_path / "link to repo"):
        assert config_path(repository, tmp_path, str(start / "docs" / "faithbot.yaml")) == "docs/faithbot.yaml"


def test_a_relative_folder_of_the_repository_counts_from_where_the_command_runs(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repository / "docs")
    assert config_path(repository, Path("."), "../faithbot.yaml") == "faithbot.yaml"


@pytest.mark.parametrize("given", ["../faithbot.yaml", "..", "", "{root}", "{root}/../faithbot.yaml", "/etc/passwd"])
def test_a_configuration_outside_the_repository_is_refused(repository: Path, given: str) -> None:
    with pytest.raises(UsageError, match=r"^--config '.*' is no file inside .*: name it from there"):
        config_path(repository, repository, given.format(root=repository))


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


def test_a_pointer_of_git_lfs_is_not_taken_for_the_text_that_it_stands_for() -> None:
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'4d7a' * 16}\nsize 12345\n"
    with pytest.raises(UsageError, match=r"^x\.md \(main\) is a pointer of Git LFS, .* \.gitattributes"):
        decode(pointer.encode(), "x.md", "main")
    assert decode(b"Git LFS begins a file with\n\n    " + pointer.encode(), "x.md", "main").endswith(pointer)
    manual = pointer + "Such a file is a pointer.\n" * 40
    assert decode(manual.encode(), "x.md", "main") == manual


def test_a_partial_clone_that_cannot_fetch_names_the_cure(repository: Path, tmp_path: Path) -> None:
    git(repository, "config", "uploadpack.allowFilter", "true")
    url = f"file://{repository}"
    git(tmp_path, "clone", "--quiet", "--filter=blob:none", "--no-checkout", url, "partial")
    git(tmp_path / "partial", "remote", "set-url", "origin", f"file://{tmp_path}/private")
    with pytest.raises(EvaluationError, match=r"partial clone.* leaving `filter` and `sparse-checkout` out"):
        read_text(open_snapshot(tmp_path / "partial", "main"), "docs/a.md")


def test_a_damaged_object_ends_in_gits_own_words(tmp_path: Path) -> None:
    damaged = make_repository(tmp_path / "damaged", {"large.md": "A line of some length, again and again.\n" * 9999})
    name = git(damaged, "rev-parse", "main:large.md")
    loose = damaged / ".git" / "objects" / name[:2] / name[2:]
    loose.chmod(0o644)
    os.truncate(loose, loose.stat().st_size // 2)
    with pytest.raises(EvaluationError, match=r"^git cat-file: fatal: "):
        read_text(open_snapshot(damaged, "main"), "large.md")


@pytest.mark.parametrize("hook", ["reference-transaction", "post-index-change"])
def test_no_hook_of_the_repository_runs(repository: Path, hook: str) -> None:
    script = repository / ".git" / "hooks" / hook
    script.write_text(f"#!/bin/sh\ntouch {repository}/ran\n")
    script.chmod(0o755)
    run_git(repository, "update-ref", "refs/heads/other", "main")
    run_git(repository, "update-index", "--refresh")
    assert not (repository / "ran").exists()


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


def test_commits_of_base_that_head_lacks_are_counted(repository: Path) -> None:
    feature = git(repository, "rev-parse", "feature")
    assert commits_missing(repository, feature, git(repository, "rev-parse", "main")) == 0
    write_files(repository, {"later.md": "later"})
    later = commit_all(repository, "later")
    assert commits_missing(repository, feature, later) == 1
    assert commits_missing(repository, None, feature) == 1
    assert commits_missing(repository, "0" * 40, later) == 0
