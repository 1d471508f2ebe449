"""What happens beside the main thread: it waits for Docker, models and GitHub, and alone hears signals."""

from __future__ import annotations

from concurrent.futures import Future
from importlib import import_module
from threading import Thread
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

T = TypeVar("T")

FOR_THE_WORK = (
    "faithbot.ollama_service",
    "faithbot.job",
    "faithbot.models.ollama",
    "faithbot.models.openai",
    "faithbot.ollama_service.pull",
    "httpcore",  # with the next one, what httpx imports for its first request
    "anyio._backends._asyncio",
)
"""Imported while git answers and Ollama starts; in the order in which they are needed."""
FOR_THE_RESULT = (
    "faithbot.action.delivery",
    "faithbot.report.terminal",
    "numpy.ma",  # which numpy would import for its first `unique`
)
"""Imported while models answer."""


def import_ahead(modules: Iterable[str]) -> Future[None]:
    """Import modules that take long to load. An import elsewhere of one of them waits for the rest of it."""

    def load() -> None:
        for module in modules:
            import_module(module)

    return ahead(load)


def ahead(work: Callable[[], T]) -> Future[T]:
    """Start work whose result, or error, is wanted later. A process that ends does not wait for it."""
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:  # noqa: BLE001 - it is raised where the result is asked for
            future.set_exception(error)

    Thread(target=run, daemon=True).start()
    return future


def beside(work: Callable[[], None]) -> Thread:
    """Start work that must come to its end: a process that ends waits for it."""
    thread = Thread(target=work)
    thread.start()
    return thread
