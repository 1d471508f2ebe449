"""From the judge's settings to a judge."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faithbot.judge.calibrated import CalibratedJudge
from faithbot.judge.claims import ClaimsJudge
from faithbot.judge.evidence import EvidenceJudge
from faithbot.judge.files import JudgeFiles
from faithbot.judge.label import LabelJudge
from faithbot.judge.prompts import Prompts
from faithbot.judge.recorded import RecordedJudge

if TYPE_CHECKING:
    from collections.abc import Callable

    from faithbot.config import JudgeSettings
    from faithbot.judge.protocol import Judge
    from faithbot.models.protocol import Model

_NO_FILES = JudgeFiles()


def open_judge(settings: JudgeSettings, open_model: Callable[[str], Model], files: JudgeFiles = _NO_FILES) -> Judge:
    """The judge that the settings name; its model, if it needs one, comes from ``open_model``."""
    judge = _open(settings, open_model, files)
    return judge if files.calibration is None else CalibratedJudge(judge, files.calibration.content)


def _open(settings: JudgeSettings, open_model: Callable[[str], Model], files: JudgeFiles) -> Judge:
    if settings.method == "recorded":
        return RecordedJudge(settings)
    if settings.model is None:
        return EvidenceJudge()
    model, prompts = open_model(settings.model), Prompts(files.prompts)
    if settings.method == "label":
        return LabelJudge(model, prompts)
    return ClaimsJudge(model, prompts, settings.batch)
