"""From the judge's settings to a judge."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faithbot.judge.evidence import EvidenceJudge
from faithbot.judge.files import JudgeFiles
from faithbot.judge.label import LabelJudge
from faithbot.judge.prompts import Prompts
from faithbot.judge.recorded import RecordedJudge
from faithbot.judge.relevance import RelevanceGrader

if TYPE_CHECKING:
    from collections.abc import Callable

    from faithbot.config import JudgeSettings
    from faithbot.judge.protocol import Judge
    from faithbot.models.protocol import Model

_NO_FILES = JudgeFiles()


def open_judge(settings: JudgeSettings, open_model: Callable[[str], Model], files: JudgeFiles = _NO_FILES) -> Judge:
    """The judge that the settings name; its model, if it needs one, comes from ``open_model``."""
    if settings.method == "recorded":
        return RecordedJudge(settings)
    if settings.model is None:
        return EvidenceJudge()
    return LabelJudge(open_model(settings.model), Prompts(files.prompts))


def open_grader(
    settings: JudgeSettings, open_model: Callable[[str], Model], files: JudgeFiles = _NO_FILES
) -> RelevanceGrader | None:
    """Who grades the relevance of answers: the judge's model; None where it has none."""
    return None if settings.model is None else RelevanceGrader(open_model(settings.model), Prompts(files.prompts))
