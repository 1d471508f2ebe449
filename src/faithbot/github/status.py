"""A commit status: the verdict as one line beside a commit, for checks that are not the job itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from github.GithubObject import NotSet

from faithbot.github.api import Refused, attempt
from faithbot.plain_text import plain

if TYPE_CHECKING:
    from github.Repository import Repository

State = Literal["error", "failure", "pending", "success"]

PERMISSION = "statuses: write"
LONGEST_DESCRIPTION = 140
"""GitHub refuses more characters."""


def set_status(
    repository: Repository, commit: str, state: State, description: str, target_url: str | None, context: str
) -> Refused | None:
    """Set the status that ``context`` names on a commit; None when done, else why it could not be set.

    A description above 140 characters is cut after a word, with an ellipsis.
    """

    def create() -> None:
        repository.get_commit(commit).create_status(
            state=state,
            target_url=NotSet if target_url is None else target_url,
            description=plain(description, LONGEST_DESCRIPTION),
            context=context,
        )

    return attempt(f"the status on {commit[:7]} could not be set", PERMISSION, create)
