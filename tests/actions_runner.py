"""A machine that runs the action as GitHub's runner does: the same mounts, variables, working directory and signals.

Source: actions/runner, src/Runner.Worker/Handlers/ContainerActionHandler.cs and Container/DockerCommandManager.cs.
"""

from __future__ import annotations

import contextlib
import json
import re
import signal
import subprocess
import time
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ACTION = yaml.safe_load((Path(__file__).parents[1] / "action.yml").read_text())
HOST = "172.17.0.1"
"""Where containers reach servers on this machine: the gateway of the engine's default bridge."""
_FOLDERS = {
    "workspace": "/github/workspace",
    "home": "/github/home",
    "workflow": "/github/workflow",
    "file_commands": "/github/file_commands",
    "temp": "/github/runner_temp",
}
_VARIABLE = re.compile(r"^(.+?)<<(\S+)\n(.*?)\n\2$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class StepOutcome:
    """What a step left behind."""

    code: int
    log: str
    outputs: Mapping[str, str]
    summary: str
    state: Mapping[str, str]
    seconds: float


@dataclass
class Machine:
    """One self-hosted runner. Its folders stay from job to job, as ``runner.temp`` does where a cache restores it."""

    root: Path
    image: str
    api_url: str
    repository: str
    ollama_image: str
    server_url: str = "https://github.com"
    mounts_temp: bool = True
    """Older runners do not, and yet name it, by their own path."""
    name: str = field(default_factory=lambda: f"test-{uuid.uuid4().hex[:8]}")

    def __post_init__(self) -> None:
        for folder in _FOLDERS:
            (self.root / folder).mkdir(parents=True, exist_ok=True)

    @property
    def workspace(self) -> Path:
        return self.root / "workspace"

    @property
    def models(self) -> Path:
        """Where the action keeps Ollama's models unless told otherwise."""
        return self.root / ("temp" if self.mounts_temp else "home") / "faithbot" / "models"

    def run(self, event: str, payload: Mapping[str, Any], sha: str, **options: Any) -> StepOutcome:
        """One step, from start to end."""
        with self.started(event, payload, sha, **options) as step:
            return step.wait()

    @contextlib.contextmanager
    def started(
        self,
        event: str,
        payload: Mapping[str, Any],
        sha: str,
        *,
        inputs: Mapping[str, str] = {},
        network: str | None = None,
        entrypoint: str = ACTION["runs"]["entrypoint"],
        state: Mapping[str, str] = {},
    ) -> Iterator[Step]:
        """A step under way. A container that is still there at the end is removed."""
        (self.root / "workflow" / "event.json").write_text(json.dumps(payload))
        for file in ("output", "summary", "state"):
            (self.root / "file_commands" / file).write_text("")
        given = {name: spec.get("default", "") for name, spec in ACTION["inputs"].items()}
        given |= {"token": "ghs_workflow", "ollama-image": self.ollama_image, "ollama-network": network or ""} | inputs
        environment = self._environment(event, sha) | {
            f"INPUT_{name.replace(' ', '_').upper()}": value for name, value in given.items()
        }
        environment |= {f"STATE_{name}": value for name, value in state.items()}
        name = f"faithbot-test-{uuid.uuid4().hex[:8]}"
        command = [
            "docker",
            "run",
            "--name",
            name,
            "--label",
            "faithbot-test",
            "--workdir",
            "/github/workspace",
            "--rm",
        ]
        for variable in environment:
            command += ["-e", variable]
        command += ["-v", "/var/run/docker.sock:/var/run/docker.sock"]
        for folder, target in _FOLDERS.items():
            if folder != "temp" or self.mounts_temp:
                command += ["-v", f"{self.root / folder}:{target}"]
        if network:
            command += ["--network", network]
        command += ["--entrypoint", entrypoint, self.image]
        log = (self.root / "log").open("wb")
        process = subprocess.Popen(
            command, stdout=log, stderr=subprocess.STDOUT, env={"PATH": "/usr/local/bin:/usr/bin:/bin"} | environment
        )
        try:
            yield Step(self, name, process)
        finally:
            subprocess.run(["docker", "rm", "--force", name], capture_output=True, check=False)
            process.wait()
            log.close()

    def _environment(self, event: str, sha: str) -> dict[str, str]:
        return {
            "HOME": "/github/home",
            "GITHUB_ACTIONS": "true",
            "CI": "true",
            "GITHUB_ACTOR": "mona",
            "GITHUB_API_URL": self.api_url,
            "GITHUB_SERVER_URL": self.server_url,
            "GITHUB_EVENT_NAME": event,
            "GITHUB_EVENT_PATH": "/github/workflow/event.json",
            "GITHUB_JOB": "faithbot",
            "GITHUB_OUTPUT": "/github/file_commands/output",
            "GITHUB_STEP_SUMMARY": "/github/file_commands/summary",
            "GITHUB_STATE": "/github/file_commands/state",
            "GITHUB_REF": "refs/pull/2/merge",
            "GITHUB_REPOSITORY": self.repository,
            "GITHUB_RUN_ATTEMPT": "1",
            "GITHUB_RUN_ID": "289782451",
            "GITHUB_SHA": sha,
            "GITHUB_WORKFLOW": "faithbot",
            "GITHUB_WORKSPACE": "/github/workspace",
            "RUNNER_NAME": self.name,
            "RUNNER_TEMP": "/github/runner_temp" if self.mounts_temp else "/home/runner/work/_temp",
            "RUNNER_OS": "Linux",
            "ACTIONS_RUNTIME_TOKEN": "runtime-secret",
        }

    def results(self) -> dict[str, Any]:
        """The recorded results of the last step."""
        found: dict[str, Any] = json.loads((self.workspace / "faithbot-report" / "results.json").read_text())
        return found


class Step:
    """A container of the action."""

    def __init__(self, machine: Machine, name: str, process: subprocess.Popen[bytes]) -> None:
        self._machine = machine
        self.name = name
        self._process = process
        self._started = time.monotonic()

    @property
    def log(self) -> str:
        return (self._machine.root / "log").read_text()

    def wait_for(self, text: str, seconds: float = 240) -> None:
        """Until the log holds the text."""
        deadline = time.monotonic() + seconds
        while text not in self.log:
            assert self._process.poll() is None, f"ended before it said {text!r}:\n{self.log}"
            assert time.monotonic() < deadline, f"never said {text!r}:\n{self.log}"
            time.sleep(0.05)

    def cancel(self) -> None:
        """As the runner does first: SIGINT to its ``docker run``, which hands it on."""
        self._process.send_signal(signal.SIGINT)

    def wait(self) -> StepOutcome:
        """Until the end."""
        code = self._process.wait(timeout=600)
        files = self._machine.root / "file_commands"
        return StepOutcome(
            code=code,
            log=self.log,
            outputs=_variables(files / "output"),
            summary=(files / "summary").read_text(),
            state=_variables(files / "state"),
            seconds=time.monotonic() - self._started,
        )


def _variables(path: Path) -> dict[str, str]:
    return {match[1]: match[3] for match in _VARIABLE.finditer(path.read_text())}
