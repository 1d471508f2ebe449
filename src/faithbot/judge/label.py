"""The cheapest judge that uses a model: one call an answer, YES, PARTIAL or NO."""

from __future__ import annotations

import hashlib
import json
import re
from importlib import resources
from typing import TYPE_CHECKING, Any, Literal, get_args

from jinja2 import Environment, StrictUndefined

from faithbot.errors import CallError
from faithbot.judge.abstention import is_abstention
from faithbot.judge.evidence import nearest_passage
from faithbot.judge.protocol import Claim, JudgeFingerprint, Judgement
from faithbot.models.protocol import ChatRequest, Message, Model, SamplingOptions
from faithbot.models.tokens import estimate_tokens

if TYPE_CHECKING:
    from collections.abc import Sequence

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
_TAG = re.compile(r"<(?=/?\s*(?:passage|answer)\b)", re.IGNORECASE)


class LabelJudge:
    """Judges a whole answer at once. Its one claim is the answer itself."""

    repeats_itself = False

    def __init__(self, model: Model) -> None:
        self._model = model
        source = resources.files("faithbot.judge").joinpath("prompts/label.md").read_text(encoding="utf-8")
        environment = Environment(undefined=StrictUndefined, autoescape=False)  # noqa: S701 - a prompt is not HTML
        environment.filters["fenced"] = _fenced
        self._template = environment.from_string(source)
        self._own_tokens = estimate_tokens(source) + _OPTIONS.max_tokens
        self._prompts_digest = hashlib.sha256(source.encode()).hexdigest()[:12]

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
        if not any(context.strip() for context in contexts):
            return _judgement("NO", answer, contexts)
        prompt = self._template.render(question=question, answer=answer, contexts=contexts)
        request = ChatRequest(
            messages=(Message(role="user", content=prompt),),
            options=_OPTIONS,
            seed=repeat - 1,
            run=repeat,
            json_schema=_SCHEMA,
        )
        try:
            reply = await self._model.chat(request)
        except CallError as error:
            return Judgement(unscored=str(error))
        label = parse_label(reply.text)
        if label is None:
            return Judgement(unscored=f"the judge's reply holds no label: {reply.text.strip()[:80]!r}")
        return _judgement(label, answer, contexts)


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


def _judgement(label: Label, answer: str, contexts: Sequence[str]) -> Judgement:
    nearest = nearest_passage(answer, contexts)
    claim = Claim(
        text=answer.strip(),
        support="supported" if label == "YES" else "not_found",
        probability=SCORES[label],
        evidence=nearest[0] if nearest else None,
    )
    return Judgement(claims=(claim,), faithfulness=SCORES[label])


def _fenced(text: str) -> str:
    """The text with the prompt's own tags defused, so that nothing inside can close them."""
    return _TAG.sub("‹", text)
