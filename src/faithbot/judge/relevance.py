"""How well an answer meets its question: a grade from 1 to 5 by a model, shown as 0 to 1."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

from faithbot.errors import CallError
from faithbot.models.protocol import ChatRequest, Message, Model, Reply, SamplingOptions
from faithbot.models.tokens import estimate_tokens

if TYPE_CHECKING:
    from faithbot.judge.prompts import Prompts
    from faithbot.models.protocol import TokenLogprob

GRADES = (1, 2, 3, 4, 5)
VERSION = "1"

_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"grade": {"type": "integer", "enum": list(GRADES)}},
    "required": ["grade"],
    "additionalProperties": False,
}
_OPTIONS = SamplingOptions(temperature=0.0, max_tokens=16)
_MOST_ALTERNATIVES = 20
_GRADE = re.compile(r'\{\s*"grade"\s*:\s*([1-5])\s*\}')
_PROMPT = "relevance.md"


class RelevanceGrader:
    """Asks a model for one grade an answer, in one constrained call."""

    def __init__(self, model: Model, prompts: Prompts) -> None:
        self._model = model
        self._template = prompts.template(_PROMPT)
        self._own_tokens = estimate_tokens(prompts.text(_PROMPT)) + _OPTIONS.max_tokens
        self.version = f"{VERSION}-{prompts.digest(_PROMPT)}"
        """Changes with whatever changes a grade, besides the model."""

    def reserve(self, tokens: int) -> None:
        """Announce the most tokens that question and answer have together."""
        self._model.reserve(tokens + self._own_tokens)

    async def grade(self, question: str, answer: str, repeat: int = 1) -> float:
        """The relevance, 0 to 1; :class:`CallError` where the reply holds no grade.

        Where the backend tells probabilities, the expected grade over them, as in G-Eval (Liu et al. 2023): one grade
        of five is a coarse scale. Each ``repeat`` (1, 2, ...) is a new draw.
        """
        request = ChatRequest(
            messages=(Message(role="user", content=self._template.render(question=question, answer=answer)),),
            options=_OPTIONS,
            seed=repeat - 1,
            run=repeat,
            json_schema=_SCHEMA,
            top_logprobs=_MOST_ALTERNATIVES,
        )
        reply = await self._model.chat(request)
        return (expected_grade(reply) - GRADES[0]) / (GRADES[-1] - GRADES[0])


def expected_grade(reply: Reply) -> float:
    """The mean grade, 1 to 5, weighted by the probabilities at its token, or the grade itself where there are none.

    The last grade counts. :class:`CallError` where there is none.
    """
    grades = _GRADE.findall(reply.text)
    if not grades:
        raise CallError("the judge's reply holds no grade from 1 to 5")
    token = next((token for token in reversed(reply.logprobs or ()) if token.token.strip() == grades[-1]), None)
    return float(grades[-1]) if token is None else _mean(token)


def _mean(token: TokenLogprob) -> float:
    """Over the alternatives that are grades: " 4" and "4" are the same one."""
    weights = dict.fromkeys(GRADES, 0.0)
    for text, logprob in {**token.alternatives, token.token: token.logprob}.items():
        if text.strip() in map(str, GRADES):
            weights[int(text)] += math.exp(logprob)
    total = sum(weights.values())
    return sum(grade * weight for grade, weight in weights.items()) / total if total else float(token.token)
