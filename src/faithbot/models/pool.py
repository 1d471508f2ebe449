"""The models of one evaluation: opened once each, cached, measured together, closed together."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Self, TypeVar

from faithbot.models.cache import BusyClock, CachedModel
from faithbot.models.registry import open_model

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable
    from pathlib import Path
    from types import TracebackType

    from faithbot.models.protocol import Model


Item = TypeVar("Item")
Done = TypeVar("Done")


class ModelPool:
    """Models by name. Both sides and the judge share one where they name the same."""

    def __init__(self, cache: Path) -> None:
        self._cache = cache
        self._models: dict[str, CachedModel] = {}
        self.busy = BusyClock()
        """Runs while at least one call of any model is under way."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for model in self._models.values():
            await model.aclose()

    def open(self, name: str) -> Model:
        """The model that ``provider/name`` means."""
        if name not in self._models:
            self._models[name] = CachedModel(open_model(name), self._cache, self.busy)
        return self._models[name]

    @property
    def parallel_calls(self) -> int:
        """Answers to work on at once: one more than the models can, so that none waits for the client."""
        return 1 + max((model.parallel for model in self._models.values()), default=1)

    async def work_on(self, items: Iterable[Item], work: Callable[[Item], Awaitable[Done]]) -> list[Done]:
        """What the work makes of each item, in their order; at most :attr:`parallel_calls` are under way."""
        slots = asyncio.Semaphore(self.parallel_calls)

        async def work_in_turn(item: Item) -> Done:
            async with slots:
                return await work(item)

        return await asyncio.gather(*map(work_in_turn, items))

    @property
    def calls(self) -> int:
        """Calls that a model was really asked."""
        return sum(model.calls for model in self._models.values())

    @property
    def hits(self) -> int:
        """Calls that the cache answered."""
        return sum(model.hits for model in self._models.values())
