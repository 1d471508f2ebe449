"""Judgements that were recorded with the answers: another tool's scores, taken as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from faithbot.judge.abstention import is_abstention
from faithbot.judge.protocol import Claim, JudgeFingerprint, Judgement

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from faithbot.config import JudgeSettings

VERSION = "1"


class RecordedJudge:
    """Judges nothing itself: an answer that brings no score along has none."""

    repeats_itself = False

    def __init__(self, settings: JudgeSettings) -> None:
        self._settings = settings

    async def fingerprint(self) -> JudgeFingerprint:
        """Columns and scale. Who filled the columns, and how, only the records could tell."""
        options = {"scores": dict(self._settings.scores), "scale": list(self._settings.scale)}
        return JudgeFingerprint(method="recorded", options=options, version=VERSION)

    def reserve(self, tokens: int) -> None:
        """Nothing to do: no model, no context window."""

    async def judge(self, question: str, answer: str, contexts: Sequence[str], repeat: int = 1) -> Judgement:  # noqa: ARG002
        """What there is to say without a recorded score."""
        return recorded_judgement(self._settings, answer, {})

    async def check(self, claim: str, contexts: Sequence[str], repeat: int = 1) -> Claim:  # noqa: ARG002
        """What there is to say without a recorded score."""
        return Claim(text=claim, unscored="no score is recorded for it")


def recorded_judgement(settings: JudgeSettings, answer: str, columns: Mapping[str, Any]) -> Judgement:
    """Recorded scores of one answer, the scale's worst as 0 and its best as 1.

    An answer that says that it cannot answer is an abstention, as with every judge: its scores do not count. One score
    that is missing or off the scale leaves the whole answer unscored, with the reason.
    """
    if is_abstention(answer):
        return Judgement(abstained=True)
    worst, best = settings.scale
    scores: dict[str, float] = {}
    for metric, column in settings.scores.items():
        score = _number(columns.get(column))
        if score is None:
            return Judgement(unscored=f"no number is recorded as {column}")
        share = (score - worst) / (best - worst)
        if not 0 <= share <= 1:
            return Judgement(unscored=f"{column} is {score:g}, which is off the scale from {worst:g} to {best:g}")
        scores[metric] = share
    return Judgement(faithfulness=scores.get("faithfulness"), relevance=scores.get("answer_relevance"))


def _number(value: Any) -> float | None:
    """A number, or a text that is one, as in CSV."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):  # a whole number of more than 308 digits
        return None
