"""A file of another run's artifact: of this repository's own run on the pull request, small, and whatever is in it."""

from __future__ import annotations

import io
import zipfile
from typing import TYPE_CHECKING, Any

import pytest

from faithbot.github.api import Refused
from faithbot.github.artifacts import ArtifactFile, read_artifact
from github_double import HEAD, Failure

if TYPE_CHECKING:
    from github.Repository import Repository

    from github_double import GitHubDouble

LIMIT = 1000


def archive(files: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as members:
        for name, content in files.items():
            members.writestr(name, content)
    return packed.getvalue()


RESULTS = archive({"report.md": b"# Report", "results.json": b"{}"})


def read(repository: Repository, commit: str = HEAD) -> ArtifactFile | Refused:
    return read_artifact(repository, commit, "faithbot-report", "results.json", LIMIT)


def advice(repository: Repository, commit: str = HEAD) -> str:
    refused = read(repository, commit)
    assert isinstance(refused, Refused)
    return refused.advice


def test_the_file_and_the_run_that_left_it(api: GitHubDouble, repository: Repository) -> None:
    page = api.add_artifact(HEAD, RESULTS)
    assert read(repository) == ArtifactFile(b"{}", page)


def test_the_newest_one_counts(api: GitHubDouble, repository: Repository) -> None:
    api.add_artifact(HEAD, RESULTS)
    newest = api.add_artifact(HEAD, archive({"results.json": b"[]"}))
    assert read(repository) == ArtifactFile(b"[]", newest)


@pytest.mark.parametrize(
    "other",
    [{"is_fork": True}, {"event": "push"}, {"event": "pull_request_target"}, {"expired": True}, {"name": "coverage"}],
    ids=str,
)
def test_others_are_passed_over(api: GitHubDouble, repository: Repository, other: dict[str, Any]) -> None:
    """A fork's run can leave what nobody has measured."""
    api.add_artifact(HEAD, RESULTS, **other)
    assert "no run of this repository on `pull_request` has left an artifact faithbot-report" in advice(repository)
    page = api.add_artifact(HEAD, RESULTS)
    api.add_artifact(HEAD, archive({"results.json": b"[]"}), **other)
    assert read(repository) == ArtifactFile(b"{}", page)


def test_another_commits_is_none(api: GitHubDouble, repository: Repository) -> None:
    api.add_artifact("b" * 40, RESULTS)
    assert "has left an artifact" in advice(repository)


def test_one_on_a_later_page_is_found(api: GitHubDouble, repository: Repository) -> None:
    page = api.add_artifact(HEAD, RESULTS)
    for _ in range(150):
        api.add_artifact("b" * 40, RESULTS)
    assert read(repository) == ArtifactFile(b"{}", page)


def test_a_missing_permission_is_one_line_of_advice(api: GitHubDouble, repository: Repository) -> None:
    api.add_token(permissions={"pull_requests": "write"})
    api.add_artifact(HEAD, RESULTS)
    assert advice(repository) == (
        "the answers that the pull request's own run recorded could not be read: the token lacks `actions: read`; add "
        "it under `permissions:` in the workflow"
    )


def test_an_api_that_fails_is_advice_too(api: GitHubDouble, repository: Repository) -> None:
    api.add_artifact(HEAD, RESULTS)
    api.failures.extend([Failure(502)] * 5)
    assert "GitHub answered 502" in advice(repository)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"no archive", "no archive that holds results.json"),
        (RESULTS[:-30], "no archive that holds results.json"),
        (archive({"report.md": b""}), "no archive that holds results.json"),
        (archive({"results.json": b"0" * (LIMIT + 1)}), "results.json of the recorded answers is larger than 1,000"),
        (archive({"results.json": b"0" * 10_000_000})[:LIMIT], "no archive that holds results.json"),
        (bytes(2_000_000), "is larger than 1,000 bytes"),
    ],
    ids=["no archive", "cut off", "other files", "bomb", "bomb, cut off", "too large"],
)
def test_what_is_no_such_archive_is_advice_and_is_not_unpacked(
    api: GitHubDouble, repository: Repository, content: bytes, problem: str
) -> None:
    api.add_artifact(HEAD, content)
    assert problem in advice(repository)


def test_damaged_bytes_in_the_middle_are_advice(api: GitHubDouble, repository: Repository) -> None:
    packed = bytearray(archive({"results.json": bytes(range(256)) * 3}))
    packed[60:120] = bytes(60)
    api.add_artifact(HEAD, bytes(packed))
    assert "no archive that holds results.json" in advice(repository)
