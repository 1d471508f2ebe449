"""A GitHub to talk to, and a client that does not wait long."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from faithbot.github.api import open_repository
from faithbot.github.retry import Patience
from github_double import HEAD, GitHubDouble

if TYPE_CHECKING:
    from collections.abc import Iterator

    from github.Repository import Repository


@pytest.fixture
def api() -> Iterator[GitHubDouble]:
    """The API with pull request 7, and a workflow's token."""
    with GitHubDouble() as double:
        double.add_token("ghs_workflow")
        double.add_pull_request(7, HEAD)
        yield double


@pytest.fixture
def repository(api: GitHubDouble) -> Repository:
    """The repository as faithbot sees it."""
    return open_repository(api.repository, "ghs_workflow", api.url, Patience(first_wait=0.02))
