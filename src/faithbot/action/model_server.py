"""The Ollama of one job: started as soon as there is work, filled, and removed while results are written."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from faithbot.action.log import say, show
from faithbot.action.overlap import ahead, beside
from faithbot.action.ownership import keeping_folder, kept_folder
from faithbot.action.report_files import LOG_FILE, artifact_file
from faithbot.errors import FaithbotError, UsageError
from faithbot.github.workflow_commands import commands_stopped, group, save_state

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, MutableMapping
    from threading import Thread

    from faithbot.action.inputs import ActionInputs
    from faithbot.action.phases import Phases
    from faithbot.github.runner import Runner
    from faithbot.ollama_service import Engine, OllamaService
    from faithbot.plan import Plan

OLLAMA_OWNER = "ollama_owner"
"""Under which name the step's clean-up finds whose Ollama to remove."""
_OLLAMA = "ollama/"
_LOG_LINES = 300


class ModelServer:
    """The one that `ollama-url` names, or a container of our own. Where it is stands in the environment."""

    def __init__(self, runner: Runner, inputs: ActionInputs, environ: MutableMapping[str, str], phases: Phases) -> None:
        self._runner = runner
        self._inputs = inputs
        self._environ = environ
        self._phases = phases
        self._look: Callable[[], Engine] = _look_at_engine
        self._service: OllamaService | None = None
        self._removal: Thread | None = None

    @property
    def folder(self) -> Path:
        """Where the models are kept."""
        if self._inputs.models_dir is None:
            return kept_folder(self._runner, self._environ, "FAITHBOT_MODELS", "models")
        return keeping_folder(self._runner.temp) / self._inputs.models_dir  # which an absolute path replaces

    @property
    def folder_is_on_host(self) -> bool:
        """Whether that is a path of the runner's machine, not of this container."""
        return self._inputs.models_dir is not None and Path(self._inputs.models_dir).is_absolute()

    def look_ahead(self) -> None:
        """Ask the Docker engine what it is while it is not known yet whether there is work; it starts nothing."""
        if self._inputs.ollama_url is None:
            self._look = ahead(_look_at_engine).result

    @contextmanager
    def serving(self, plan: Plan) -> Iterator[None]:
        """A server for the block, filled by :meth:`fill`; none where the plan needs no model of Ollama.

        Where all went well, a container is removed in the background: see :meth:`wait_until_removed`.
        """
        try:
            if _of_ollama(plan.models):
                with self._phases.phase("starting Ollama"):
                    self._start()
            yield
        except BaseException as error:
            if self._service is not None:
                if isinstance(error, FaithbotError):
                    self._keep_log(self._service)
                self._service.stop()
            raise
        if self._service is not None:
            self._removal = beside(self._service.stop)

    def fill(self, plan: Plan) -> None:
        """Wait until the server answers, and see to it that it has all models of the plan."""
        names = _of_ollama(plan.models)
        if not names:
            return
        from faithbot.ollama_service.pull import pull_models

        with self._phases.phase("waiting for Ollama and its models"), group("Models"), commands_stopped():
            if self._service is not None:
                self._service.wait_until_ready(say)
            pull_models(self._environ["OLLAMA_HOST"], names, say, trusted=_of_ollama(plan.trusted_models))

    def wait_until_removed(self) -> None:
        """Until nothing of a container is left."""
        if self._removal is not None:
            with self._phases.phase("removing Ollama"):
                self._removal.join()

    def _start(self) -> None:
        if self._inputs.ollama_url is not None:
            self._reach(self._inputs.ollama_url)
            return
        from faithbot.ollama_service import OLLAMA_IMAGE, ServiceSettings, launch_service  # slow: Docker's client

        owner = f"{self._runner.repository} on {self._runner.name or self._runner.run_id}"
        save_state(self._runner, {OLLAMA_OWNER: owner})
        settings = ServiceSettings(
            models_dir=self.folder,
            owner=owner,
            image=self._inputs.ollama_image or OLLAMA_IMAGE,
            network=self._inputs.ollama_network,
            workspace=self._runner.workspace,
            models_on_host=self.folder_is_on_host,
        )
        with group("Ollama"), commands_stopped():
            self._service = launch_service(settings, say, self._look)
        self._reach(self._service.url)
        self._environ["OLLAMA_NUM_PARALLEL"] = str(self._service.parallel)

    def _reach(self, url: str) -> None:
        """Point all clients at a server, past any proxy: it stands beside us."""
        self._environ["OLLAMA_HOST"] = url
        past = filter(None, [self._environ.get("NO_PROXY") or self._environ.get("no_proxy"), urlsplit(url).hostname])
        self._environ["NO_PROXY"] = self._environ["no_proxy"] = ",".join(past)

    def _keep_log(self, service: OllamaService) -> None:
        log = service.logs(_LOG_LINES)
        with group("Last lines of Ollama's log"), commands_stopped():
            show(log)
        try:
            artifact_file(self._runner.workspace, self._inputs.artifact_dir, LOG_FILE).write(log)
        except UsageError as error:
            say(str(error))


def _look_at_engine() -> Engine:
    from faithbot.ollama_service import look_at_engine  # slow: Docker's client

    return look_at_engine()


def _of_ollama(models: Iterable[str]) -> list[str]:
    """Names within Ollama, of those of its models."""
    return [name.removeprefix(_OLLAMA) for name in models if name.startswith(_OLLAMA)]
