"""How far the work is, on standard error: a live bar in a terminal, a plain line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

_SECONDS_BETWEEN_LINES = 15.0


class Progress(Protocol):
    """Receives what happens while a comparison runs."""

    def say(self, message: str) -> None:
        """Something worth a line of its own."""
        ...

    def start(self, total: int, things: str = "answers") -> None:
        """So many are to be judged: answers, or other ``things``."""
        ...

    def advance(self, what: str) -> None:
        """One more is judged; ``what`` names it."""
        ...


class Silent:
    """No output at all."""

    def say(self, message: str) -> None:
        """Ignore it."""

    def start(self, total: int, things: str = "answers") -> None:
        """Ignore it."""

    def advance(self, what: str) -> None:
        """Ignore it."""


class PlainLines:
    """Lines for logs: the first judgement, one every 15 seconds, and the last."""

    def __init__(self) -> None:
        self._total = self._done = 0
        self._things = ""
        self._started = self._last_line = 0.0

    def say(self, message: str) -> None:
        """Print the line."""
        print(f"faithbot: {message}", file=sys.stderr, flush=True)  # noqa: T201 - this is the log

    def start(self, total: int, things: str = "answers") -> None:
        """Reset the count."""
        self._total, self._done, self._things = total, 0, things
        self._started = time.monotonic()
        self._last_line = -_SECONDS_BETWEEN_LINES

    def advance(self, what: str) -> None:
        """Count, and print when a line is due."""
        self._done += 1
        now = time.monotonic()
        if self._done == self._total or now - self._last_line >= _SECONDS_BETWEEN_LINES:
            self._last_line = now
            self.say(f"{self._done} of {self._total} {self._things} judged after {now - self._started:.0f} s ({what})")


class LiveBar:
    """A bar that redraws itself. Use as a context manager, so that the terminal is left clean."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as RichProgress

        columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"), TimeRemainingColumn())
        self._bar = RichProgress(*columns, console=Console(stderr=True), transient=True)
        self._task = self._bar.add_task("", visible=False)

    def __enter__(self) -> LiveBar:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def say(self, message: str) -> None:
        """Print above the bar."""
        self._bar.console.print(f"faithbot: {message}", markup=False, highlight=False)

    def start(self, total: int, things: str = "answers") -> None:
        """Show the bar."""
        self._bar.reset(self._task, total=total, description=things, visible=True)

    def advance(self, what: str) -> None:
        """Move the bar."""
        self._bar.update(self._task, advance=1, description=what.replace("[", "\\["))


@contextmanager
def open_progress() -> Iterator[Progress]:
    """A live bar where standard error is a terminal, plain lines elsewhere."""
    if sys.stderr.isatty():
        with LiveBar() as bar:
            yield bar
    else:
        yield PlainLines()
