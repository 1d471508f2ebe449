"""One step of a job that evaluates: prepared, run, and delivered whatever happens."""

from __future__ import annotations

import asyncio
import traceback
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from faithbot import __version__
from faithbot.action.activity import Activity, NothingToDo, activity_without_commits, choose_activity
from faithbot.action.delivery import artifact_file
from faithbot.action.log import LogLines, say, say_error, show
from faithbot.action.ownership import hand_over
from faithbot.action.phases import Phases
from faithbot.errors import FaithbotError, UsageError
from faithbot.github.clone import Clone
from faithbot.github.workflow_commands import commands_stopped, group, save_state
from faithbot.job import CompareRequest, Plan, make_plan, pass_without_work, run_against_itself, run_plan
from faithbot.ollama_service import OLLAMA_IMAGE, ServiceSettings, pull_models, start_service
from faithbot.report.terminal import render_summary
from faithbot.results import Failure, Results, Usage

if TYPE_CHECKING:
    from collections.abc import Iterator, MutableMapping

    from faithbot.action.delivery import Delivery
    from faithbot.action.inputs import ActionInputs
    from faithbot.github.event import Event
    from faithbot.github.runner import Runner
    from faithbot.ollama_service import OllamaService

OLLAMA_OWNER = "ollama_owner"
"""Under which name the step's clean-up finds whose Ollama to remove."""
_OLLAMA = "ollama/"
_KEPT = "faithbot"
"""Folder of calls and models under `runner.temp`."""
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
        try:
            results = self._evaluate(event)
        except FaithbotError as error:
            say_error(str(error))
            results = _failed(error)
        except Exception:  # noqa: BLE001 - also a fault is told in the comment, with the log for the rest
            say_error(traceback.format_exc())
            results = _failed(None)
        if results is None:
            return 0
        activity = self._activity or activity_without_commits(event)
        if activity is not None:
            results = results.model_copy(update={"head_commit": activity.status_commit})
        with self._phases.phase("writing"):
            code = self._delivery.deliver(results, activity)
        self._hand_over()
        with group("Verdict"), commands_stopped():
            show(render_summary(results))
        say(f"time: {self._phases}")
        return code

    def _hand_over(self) -> None:
        """Leave no file of root's where the runner's user wants to cache or remove it."""
        workspace = self._runner.workspace
        hand_over(workspace / self._inputs.artifact_dir, like=workspace)
        hand_over(self._models_folder(), like=workspace)
        if self._runner.temp is not None:
            hand_over(self._runner.temp / _KEPT, like=self._runner.temp)

    def _evaluate(self, event: Event) -> Results | None:
        """None where the event asks for nothing."""
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
        return (self._runner.temp or Path.home()) / _KEPT / name

    @contextmanager
    def _models(self, plan: Plan) -> Iterator[None]:
        """An Ollama with all models that the plan needs from one; nothing where it needs none."""
        names = [name.removeprefix(_OLLAMA) for name in plan.models if name.startswith(_OLLAMA)]
        if not names:
            yield
            return
        with self._phases.phase("starting Ollama"):
            service = self._start_ollama()
        with service or nullcontext():
            try:
                with self._phases.phase("pulling models"), group("Models"), commands_stopped():
                    pull_models(self._environ["OLLAMA_HOST"], names, say)
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
        return self._runner.workspace / self._inputs.models_dir

    def _keep_log(self, service: OllamaService) -> None:
        log = service.logs(_LOG_LINES)
        with group("Last lines of Ollama's log"), commands_stopped():
            show(log)
        try:
            artifact_file(self._runner.workspace, self._inputs.artifact_dir, "ollama.log").write(log)
        except UsageError as error:
            say(str(error))


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
        usage=Usage(answers=0, model_calls=0, cached_calls=0, seconds=0.0, busy_share=None),
        failure=failure,
    )
