"""Which judgements count: a score, an abstention, or the finding that an answer states no fact."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faithbot.judge.protocol import STATES_NO_FACT

if TYPE_CHECKING:
    from faithbot.judge.protocol import Judgement
    from faithbot.results import AnswerRecord


def judged(record: AnswerRecord) -> Judgement | None:
    """The judgement of the answer; None where it could not be judged."""
    judgement = record.judgement
    return judgement if judgement and judgement.unscored in (None, STATES_NO_FACT) else None


def is_judged(record: AnswerRecord) -> bool:
    """The answer has a score, abstains or states no fact: it counts for the coverage."""
    return judged(record) is not None
