"""The one comment that faithbot keeps on a pull request: found again by marker and author, and edited in place."""

from __future__ import annotations

from typing import TYPE_CHECKING

import requests
from github import GithubException, UnknownObjectException

from faithbot.github.api import Refused, attempt, own_login
from faithbot.github.retry import is_rate_limit
from faithbot.github.sections import Section, join_sections, marker, parse_sections, update_sections

if TYPE_CHECKING:
    from collections.abc import Iterable

    from github.IssueComment import IssueComment
    from github.Repository import Repository

PERMISSION = "pull-requests: write"
WORKFLOW_LOGIN = "github-actions[bot]"
"""Who a workflow's own token writes as."""
_ATTEMPTS = 3


def find_comment(repository: Repository, number: int, key: str) -> IssueComment | None:
    """The newest of our comments with this key on a pull request.

    Ours has the key's marker as its first line and was written by the token's own login. An app's token may not ask
    for its login: then the author must be an app, the workflow's own before any other. So a person's comment with a
    copied marker is never ours, unless the token is that person's.
    """
    return max(_ours(repository, number, key), key=lambda comment: comment.id, default=None)


def _ours(repository: Repository, number: int, key: str) -> list[IssueComment]:
    login = own_login(repository)
    marked = _marked(repository, number, key)
    if login is not None:
        return [comment for comment in marked if comment.user.login.casefold() == login.casefold()]
    by_apps = [comment for comment in marked if comment.user.type == "Bot"]
    by_workflows = [comment for comment in by_apps if comment.user.login == WORKFLOW_LOGIN]
    return by_workflows or by_apps


def write_section(repository: Repository, number: int, key: str, section: Section) -> str | Refused:
    """Replace one section of our comment, or add it. The comment's address, or why it could not be posted."""
    return attempt(
        "the comment could not be posted", PERMISSION, lambda: _edit_or_create(repository, number, key, section)
    )


def _marked(repository: Repository, number: int, key: str) -> list[IssueComment]:
    """Comments with the key's marker, whoever wrote them."""
    mark = marker(key)
    return [
        comment
        for comment in repository.get_issue(number).get_comments()
        if comment.user is not None and (comment.body or "").partition("\n")[0].rstrip("\r") == mark
    ]


def _with_section(bodies: Iterable[str], key: str, section: Section) -> str:
    """One body in place of several, of which the last has the newest sections."""
    sections: dict[str, Section] = {}
    for body in bodies:
        sections |= parse_sections(body)
    return join_sections(key, update_sections(sections, section))


def _remove(twins: Iterable[IssueComment]) -> None:
    """What a run that was cancelled between posting and joining has left."""
    for twin in twins:
        attempt("a second comment could not be deleted", PERMISSION, twin.delete)


def _edit_or_create(repository: Repository, number: int, key: str, section: Section) -> str:
    """Each try looks first: the comment may have been deleted meanwhile, or been created though no answer came."""
    for tries_left in reversed(range(_ATTEMPTS)):
        ours = sorted(_ours(repository, number, key), key=lambda each: each.id)
        comment = ours[-1] if ours else None
        try:
            if comment is None:
                return _create(repository, number, key, section)
            twins = [twin for twin in ours[:-1] if twin.user.login == comment.user.login]
            comment.edit(_with_section([*(twin.body for twin in twins), comment.body], key, section))
        except (GithubException, requests.RequestException) as error:
            if comment is not None and _is_another_apps(comment, error):
                return _create(repository, number, key, section)
            if tries_left == 0 or not _may_look_again(error, is_new=comment is None):
                raise
        else:
            _remove(twins)
            return comment.html_url
    raise AssertionError("the last try returns or raises")


def _create(repository: Repository, number: int, key: str, section: Section) -> str:
    created = repository.get_issue(number).create_comment(_with_section([], key, section))
    kept = attempt("two comments", PERMISSION, lambda: _into_oldest(repository, number, key, section, created))
    return created.html_url if isinstance(kept, Refused) else kept.html_url


def _into_oldest(
    repository: Repository, number: int, key: str, section: Section, created: IssueComment
) -> IssueComment:
    """Two runs at once may both have found no comment: what the later one posted moves into the earlier one's."""
    us = created.user.login, created.user.type
    ours = [each for each in _marked(repository, number, key) if (each.user.login, each.user.type) == us]
    oldest = min(ours, key=lambda comment: comment.id, default=created)
    if oldest.id == created.id:
        return created
    oldest.edit(_with_section([oldest.body], key, section))
    created.delete()
    return oldest


def _is_another_apps(comment: IssueComment, error: Exception) -> bool:
    """An app's token may not ask who it is, and finds out that a comment is not its own when it may not edit it."""
    is_refused = isinstance(error, GithubException) and error.status == 403 and not is_rate_limit(error)
    return is_refused and comment.user.type == "Bot" and comment.user.login != WORKFLOW_LOGIN


def _may_look_again(error: Exception, *, is_new: bool) -> bool:
    if not is_new:
        return isinstance(error, UnknownObjectException)
    return not isinstance(error, GithubException) or error.status >= 500
