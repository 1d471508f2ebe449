"""A file out of the artifact that another run of this repository left."""

from __future__ import annotations

import io
import zipfile
import zlib
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

import requests

from faithbot.github.api import Refused, attempt

if TYPE_CHECKING:
    from github.Artifact import Artifact
    from github.Repository import Repository
    from github.WorkflowRun import WorkflowRun

PERMISSION = "actions: read"
_MOST_LISTED = 300
"""GitHub lists the newest artifacts first: what is further down is of long ago."""
_PIECE = 1 << 20
_TIMEOUT = 30
"""Seconds for a connection, and for each part of an answer."""


@dataclass(frozen=True)
class ArtifactFile:
    """A file's content, and the page of the run that left it."""

    content: bytes
    run_url: str


def read_artifact(repository: Repository, commit: str, artifact: str, file: str, limit: int) -> ArtifactFile | Refused:
    """One file, of at most ``limit`` bytes, of the newest artifact of a pull request at ``commit``.

    Only of a run on `pull_request` whose head is in this very repository: what a fork's run leaves could have been made
    up by somebody who may not write here.
    """
    what = "the answers that the pull request's own run recorded could not be read"
    found = attempt(what, PERMISSION, lambda: _newest(repository, commit, artifact))
    if isinstance(found, Refused):
        return found
    if found is None:
        return Refused(f"no run of this repository on `pull_request` has left an artifact {artifact} at {commit[:7]}")
    left, run = found
    archive = attempt(what, PERMISSION, lambda: _download(repository, left, limit))
    if isinstance(archive, Refused):
        return archive
    content = _unpack(archive, file, limit)
    return content if isinstance(content, Refused) else ArtifactFile(content, run.html_url)


def _newest(repository: Repository, commit: str, name: str) -> tuple[Artifact, WorkflowRun] | None:
    for artifact in islice(repository.get_artifacts(name=name), _MOST_LISTED):
        of = artifact.workflow_run
        if artifact.expired or of is None or of.head_sha != commit or of.head_repository_id != of.repository_id:
            continue
        run = repository.get_workflow_run(of.id)
        if run.event == "pull_request":
            return artifact, run
    return None


def _download(repository: Repository, artifact: Artifact, limit: int) -> bytes:
    """The archive, or its first ``limit`` bytes and a few. GitHub sends us on to a storage that must not get the token.

    PyGithub refuses to follow to another host.
    """
    auth = repository.requester.auth
    asked = requests.get(
        artifact.archive_download_url,
        headers={"Authorization": f"Bearer {auth.token}"} if auth else {},
        allow_redirects=False,
        timeout=_TIMEOUT,
    )
    if asked.status_code != requests.codes.found:
        raise repository.requester.createException(asked.status_code, dict(asked.headers), {"message": asked.reason})
    content = b""
    with requests.get(asked.headers.get("Location", ""), stream=True, timeout=_TIMEOUT) as answer:
        answer.raise_for_status()
        for piece in answer.iter_content(_PIECE):
            content += piece
            if len(content) > limit:
                break
    return content


def _unpack(archive: bytes, file: str, limit: int) -> bytes | Refused:
    """The file, read no further than ``limit`` whatever the archive says of its size."""
    if len(archive) > limit:
        return Refused(f"the artifact with the recorded answers is larger than {limit:,} bytes")
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as members, members.open(file) as stream:
            content = stream.read(limit + 1)
    except (zipfile.BadZipFile, zlib.error, KeyError, EOFError, RuntimeError, NotImplementedError, ValueError):
        return Refused(f"the artifact with the recorded answers is no archive that holds {file}")
    if len(content) > limit:
        return Refused(f"{file} of the recorded answers is larger than {limit:,} bytes")
    return content
