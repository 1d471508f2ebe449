"""From the judge's settings to a judge."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faithbot.cache_folder import cache_folder
from faithbot.judge.calibrated import CalibratedJudge
from faithbot.judge.claims import ClaimsJudge
from faithbot.judge.evidence import EvidenceJudge
from faithbot.judge.files import JudgeFiles
from faithbot.judge.label import LabelJudge
from faithbot.judge.prompts import Prompts
from faithbot.judge.recorded import RecordedJudge
from faithbot.judge.relevance import RelevanceGrader
from faithbot.models.kept import KeptReplies

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from faithbot.config import JudgeSettings
    from faithbot.judge.protocol import Judge
    from faithbot.models.protocol import Model

_NO_FILES = JudgeFiles()


def open_judge(
    settings: JudgeSettings,
    open_model: Callable[[str], Model],
    files: JudgeFiles = _NO_FILES,
    cache: Path | None = None,
) -> Judge:
    """The judge that the settings name, calibrated where there is a file for it.

    Its language model, if it needs one, comes from ``open_model``. A judge that keeps its own results keeps them in
    ``cache``, by default the user's.
    """
    judge = _open(settings, open_model, files, cache or cache_folder())
    return judge if files.calibration is None else CalibratedJudge(judge, files.calibration.content)


def _open(settings: JudgeSettings, open_model: Callable[[str], Model], files: JudgeFiles, cache: Path) -> Judge:
    if settings.method == "recorded":
        return RecordedJudge(settings)
    if settings.method == "classifier":
        from faithbot.judge.classifier import ClassifierJudge  # with its HTTP client: others start without

        return ClassifierJudge(settings, cache)
    if settings.model is None:
        return EvidenceJudge()
    model, prompts = open_model(settings.model), Prompts(files.prompts)
    if settings.method == "label":
        return LabelJudge(model, prompts)
    return ClaimsJudge(model, prompts, settings.batch, KeptReplies(cache / "supports"))


def open_grader(
    settings: JudgeSettings, open_model: Callable[[str], Model], files: JudgeFiles = _NO_FILES
) -> RelevanceGrader | None:
    """Who grades the relevance of answers: the judge's model; None where it has none."""
    name = settings.language_model
    return None if name is None else RelevanceGrader(open_model(name), Prompts(files.prompts))
