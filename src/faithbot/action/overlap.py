"""What happens beside the main thread: it waits for Docker, models and GitHub, and alone hears signals.

No thread here is a daemon: a process that ends, also after a signal, waits for them.
"""

from __future__ import annotations

from importlib import import_module
from threading import Thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

FOR_THE_WORK = ("faithbot.ollama_service", "faithbot.job", "faithbot.models.ollama", "faithbot.models.openai")
"""Imported while git answers and Ollama starts; in the order in which they are needed."""
FOR_THE_RESULT = ("faithbot.action.delivery", "faithbot.report.terminal")
"""Imported while models answer."""


def import_ahead(modules: Iterable[str]) -> Thread:
    """Import modules that take long to load. An import elsewhere of one of them waits for the rest of it."""

    def load() -> None:
        for module in modules:
            import_module(module)

    return beside(load)


def beside(work: Callable[[], None]) -> Thread:
    """Start the work in a thread of its own; who needs it done joins the thread."""
    thread = Thread(target=work)
    thread.start()
    return thread
