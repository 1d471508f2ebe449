"""One step of a job that evaluates: prepared, run, and delivered whatever happens."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NoReturn

from faithbot import __version__
from faithbot.action.activity import Activity, NothingToDo, activity_without_commits, choose_activity
from faithbot.action.log import LogLines, say, say_error, say_fault, show
from faithbot.action.model_server import ModelServer
from faithbot.action.overlap import FOR_THE_RESULT, FOR_THE_WORK, ahead, import_ahead
from faithbot.action.ownership import hand_over_all, kept_folder
from faithbot.action.phases import Phases
from faithbot.errors import FaithbotError, UsageError
from faithbot.github.clone import Clone
from faithbot.github.event import DispatchEvent
from faithbot.github.workflow_commands import commands_stopped, group, save_state
from faithbot.plan import CompareRequest, Plan, make_plan
from faithbot.results import NO_USAGE, Failure, Results

if TYPE_CHECKING:
    from collections.abc import Callable, MutableMapping
    from concurrent.futures import Future
    from pathlib import Path

    from github.Repository import Repository

    from faithbot.action.inputs import ActionInputs
    from faithbot.github.event import Event
    from faithbot.github.runner import Runner
    from faithbot.job import Prepared

OWN_FOLDERS = "own_folders"
"""Under which name the step's clean-up finds the folders to hand over, a line each."""


class Step:
    """An evaluation inside a job: prepared, run, and delivered whatever happens."""

    def __init__(
        self,
        runner: Runner,
        inputs: ActionInputs,
        environ: MutableMapping[str, str],
        open_repository: Callable[[], Repository | None],
    ) -> None:
        self._runner = runner
        self._inputs = inputs
        self._environ = environ
        self._open_repository = open_repository
        """None comes of it without a token. Called late: GitHub's client takes half a second to import."""
        self._phases = Phases()
        self._server = ModelServer(runner, inputs, environ, self._phases)
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
                about = {"head_commit": activity.head_of_pull_request, "pull_request": activity.pull_request}
                results = results.model_copy(update=about)
            with self._phases.phase("writing"):
                code = self._write(results, activity)
        finally:  # also when the job is cancelled
            self._server.wait_until_removed()
            hand_over_all(self._own_folders(), self._runner.workspace, self._runner.temp)
        say(f"time: {self._phases}")
        return code

    def _write(self, results: Results, activity: Activity | None) -> int:
        """The result in the log and everywhere else; the exit code."""
        from faithbot.action.delivery import Delivery
        from faithbot.report.terminal import render_summary

        code = Delivery(self._runner, self._inputs, self._open_repository(), say).deliver(results, activity)
        with group("Verdict"), commands_stopped():
            show(render_summary(results))
        return code

    def _own_folders(self) -> list[Path]:
        """Where files of ours stay, besides `runner.temp`; the report's with those that were made on the way to it."""
        report = self._runner.workspace / PurePosixPath(self._inputs.artifact_dir).parts[0]
        return [report] if self._server.folder_is_on_host else [report, self._server.folder]

    def _evaluate(self, event: Event) -> Results | None:
        """None where the event asks for nothing."""
        save_state(self._runner, {OWN_FOLDERS: "\n".join(map(str, self._own_folders()))})
        self._server.look_ahead()
        import_ahead(FOR_THE_WORK)
        with self._phases.phase("reading git"):
            activity = choose_activity(event, self._inputs, self._clone(), self._runner.sha)
            if isinstance(activity, NothingToDo):
                say(f"nothing to do: {activity.reason}")
                return None
            self._activity = activity
            plan = make_plan(self._request(activity))
        if activity.task == "compare" and not plan.has_work:
            from faithbot.job import pass_without_work

            return pass_without_work(plan)
        if isinstance(event, DispatchEvent):
            plan = self._with_recorded_answers(plan, activity)
        preparing = ahead(partial(_prepare, plan, against_itself=activity.task == "noise"))
        with self._server.serving(plan):
            return self._run(plan, preparing)

    def _with_recorded_answers(self, plan: Plan, activity: Activity) -> Plan:
        """The plan with the answers that the pull request's own run has recorded, where they can be had and fit."""
        from faithbot.action.recorded_answers import use_recorded_answers

        repository, commit = self._open_repository(), activity.head_of_pull_request
        if repository is None or commit is None:
            return plan
        with self._phases.phase("looking for recorded answers"):
            found = use_recorded_answers(plan, repository, commit)
        if isinstance(found, str):
            say(f"answering anew: {found}")
            return plan
        say(f"judging again the answers that {found.run_url} recorded")
        self._activity = replace(activity, note=found.note)
        return found.plan

    def _clone(self) -> Clone:
        workspace = self._runner.workspace
        if not (workspace / ".git").exists():
            raise UsageError(
                f"{workspace} is no clone of the repository: let a step with `uses: actions/checkout` and "
                "`fetch-depth: 2` come before faithbot."
            )
        return Clone(workspace, self._runner.server_url, self._runner.repository, self._inputs.token)

    def _run(self, plan: Plan, preparing: Future[Prepared]) -> Results:
        with self._phases.phase("preparing"):
            prepared = preparing.result()
        self._server.fill(plan)
        import asyncio

        from faithbot.job import run_prepared

        with self._phases.phase("answering and judging"), group("Answering and judging"), commands_stopped():
            import_ahead(FOR_THE_RESULT)
            return asyncio.run(run_prepared(prepared, LogLines()))

    def _request(self, activity: Activity) -> CompareRequest:
        return CompareRequest(
            repository=self._runner.workspace,
            base=activity.base,
            head=activity.head,
            config=self._inputs.config,
            cache=kept_folder(self._runner, self._environ, "FAITHBOT_CACHE", "calls"),
            runs=self._inputs.runs,
            only=self._inputs.only,
            limit=self._inputs.limit,
            labels=activity.labels,
            judge=activity.judge,
            graded_by=activity.graded_by,
        )


def _prepare(plan: Plan, *, against_itself: bool) -> Prepared:
    """All that needs no model, done while Ollama starts. Prints nothing: the log is the main thread's."""
    from faithbot.job import prepare

    return prepare(plan, against_itself=against_itself)


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
