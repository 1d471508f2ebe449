"""How well an answer meets its question: a grade from 1 to 5 by a model, shown as 0 to 1."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

from faithbot.errors import CallError
from faithbot.judge.asking import FirstToken, judging_request
from faithbot.models.tokens import estimate_tokens

if TYPE_CHECKING:
    from faithbot.judge.prompts import Prompts
    from faithbot.models.protocol import Model, TokenLogprob

GRADES = (1, 2, 3, 4, 5)
VERSION = "1"
RELEVANCE_OPTION = "answer_relevance"
"""Of a fingerprint: which version graded, where relevance was measured."""

_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"grade": {"type": "integer", "enum": list(GRADES)}},
    "required": ["grade"],
    "additionalProperties": False,
}
_MOST_TOKENS = 32
_GRADE = re.compile(r'"grade"\s*:\s*([1-5])\s*[,}]')
_BARE_GRADE = re.compile(r"\W*([1-5])\W*")
_PROMPT = "relevance.md"


class RelevanceGrader:
    """Asks a model for one grade an answer: one token where the backend tells probabilities, else constrained JSON."""

    def __init__(self, model: Model, prompts: Prompts) -> None:
        self._model = model
        self._template = prompts.template(_PROMPT)
        self._own_tokens = estimate_tokens(prompts.text(_PROMPT)) + _MOST_TOKENS
        self._first_token = FirstToken(model)
        self.version = f"{VERSION}-{prompts.digest(_PROMPT)}"
        """Changes with whatever changes a grade, besides the model."""

    def reserve(self, tokens: int) -> None:
        """Announce the most tokens that question and answer have together."""
        self._model.reserve(tokens + self._own_tokens)

    async def grade(self, question: str, answer: str, repeat: int = 1) -> float:
        """The relevance, 0 to 1; :class:`CallError` where the reply holds no grade.

        Where the backend tells probabilities, it is the mean grade over them, as in G-Eval (Liu et al. 2023): a single
        one of five is coarse. Each ``repeat`` (1, 2, ...) is a new draw.
        """
        prompt = self._template.render(question=question, answer=answer, as_json=False)
        token = await self._first_token.ask(prompt, repeat)
        grade = mean_grade(token) if token else None
        if grade is None:
            grade = await self._said_grade(question, answer, repeat)
        return (grade - GRADES[0]) / (GRADES[-1] - GRADES[0])

    async def _said_grade(self, question: str, answer: str, repeat: int) -> int:
        prompt = self._template.render(question=question, answer=answer, as_json=True)
        reply = await self._model.chat(judging_request(prompt, _MOST_TOKENS, repeat, _SCHEMA))
        return said_grade(reply.text)


def mean_grade(token: TokenLogprob) -> float | None:
    """The grades at a token weighted by their probabilities, 1 to 5; None where the likeliest is none of them.

    "4" and " 4" are the same grade.
    """
    weights = dict.fromkeys(GRADES, 0.0)
    logprobs = {**token.alternatives, token.token: token.logprob}
    if _grade(max(logprobs, key=lambda text: logprobs[text])) is None:
        return None
    for text, logprob in logprobs.items():
        if (grade := _grade(text)) is not None:
            weights[grade] += math.exp(logprob)
    return sum(grade * weight for grade, weight in weights.items()) / sum(weights.values())


def _grade(token: str) -> int | None:
    return next((grade for grade in GRADES if token.strip() == str(grade)), None)


def said_grade(reply: str) -> int:
    """The last grade in the JSON that was asked for, or a reply that is nothing but a grade; else a CallError."""
    grades = _GRADE.findall(reply)
    if not grades and (bare := _BARE_GRADE.fullmatch(reply)):
        grades = [bare[1]]
    if not grades:
        raise CallError("the judge's reply holds no grade from 1 to 5")
    return int(grades[-1])
