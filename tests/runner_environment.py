"""The environment that the Actions runner gives a container, with its folders under a temporary one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faithbot.github.runner import Runner

if TYPE_CHECKING:
    from pathlib import Path


def runner_environment(folder: Path, **changes: object) -> dict[str, str]:
    return {
        "GITHUB_ACTIONS": "true",
        "GITHUB_ACTOR": "mona",
        "GITHUB_API_URL": "https://api.github.com",
        "GITHUB_EVENT_NAME": "pull_request",
        "GITHUB_EVENT_PATH": str(folder / "event.json"),
        "GITHUB_JOB": "faithbot",
        "GITHUB_OUTPUT": str(folder / "output"),
        "GITHUB_REF": "refs/pull/2/merge",
        "GITHUB_REPOSITORY": "acme/handbook",
        "GITHUB_RUN_ATTEMPT": "1",
        "GITHUB_RUN_ID": "289782451",
        "GITHUB_SERVER_URL": "https://github.com",
        "GITHUB_SHA": "5a" * 20,
        "GITHUB_STATE": str(folder / "state"),
        "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
        "GITHUB_WORKFLOW": "faithbot",
        "GITHUB_WORKSPACE": str(folder / "workspace"),
        "RUNNER_TEMP": str(folder / "temp"),
    } | {name: str(value) for name, value in changes.items()}


def make_runner(folder: Path, **changes: object) -> Runner:
    return Runner.from_environment(runner_environment(folder, **changes))
