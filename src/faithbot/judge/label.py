"""The cheapest judge that uses a model: one call an answer, YES, PARTIAL or NO."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Literal, get_args

from faithbot.errors import CallError
from faithbot.judge.abstention import is_abstention
from faithbot.judge.evidence import nearest_passage
from faithbot.judge.protocol import Claim, JudgeFingerprint, Judgement
from faithbot.models.protocol import ChatRequest, Message, Model, SamplingOptions
from faithbot.models.tokens import estimate_tokens

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faithbot.judge.prompts import Prompts

Label = Literal["YES", "PARTIAL", "NO"]

SCORES: dict[Label, float] = {"YES": 1.0, "PARTIAL": 0.5, "NO": 0.0}
VERSION = "1"

_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"label": {"type": "string", "enum": list(SCORES)}},
    "required": ["label"],
    "additionalProperties": False,
}
_OPTIONS = SamplingOptions(temperature=0.0, max_tokens=32)
_LABEL_LINE = re.compile(r"^\W*(?:label\W+)?(yes|partial|no)\W*$", re.IGNORECASE)
_PROMPT = "label.md"
_PROMPTS = (_PROMPT, "rubric.md")


class LabelJudge:
    """Judges a whole answer at once. Its one claim is the answer itself."""

    repeats_itself = False

    def __init__(self, model: Model, prompts: Prompts) -> None:
        self._model = model
        self._template = prompts.template(_PROMPT)
        self._own_tokens = sum(estimate_tokens(prompts.text(name)) for name in _PROMPTS) + _OPTIONS.max_tokens
        self._prompts_digest = prompts.digest(*_PROMPTS)

    async def fingerprint(self) -> JudgeFingerprint:
        """Method, weights, prompt and options."""
        identity = await self._model.identity()
        return JudgeFingerprint(
            method="label",
            model=f"{identity.provider}/{identity.name}",
            model_digest=identity.digest,
            prompts_digest=self._prompts_digest,
            options=_OPTIONS.model_dump(),
            version=VERSION,
        )

    def reserve(self, tokens: int) -> None:
        """Size the model's context for that and the prompt around it; a longer answer still finds room, at a reload."""
        self._model.reserve(tokens + self._own_tokens)

    async def judge(self, question: str, answer: str, contexts: Sequence[str], repeat: int = 1) -> Judgement:
        """One call; none where the answer abstains, is empty, or was given no passage at all."""
        if not answer.strip():
            return Judgement(unscored="the answer is empty")
        if is_abstention(answer):
            return Judgement(abstained=True)
        try:
            label = await self._ask(question, answer, contexts, repeat)
        except CallError as error:
            return Judgement(unscored=str(error))
        return Judgement(claims=(_claim(label, answer, contexts),), faithfulness=SCORES[label])

    async def check(self, claim: str, contexts: Sequence[str], repeat: int = 1) -> Claim:
        """The claim judged as a whole answer."""
        try:
            return _claim(await self._ask("", claim, contexts, repeat), claim, contexts)
        except CallError as error:
            return Claim(text=claim, unscored=str(error))

    async def _ask(self, question: str, answer: str, contexts: Sequence[str], repeat: int) -> Label:
        """NO without a call where no passage was given; :class:`CallError` where the reply cannot be read."""
        if not any(context.strip() for context in contexts):
            return "NO"
        prompt = self._template.render(question=question, answer=answer, contexts=contexts)
        request = ChatRequest(
            messages=(Message(role="user", content=prompt),),
            options=_OPTIONS,
            seed=repeat - 1,
            run=repeat,
            json_schema=_SCHEMA,
        )
        reply = await self._model.chat(request)
        label = parse_label(reply.text)
        if label is None:
            raise CallError(f"the judge's reply holds no label: {reply.text.strip()[:80]!r}")
        return label


def parse_label(text: str) -> Label | None:
    """The label of a reply: the JSON that was asked for, else the last line that is nothing but a label.

    A label inside a sentence does not count: "no passage says yes" decides nothing.
    """
    for candidate in reversed(re.findall(r"\{[^{}]*\}", text)):
        try:
            label = json.loads(candidate).get("label")
        except json.JSONDecodeError:
            continue
        if label in get_args(Label):
            found: Label = label
            return found
    for line in reversed(text.splitlines()):
        if match := _LABEL_LINE.match(line):
            spoken: dict[str, Label] = {"yes": "YES", "partial": "PARTIAL", "no": "NO"}
            return spoken[match[1].lower()]
    return None


def _claim(label: Label, text: str, contexts: Sequence[str]) -> Claim:
    nearest = nearest_passage(text, contexts)
    return Claim(
        text=text.strip(),
        support="supported" if label == "YES" else "not_found",
        probability=SCORES[label],
        evidence=nearest[0] if nearest else None,
    )
