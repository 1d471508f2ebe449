"""The GitHub Action: the runner's environment in, exit code out."""

from __future__ import annotations

import os
import signal
import sys
import traceback
from typing import TYPE_CHECKING, NoReturn

from faithbot import __version__
from faithbot.action.delivery import Delivery, artifact_folder
from faithbot.action.inputs import forget_tokens, read_inputs
from faithbot.action.log import say, say_error, show_own_log
from faithbot.action.step import OLLAMA_OWNER, Step
from faithbot.errors import FaithbotError
from faithbot.exit_codes import FAULT, INTERRUPTED
from faithbot.github.api import open_repository
from faithbot.github.event import WorkflowRunEvent, read_event
from faithbot.github.runner import Runner
from faithbot.github.workflow_commands import join_streams, mask, read_state
from faithbot.ollama_service import remove_leftovers
from faithbot.publish import publish

if TYPE_CHECKING:
    from collections.abc import MutableMapping


def main() -> NoReturn:
    """Entry point of the container."""
    # As process 1 of a container, Python dies of neither signal by itself: both end the work in order.
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        code = run_action(os.environ)
    except FaithbotError as error:
        say_error(str(error))
        code = error.exit_code
    except KeyboardInterrupt:
        say("cancelled")
        code = INTERRUPTED
    except Exception:  # noqa: BLE001 - the last resort: a fault of faithbot must not look like a verdict
        say_error(f"this is a fault of faithbot itself, please report it:\n{traceback.format_exc()}")
        code = FAULT
    sys.exit(code)


def clean_up() -> None:
    """Entry point of the container that the runner starts after the job: remove what a killed step left behind."""
    owner = read_state(os.environ, OLLAMA_OWNER)
    if owner is None:
        return
    try:
        remove_leftovers(owner)
    except FaithbotError as error:
        say(f"nothing was cleaned up: {error}")


def run_action(environ: MutableMapping[str, str]) -> int:
    """One step of a job, from its environment to its exit code."""
    join_streams()
    show_own_log()
    runner = Runner.from_environment(environ)
    inputs = read_inputs(environ)
    token = inputs.token.get_secret_value() if inputs.token else None
    if token:
        mask(token)
    forget_tokens(environ)
    say(f"faithbot {__version__} on `{runner.event_name}`")
    event = read_event(runner)
    if isinstance(event, WorkflowRunEvent):
        folder = artifact_folder(runner.workspace, inputs.artifact_dir)
        say(f"published: {publish(folder, event, runner, token, inputs.comment_key)}")
        return 0
    repository = open_repository(runner.repository, token, runner.api_url) if token else None
    return Step(runner, inputs, environ, Delivery(runner, inputs, repository, say)).run(event)
