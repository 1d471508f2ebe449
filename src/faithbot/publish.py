"""The second half of a run that could not write: its recorded results, checked, rendered again and posted.

Pull requests from forks and from Dependabot run with a token that can only read. A workflow on ``workflow_run`` has one
that can write, and gets the recorded results as an artifact. Whoever opened the pull request could put anything into
that: it is read as data, held against the types, and everything that is shown is rendered and escaped here.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from faithbot.action.activity import NothingToDo
from faithbot.action.comment_section import compose_section
from faithbot.action.report_files import RESULTS_FILE
from faithbot.errors import EvaluationError, UsageError
from faithbot.github.api import Refused, open_repository
from faithbot.github.comment import keep_section, write_section
from faithbot.github.pull_requests import find_pull_requests
from faithbot.github.sections import MAIN
from faithbot.report.escape import escape_text
from faithbot.untrusted_results import MAX_BYTES, parse_results

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from faithbot.github.event import WorkflowRunEvent
    from faithbot.github.pull_requests import PullRequest
    from faithbot.github.runner import Runner
    from faithbot.github.sections import Section
    from faithbot.results import Results

ORIGIN = "> Measured by the run of the pull request itself, which had no permission to write here."
_LONGEST_CONCLUSION = 200


def publish(folder: Path, event: WorkflowRunEvent, runner: Runner, token: str | None, key: str) -> str | NothingToDo:
    """Post the results of another run on the pull request that it was about; the comment's address.

    Nothing is to do where no open pull request, or more than one, has the commit that the run was about.

    Raises:
        UsageError: no run of a pull request, or an artifact that is not what that run leaves.
        EvaluationError: GitHub refuses.
    """
    if not token:
        raise UsageError("publishing needs a token that can write `pull-requests`: none was given.")
    if event.event != "pull_request":
        raise UsageError(f"that run was started by `{event.event}`: only those of `pull_request` are published.")
    if event.head_owner is None or event.head_branch is None:
        return NothingToDo("the repository or branch of that run is gone, and its pull request with it")
    if not os.path.lexists(folder / RESULTS_FILE):
        return NothingToDo(f"that run left no {RESULTS_FILE}: it ended before it could, or had nothing to evaluate")
    results = read_results(folder)
    if results.head_commit != event.head_sha:
        raise UsageError(f"{folder / RESULTS_FILE} is not about {event.head_sha[:7]}, the commit of the run.")
    repository = open_repository(runner.repository, token, runner.api_url)
    found = find_pull_requests(repository, event.head_owner, event.head_branch, event.head_sha)
    if len(found) > 1:  # which of them only the artifact says: it can choose among those alone that have this commit
        found = [pull for pull in found if pull.number == results.pull_request] or found
    if len(found) != 1:
        return NothingToDo(_not_one(found, event))
    run_url = f"{runner.server_url}/{runner.repository}/actions/runs/{event.run_id}"
    section = _compose(results, event, run_url)
    posted = write_section(repository, found[0].number, key, section)
    if isinstance(posted, Refused):
        raise EvaluationError(posted.advice)
    keep_section(posted)  # where that is refused, the comment is posted all the same
    return posted.url


def _not_one(found: Sequence[PullRequest], event: WorkflowRunEvent) -> str:
    """Why it is not known where to post."""
    commit = event.head_sha[:7]
    if not found:
        return (
            f"no open pull request of {event.head_owner} is at commit {commit}: "
            "it has moved on, and its newer run is published instead, or it was closed"
        )
    numbers = " and ".join(f"#{pull.number}" for pull in found)
    return f"pull requests {numbers} come from one branch and are all at commit {commit}: the run does not say which"


def _doubt(results: Results, event: WorkflowRunEvent) -> Iterator[str]:
    """What passes in the artifact of a run that did not: the artifact may hold what the run never measured."""
    if results.verdict in ("pass", "first") and event.conclusion != "success":
        ended = escape_text(event.conclusion or "no conclusion", _LONGEST_CONCLUSION)
        yield f"> ⚠️ The run itself ended with “{ended}”, not with success: look at it before you rely on this result."


def read_results(folder: Path) -> Results:
    """The recorded results in a downloaded artifact; :class:`UsageError` for all that they cannot be."""
    path = folder / RESULTS_FILE
    return parse_results(_read_file(path), str(path))


def _read_file(path: Path) -> bytes:
    """The content of a plain file: a link could lead to the machine's own, and a pipe has no end."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.") from None
    try:
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode) or facts.st_size > MAX_BYTES:
            raise UsageError(f"{path} is no file of at most {MAX_BYTES // 1_000_000} MB.")
        with open(descriptor, "rb", closefd=False) as stream:
            return stream.read(MAX_BYTES)
    finally:
        os.close(descriptor)


def _compose(results: Results, event: WorkflowRunEvent, run_url: str) -> Section:
    try:
        return compose_section(results, MAIN, event.head_sha, run_url, [ORIGIN, *_doubt(results, event)])
    except Exception as error:  # noqa: BLE001 - each part has its type, but together they can be anything
        raise UsageError(
            f"{RESULTS_FILE} does not fit together: it cannot be rendered ({type(error).__name__})."
        ) from None
