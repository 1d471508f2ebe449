"""From the judge's settings to a judge."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faithbot.judge.evidence import EvidenceJudge
from faithbot.judge.label import LabelJudge
from faithbot.judge.recorded import RecordedJudge

if TYPE_CHECKING:
    from collections.abc import Callable

    from faithbot.config import JudgeSettings
    from faithbot.judge.protocol import Judge
    from faithbot.models.protocol import Model


def open_judge(settings: JudgeSettings, open_model: Callable[[str], Model]) -> Judge:
    """The judge that the settings name; its model, if it needs one, comes from ``open_model``."""
    if settings.method == "recorded":
        return RecordedJudge(settings)
    return EvidenceJudge() if settings.model is None else LabelJudge(open_model(settings.model))
