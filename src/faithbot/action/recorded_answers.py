"""For another judge: the answers that a pull request's own run has recorded, out of the artifact that it left."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from faithbot.action.report_files import RESULTS_FILE
from faithbot.errors import UsageError
from faithbot.github.api import Refused
from faithbot.github.artifacts import read_artifact
from faithbot.rejudging import with_recorded_answers
from faithbot.untrusted_results import MAX_BYTES, parse_results

if TYPE_CHECKING:
    from github.Repository import Repository

    from faithbot.plan import Plan

ARTIFACT = "faithbot-report"
"""What the README's workflow calls it."""


@dataclass(frozen=True)
class RecordedAnswers:
    """A plan that has its answers, and the page of the run that they come from."""

    plan: Plan
    run_url: str

    @property
    def note(self) -> str:
        """What the reader must know."""
        return f"Judged are the answers of this pull request's own run ({self.run_url}): nothing was answered anew."


def use_recorded_answers(plan: Plan, repository: Repository, commit: str) -> RecordedAnswers | str:
    """The plan with the recorded answers of the pull request at ``commit``, or why it has to answer anew."""
    found = read_artifact(repository, commit, ARTIFACT, RESULTS_FILE, MAX_BYTES)
    if isinstance(found, Refused):
        return found.advice
    try:
        results = parse_results(found.content, RESULTS_FILE)
    except UsageError as error:
        return str(error)
    if results.head_commit != commit:
        return f"{RESULTS_FILE} is not about {commit[:7]}"
    recorded = with_recorded_answers(plan, results)
    if isinstance(recorded, str):
        return f"the answers that {found.run_url} recorded do not fit: {recorded}"
    return RecordedAnswers(recorded, found.run_url)
