"""One step of a job that evaluates: prepared, run, and delivered whatever happens."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn
from urllib.parse import urlsplit

from faithbot import __version__
from faithbot.action.activity import Activity, NothingToDo, activity_without_commits, choose_activity
from faithbot.action.delivery import LOG_FILE, artifact_file
from faithbot.action.log import LogLines, say, say_error, say_fault, show
from faithbot.action.ownership import KEPT, hand_over_all
from faithbot.action.phases import Phases
from faithbot.errors import FaithbotError, UsageError
from faithbot.github.clone import Clone
from faithbot.github.workflow_commands import commands_stopped, group, save_state
from faithbot.job import CompareRequest, Plan, make_plan, pass_without_work, run_against_itself, run_plan
from faithbot.ollama_service import OLLAMA_IMAGE, ServiceSettings, pull_models, start_service
from faithbot.report.terminal import render_summary
from faithbot.results import NO_USAGE, Failure, Results

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, MutableMapping

    from faithbot.action.delivery import Delivery
    from faithbot.action.inputs import ActionInputs
    from faithbot.github.event import Event
    from faithbot.github.runner import Runner
    from faithbot.ollama_service import OllamaService

OLLAMA_OWNER = "ollama_owner"
"""Under which name the step's clean-up finds whose Ollama to remove."""
OWN_FOLDERS = "own_folders"
"""Under which name it finds the folders to hand over, a line each."""
_OLLAMA = "ollama/"
_LOG_LINES = 300


class Step:
    """An evaluation inside a job: prepared, run, and delivered whatever happens."""

    def __init__(
        self, runner: Runner, inputs: ActionInputs, environ: MutableMapping[str, str], delivery: Delivery
    ) -> None:
        self._runner = runner
        self._inputs = inputs
        self._environ = environ
        self._delivery = delivery
        self._phases = Phases()
        self._activity: Activity | None = None

    def run(self, event: Event) -> int:
        """Evaluate what the event asks for, write the result everywhere, and return the exit code."""
        return self._deliver(event, lambda: self._evaluate(event))

    def refuse(self, event: Event, error: FaithbotError) -> int:
        """Write everywhere why there is no evaluation, and return the exit code."""

        def fail() -> NoReturn:
            raise error

        return self._deliver(event, fail)

    def _deliver(self, event: Event, evaluate: Callable[[], Results | None]) -> int:
        try:
            results = _told(evaluate)
            if results is None:
                return 0
            activity = self._activity or activity_without_commits(event, self._inputs)
            if activity is not None:
                results = results.model_copy(update={"head_commit": activity.head_of_pull_request})
            with self._phases.phase("writing"):
                code = self._delivery.deliver(results, activity)
        finally:  # also when the job is cancelled
            hand_over_all(self._own_folders(), self._runner.workspace, self._runner.temp)
        with group("Verdict"), commands_stopped():
            show(render_summary(results))
        say(f"time: {self._phases}")
        return code

    def _own_folders(self) -> list[Path]:
        """Where files of ours stay, besides `runner.temp`."""
        report = self._runner.workspace / self._inputs.artifact_dir
        return [report] if self._models_are_on_host else [report, self._models_folder()]

    def _evaluate(self, event: Event) -> Results | None:
        """None where the event asks for nothing."""
        save_state(self._runner, {OWN_FOLDERS: "\n".join(map(str, self._own_folders()))})
        with self._phases.phase("reading git"):
            activity = choose_activity(event, self._inputs, self._clone(), self._runner.sha)
            if isinstance(activity, NothingToDo):
                say(f"nothing to do: {activity.reason}")
                return None
            self._activity = activity
            plan = make_plan(self._request(activity))
        if activity.task == "compare" and not plan.has_work:
            return pass_without_work(plan)
        with self._models(plan):
            return self._run(plan, activity)

    def _clone(self) -> Clone:
        workspace = self._runner.workspace
        if not (workspace / ".git").exists():
            raise UsageError(
                f"{workspace} is no clone of the repository: let a step with `uses: actions/checkout` and "
                "`fetch-depth: 2` come before faithbot."
            )
        return Clone(workspace, self._runner.server_url, self._inputs.token)

    def _run(self, plan: Plan, activity: Activity) -> Results:
        work = run_against_itself if activity.task == "noise" else run_plan
        with self._phases.phase("answering and judging"), group("Answering and judging"), commands_stopped():
            return asyncio.run(work(plan, LogLines()))

    def _request(self, activity: Activity) -> CompareRequest:
        return CompareRequest(
            repository=self._runner.workspace,
            base=activity.base,
            head=activity.head,
            config=self._inputs.config,
            cache=self._folder("FAITHBOT_CACHE", "calls"),
            runs=self._inputs.runs,
            only=self._inputs.only,
            limit=self._inputs.limit,
            labels=activity.labels,
            judge=activity.judge,
            graded_by=activity.graded_by,
        )

    def _folder(self, variable: str, name: str) -> Path:
        """Where things are kept from run to run: outside the workspace, where a pull request cannot put anything."""
        if given := self._environ.get(variable):
            return Path(given)
        return self._temp / KEPT / name

    @property
    def _temp(self) -> Path:
        return self._runner.temp or Path.home()

    @contextmanager
    def _models(self, plan: Plan) -> Iterator[None]:
        """An Ollama with all models that the plan needs from one; nothing where it needs none."""
        names = _of_ollama(plan.models)
        if not names:
            yield
            return
        with self._phases.phase("starting Ollama"):
            service = self._start_ollama()
        with service or nullcontext():
            try:
                with self._phases.phase("pulling models"), group("Models"), commands_stopped():
                    trusted = _of_ollama(plan.trusted_models)
                    pull_models(self._environ["OLLAMA_HOST"], names, say, trusted=trusted)
                yield
            except FaithbotError:
                if service is not None:
                    self._keep_log(service)
                raise

    def _start_ollama(self) -> OllamaService | None:
        """The one that `ollama-url` names, or a container of our own; where it is stands in the environment."""
        if self._inputs.ollama_url is not None:
            self._reach(self._inputs.ollama_url)
            return None
        owner = f"{self._runner.repository} on {self._runner.name or self._runner.run_id}"
        save_state(self._runner, {OLLAMA_OWNER: owner})
        settings = ServiceSettings(
            models_dir=self._models_folder(),
            owner=owner,
            image=self._inputs.ollama_image or OLLAMA_IMAGE,
            network=self._inputs.ollama_network,
            workspace=self._runner.workspace,
            models_on_host=self._models_are_on_host,
        )
        with group("Ollama"), commands_stopped():
            service = start_service(settings, say)
        self._reach(service.url)
        self._environ["OLLAMA_NUM_PARALLEL"] = str(service.parallel)
        return service

    def _reach(self, url: str) -> None:
        """Point all clients at a server, past any proxy: it stands beside us."""
        self._environ["OLLAMA_HOST"] = url
        past = filter(None, [self._environ.get("NO_PROXY") or self._environ.get("no_proxy"), urlsplit(url).hostname])
        self._environ["NO_PROXY"] = self._environ["no_proxy"] = ",".join(past)

    def _models_folder(self) -> Path:
        if self._inputs.models_dir is None:
            return self._folder("FAITHBOT_MODELS", "models")
        return self._temp / self._inputs.models_dir  # which an absolute path replaces

    @property
    def _models_are_on_host(self) -> bool:
        return self._inputs.models_dir is not None and Path(self._inputs.models_dir).is_absolute()

    def _keep_log(self, service: OllamaService) -> None:
        log = service.logs(_LOG_LINES)
        with group("Last lines of Ollama's log"), commands_stopped():
            show(log)
        try:
            artifact_file(self._runner.workspace, self._inputs.artifact_dir, LOG_FILE).write(log)
        except UsageError as error:
            say(str(error))


def _of_ollama(models: Iterable[str]) -> list[str]:
    """Names within Ollama, of those of its models."""
    return [name.removeprefix(_OLLAMA) for name in models if name.startswith(_OLLAMA)]


def _told(evaluate: Callable[[], Results | None]) -> Results | None:
    """What an evaluation gives; an error becomes an annotation and a result that says so."""
    try:
        return evaluate()
    except FaithbotError as error:
        say_error(str(error))
        return _failed(error)
    except Exception as error:  # noqa: BLE001 - also a fault is told in the comment, with the log for the rest
        say_fault(error)
        return _failed(None)


def _failed(error: FaithbotError | None) -> Results:
    """The result of an evaluation that could not be done. None: a fault of faithbot."""
    if error is None:
        failure = Failure(kind="fault", message="This is a fault of faithbot itself: the job's log tells more.")
    else:
        failure = Failure(
            kind="usage" if isinstance(error, UsageError) else "evaluation", message=str(error), computed=error.computed
        )
    return Results(
        faithbot_version=__version__,
        verdict="inconclusive",
        reason="the evaluation could not be done",
        metrics={},
        fingerprint=None,
        sides={},
        questions=(),
        runs=0,
        usage=NO_USAGE,
        failure=failure,
    )
