"""The one comment that faithbot keeps on a pull request: found again by marker and author, and edited in place."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import requests
from github import GithubException, UnknownObjectException
from github.IssueComment import IssueComment

from faithbot.github.api import Refused, attempt, own_login
from faithbot.github.retry import is_rate_limit
from faithbot.github.sections import (
    Section,
    is_lost,
    join_sections,
    marker,
    parse_sections,
    restore_section,
    update_sections,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Set

    from github.Repository import Repository

PERMISSION = "pull-requests: write"
WORKFLOW_LOGIN = "github-actions[bot]"
"""Who a workflow's own token writes as."""
_ATTEMPTS = 3
_RESTORATIONS = 3
"""How often a section is written again that others overwrite. Each is one request to look and one to write."""


@dataclass(frozen=True)
class Written:
    """A section that was written into our comment."""

    comment: IssueComment
    key: str
    section: Section
    """As GitHub keeps it."""
    before: Mapping[str, Section]
    """The comment's sections as they were then."""
    at: float
    """Seconds on the monotonic clock."""

    @property
    def url(self) -> str:
        """Where people see the comment."""
        return self.comment.html_url


def find_comment(repository: Repository, number: int, key: str) -> IssueComment | None:
    """The newest of our comments with this key on a pull request.

    Ours has the key's marker as its first line and was written by the token's own login. An app's token may not ask
    for its login: then the author must be an app, the workflow's own before any other. So a person's comment with a
    copied marker is never ours, unless the token is that person's.
    """
    return max(_ours(repository, number, key), key=lambda comment: comment.id, default=None)


def write_section(repository: Repository, number: int, key: str, section: Section) -> Written | Refused:
    """Replace one section of our comment, or add it. What was written, or why it could not be posted."""
    return attempt(
        "the comment could not be posted", PERMISSION, lambda: _edit_or_create(repository, number, key, section)
    )


def keep_section(written: Written) -> Refused | None:
    """See to it that a section still stands which another run may have overwritten, not knowing it; None when done.

    Such a run read the comment before the section was written, and wrote after it. The look is worth most when a
    second has passed: it waits for what is left of the pause between two writes. One request where the section
    stands, at most seven in all. A comment that was deleted meanwhile stays so: that is a person's wish.
    """

    def keep() -> None:
        try:
            _restore(written)
        except UnknownObjectException:
            return

    return attempt("the comment could not be looked at again", PERMISSION, keep)


def _restore(written: Written) -> None:
    time.sleep(max(0.0, written.at + _pause(written.comment) - time.monotonic()))
    if _overwritten(written) is None:
        return
    for _ in range(_RESTORATIONS):
        time.sleep(_pause(written.comment))
        comment = _overwritten(written)
        if comment is None:
            return
        sections = restore_section(written.section, written.before, _sections(comment))
        comment.edit(join_sections(written.key, sections))


def _overwritten(written: Written) -> IssueComment | None:
    """The comment as it is now; None where the section need not be written again."""
    comment = _read_again(written.comment)
    return comment if is_lost(written.section, written.before, _sections(comment)) else None


def _sections(comment: IssueComment) -> dict[str, Section]:
    return parse_sections(comment.body or "")


def _read_again(comment: IssueComment) -> IssueComment:
    """The comment as it is when it is first looked at."""
    return IssueComment(comment.requester, url=comment.url)


def _pause(of: IssueComment | Repository) -> float:
    """Seconds that the client leaves between two writes.

    Where a comment is edited after another write, the pause must lie before it is read: what other runs write between
    reading and editing is overwritten.
    """
    return float(of.requester.kwargs["seconds_between_writes"] or 0)


def _ours(repository: Repository, number: int, key: str, strangers: Set[str] = frozenset()) -> list[IssueComment]:
    """Comments that may be ours: those of strangers have turned out not to be."""
    login = own_login(repository)
    marked = [comment for comment in _marked(repository, number, key) if comment.user.login not in strangers]
    if login is not None:
        return [comment for comment in marked if comment.user.login.casefold() == login.casefold()]
    by_apps = [comment for comment in marked if comment.user.type == "Bot"]
    by_workflows = [comment for comment in by_apps if comment.user.login == WORKFLOW_LOGIN]
    return by_workflows or by_apps


def _marked(repository: Repository, number: int, key: str) -> list[IssueComment]:
    """Comments with the key's marker, whoever wrote them."""
    mark = marker(key)
    return [
        comment
        for comment in repository.get_issue(number).get_comments()
        if comment.user is not None and (comment.body or "").partition("\n")[0].rstrip("\r") == mark
    ]


def _edit_or_create(repository: Repository, number: int, key: str, section: Section) -> Written:
    """Each try looks first: the comment may have been deleted meanwhile, or been created though no answer came."""
    tries_left = _ATTEMPTS
    strangers: set[str] = set()
    while True:
        ours = sorted(_ours(repository, number, key, strangers), key=lambda each: each.id)
        comment = ours[-1] if ours else None
        try:
            if comment is None:
                return _create(repository, number, key, section)
            return _edit(comment, [twin for twin in ours[:-1] if twin.user.login == comment.user.login], key, section)
        except (GithubException, requests.RequestException) as error:
            if comment is not None and _is_another_apps(comment, error):
                strangers.add(comment.user.login)
            else:
                tries_left -= 1
                if tries_left == 0 or not _may_look_again(error, is_new=comment is None):
                    raise
        time.sleep(_pause(repository))


def _edit(comment: IssueComment, twins: Iterable[IssueComment], key: str, section: Section) -> Written:
    """One comment in place of several, of which the last has the newest sections."""
    before: dict[str, Section] = {}
    for each in (*twins, comment):
        before |= _sections(each)
    comment.edit(join_sections(key, update_sections(before, section)))
    written = _written(comment, key, section, before)
    _remove(twins)
    return written


def _written(comment: IssueComment, key: str, section: Section, before: Mapping[str, Section]) -> Written:
    kept = _sections(comment).get(section.name, section)
    return Written(comment, key, kept, before, time.monotonic())


def _remove(twins: Iterable[IssueComment]) -> None:
    """What a run that was cancelled between posting and joining has left."""
    for twin in twins:
        attempt("a second comment could not be deleted", PERMISSION, twin.delete)


def _create(repository: Repository, number: int, key: str, section: Section) -> Written:
    created = repository.get_issue(number).create_comment(join_sections(key, {section.name: section}))
    written = _written(created, key, section, {})
    moved = attempt("two comments", PERMISSION, lambda: _into_oldest(repository, number, written))
    return written if isinstance(moved, Refused) else moved


def _into_oldest(repository: Repository, number: int, written: Written) -> Written:
    """Two runs at once may both have found no comment: what the later one posted moves into the earlier one's."""
    created = written.comment
    us = created.user.login, created.user.type
    ours = [each for each in _marked(repository, number, written.key) if (each.user.login, each.user.type) == us]
    oldest = min(ours, key=lambda comment: comment.id, default=created)
    if oldest.id == created.id:
        return written
    time.sleep(_pause(repository))
    moved = _edit(_read_again(oldest), [], written.key, written.section)
    _remove([created])
    return moved


def _is_another_apps(comment: IssueComment, error: Exception) -> bool:
    """An app's token may not ask who it is, and finds out that a comment is not its own when it may not edit it.

    A token that may edit none is refused in the same words. It finds out when it may not create one either.
    """
    is_refused = isinstance(error, GithubException) and error.status == 403 and not is_rate_limit(error)
    return is_refused and comment.user.type == "Bot"


def _may_look_again(error: Exception, *, is_new: bool) -> bool:
    if not is_new:
        return isinstance(error, UnknownObjectException)
    return not isinstance(error, GithubException) or error.status >= 500
