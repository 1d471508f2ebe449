"""From a side's configuration to the system that it names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faithbot.errors import UsageError
from faithbot.systems.pipeline import PipelineSystem
from faithbot.systems.recorded import RecordedSystem

if TYPE_CHECKING:
    from collections.abc import Callable

    from faithbot.config import JudgeSettings, LoadedConfig
    from faithbot.models.protocol import Model
    from faithbot.systems.protocol import System


def open_system(loaded: LoadedConfig, judge: JudgeSettings, runs: int, open_model: Callable[[str], Model]) -> System:
    """The system of one side; its model, if it needs one, comes from ``open_model``.

    ``judge`` and ``runs`` are base's: they say which recorded scores and how many recorded runs are read.
    """
    if (recorded := loaded.config.system.recorded) is not None:
        return RecordedSystem(loaded, recorded, judge, runs)
    if judge.method == "recorded":
        raise UsageError(
            f"{loaded.place('system')}: the judge `recorded` reads scores out of recorded answers, "
            "and a pipeline's answers have none: choose another judge."
        )
    return PipelineSystem(loaded, open_model)
