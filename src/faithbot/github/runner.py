"""What the Actions runner tells a step through the environment, as one typed object."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from faithbot.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping


_REQUIRED = (
    "EVENT_NAME",
    "EVENT_PATH",
    "REPOSITORY",
    "SHA",
    "REF",
    "WORKSPACE",
    "API_URL",
    "SERVER_URL",
    "RUN_ID",
    "RUN_ATTEMPT",
    "WORKFLOW",
    "JOB",
    "ACTOR",
)


@dataclass(frozen=True)
class Runner:
    """The run that this process belongs to, and the files through which it talks to the runner.

    Source: https://docs.github.com/en/actions/reference/workflows-and-actions/variables
    """

    event_name: str
    event_path: Path
    repository: str
    """As `owner/name`."""
    sha: str
    """Full id of the commit that triggered the run; of a `pull_request` GitHub's merge commit."""
    ref: str
    workspace: Path
    api_url: str
    server_url: str
    run_id: str
    run_attempt: str
    workflow: str
    job: str
    actor: str
    name: str
    """Of the machine that runs the job: it runs one at a time. Empty where nobody says."""
    temp: Path | None
    """None where it is not mounted: see :func:`mounted_temp`."""
    output_file: Path | None
    summary_file: Path | None
    state_file: Path | None

    @classmethod
    def from_environment(cls, environ: Mapping[str, str]) -> Runner:
        """:class:`UsageError` with all that is missing, where this is not a step of GitHub Actions."""
        found = {name: environ.get(f"GITHUB_{name}", "") for name in _REQUIRED}
        missing = [f"GITHUB_{name}" for name, value in found.items() if not value]
        if missing:
            raise UsageError(
                f"this command runs inside GitHub Actions, which sets {', '.join(missing)}; "
                "anywhere else use `faithbot compare`."
            )
        return cls(
            event_name=found["EVENT_NAME"],
            event_path=Path(found["EVENT_PATH"]),
            repository=found["REPOSITORY"],
            sha=found["SHA"],
            ref=found["REF"],
            workspace=Path(found["WORKSPACE"]),
            api_url=found["API_URL"].rstrip("/"),
            server_url=found["SERVER_URL"].rstrip("/"),
            run_id=found["RUN_ID"],
            run_attempt=found["RUN_ATTEMPT"],
            workflow=found["WORKFLOW"],
            job=found["JOB"],
            actor=found["ACTOR"],
            name=environ.get("RUNNER_NAME", ""),
            temp=mounted_temp(environ),
            output_file=_optional_path(environ, "GITHUB_OUTPUT"),
            summary_file=_optional_path(environ, "GITHUB_STEP_SUMMARY"),
            state_file=_optional_path(environ, "GITHUB_STATE"),
        )

    @property
    def run_url(self) -> str:
        """Page of this attempt of the run, with its log."""
        return f"{self.server_url}/{self.repository}/actions/runs/{self.run_id}/attempts/{self.run_attempt}"


def mounted_temp(environ: Mapping[str, str]) -> Path | None:
    """The folder `runner.temp`, if this container sees it: older runners name theirs and do not mount it."""
    temp = _optional_path(environ, "RUNNER_TEMP")
    return temp if temp is not None and temp.is_dir() else None


def _optional_path(environ: Mapping[str, str], name: str) -> Path | None:
    value = environ.get(name)
    return Path(value) if value else None
