"""The log of a job, where nothing that others wrote may look like a command to the runner."""

from __future__ import annotations

import logging
import sys
import traceback

from faithbot.github.workflow_commands import annotate, without_commands
from faithbot.plain_text import plain
from faithbot.progress import PlainLines

_LAST_LINE = 500
"""Characters of it that an annotation repeats."""


def say(message: str) -> None:
    """A line of the log."""
    show(f"faithbot: {message}")


def show(text: str) -> None:
    """A text of several lines."""
    print(_printable(text), flush=True)  # noqa: T201 - this is the log


def say_error(message: str) -> None:
    """As an annotation, which GitHub shows on the run's page."""
    annotate("error", message, title="faithbot")


def say_fault(error: Exception) -> None:
    """A fault of faithbot: all of it in the log, its last line as an annotation, which has no room for more."""
    show("".join(traceback.format_exception(error)))
    last = plain(traceback.format_exception_only(error)[-1], _LAST_LINE)
    say_error(f"this is a fault of faithbot itself, please report it with the log: {last}")


class LogLines(PlainLines):
    """Progress as lines of the log."""

    def say(self, message: str) -> None:
        """Print the line."""
        say(message)


def show_own_log() -> None:
    """What faithbot logs (a server that is asked again), but not what its libraries do."""
    handler = logging.StreamHandler(sys.stdout)
    handler.setFormatter(_SafeFormatter("faithbot: %(message)s"))
    log = logging.getLogger("faithbot")
    log.addHandler(handler)
    log.setLevel(logging.INFO)


class _SafeFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return _printable(super().format(record))


def _printable(text: str) -> str:
    """Without commands, and without half characters such as a file name in another encoding than UTF-8 has."""
    return without_commands(text).encode(errors="replace").decode()
