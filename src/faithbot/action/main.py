"""The GitHub Action: the runner's environment in, exit code out."""

from __future__ import annotations

import functools
import os
import signal
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from faithbot import __version__
from faithbot.action.activity import NothingToDo
from faithbot.action.inputs import WrongInputsError, forget_tokens, read_inputs
from faithbot.action.log import say, say_error, say_fault, show_own_log
from faithbot.action.model_server import OLLAMA_OWNER
from faithbot.action.ownership import hand_over_all, tell_what_is_not_kept
from faithbot.action.report_files import artifact_folder, remove_stale
from faithbot.action.step import OWN_FOLDERS, Step
from faithbot.errors import FaithbotError, UsageError
from faithbot.exit_codes import FAULT, INTERRUPTED
from faithbot.github.event import WorkflowRunEvent, read_event
from faithbot.github.runner import Runner, mounted_temp
from faithbot.github.workflow_commands import annotate, join_streams, mask, read_state

if TYPE_CHECKING:
    from collections.abc import Mapping, MutableMapping

    from github.Repository import Repository

    from faithbot.action.inputs import ActionInputs


_SWITCH_INTERVAL = 0.0005
"""Seconds that a thread which imports holds up the main one: the default is 0.005, for each answer of git or Docker."""


def main() -> NoReturn:
    """Entry point of the container."""
    # As process 1 of a container, Python dies of neither signal by itself: both end the work in order.
    # SIGINT as well must be told so: a process that was started in the background is born deaf to it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    sys.setswitchinterval(_SWITCH_INTERVAL)
    try:
        code = run_action(os.environ)
    except FaithbotError as error:
        say_error(str(error))
        code = error.exit_code
    except KeyboardInterrupt:
        say("cancelled")
        code = INTERRUPTED
    except Exception as error:  # noqa: BLE001 - the last resort: a fault of faithbot must not look like a verdict
        say_fault(error)
        code = FAULT
    _end(code)


def _end(code: int) -> NoReturn:
    """End at once: whoever cancels has 2.5 s of patience, and what was begun ahead of its need may take longer.

    A thread that is no daemon is waited for: see :func:`faithbot.action.overlap.beside`.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def clean_up() -> None:
    """Entry point of the container that the runner starts after the job: remove what a killed step left behind.

    The files that it keeps for the next job are handed over to the runner's user.
    """
    owner = read_state(os.environ, OLLAMA_OWNER)
    if owner is not None:
        from faithbot.ollama_service import remove_leftovers  # slow: Docker's client

        try:
            remove_leftovers(owner)
        except FaithbotError as error:
            say(f"nothing was cleaned up: {error}")
    folders = [Path(folder) for folder in (read_state(os.environ, OWN_FOLDERS) or "").splitlines()]
    workspace = os.environ.get("GITHUB_WORKSPACE")
    if workspace is not None:
        hand_over_all(folders, Path(workspace), mounted_temp(os.environ))


def run_action(environ: MutableMapping[str, str]) -> int:
    """One step of a job, from its environment to its exit code."""
    join_streams()
    show_own_log()
    runner = Runner.from_environment(environ)
    inputs, wrong = _inputs(environ)
    token = inputs.token.get_secret_value() if inputs.token else None
    if token:
        mask(token)
    forget_tokens(environ)
    say(f"faithbot {__version__} on `{runner.event_name}`")
    if runner.event_name != "workflow_run":
        _remove_stale(runner, inputs)
    event = read_event(runner)
    if isinstance(event, WorkflowRunEvent):
        if wrong is not None:
            raise wrong
        return _publish(event, runner, inputs, token)
    tell_what_is_not_kept(runner, say)
    step = Step(runner, inputs, environ, functools.partial(_open_repository, runner, token))
    return step.run(event) if wrong is None else step.refuse(event, wrong)


def _inputs(environ: Mapping[str, str]) -> tuple[ActionInputs, WrongInputsError | None]:
    try:
        return read_inputs(environ), None
    except WrongInputsError as error:
        return error.others, error


def _remove_stale(runner: Runner, inputs: ActionInputs) -> None:
    try:
        remove_stale(runner.workspace, inputs.artifact_dir)
    except UsageError as error:
        say(str(error))


def _open_repository(runner: Runner, token: str | None) -> Repository | None:
    from faithbot.github.api import open_repository  # slow: GitHub's client

    return open_repository(runner.repository, token, runner.api_url) if token else None


def _publish(event: WorkflowRunEvent, runner: Runner, inputs: ActionInputs, token: str | None) -> int:
    from faithbot.publish import publish

    folder = artifact_folder(runner.workspace, inputs.artifact_dir)
    posted = publish(folder, event, runner, token, inputs.comment_key)
    if isinstance(posted, NothingToDo):
        annotate("notice", f"nothing published: {posted.reason}", title="faithbot")
    else:
        say(f"published: {posted}")
    return 0
