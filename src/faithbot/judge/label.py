"""The cheapest judge that uses a model: one call an answer, YES, PARTIAL or NO."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal

from faithbot.errors import CallError
from faithbot.judge.abstention import without_abstention
from faithbot.judge.asking import judging_request
from faithbot.judge.evidence import nearest_passage
from faithbot.judge.protocol import Claim, JudgeFingerprint, Judgement
from faithbot.judge.unjudged import unjudged
from faithbot.models.protocol import SamplingOptions
from faithbot.models.tokens import estimate_tokens

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faithbot.judge.prompts import Prompts
    from faithbot.models.protocol import Model

Label = Literal["YES", "PARTIAL", "NO"]

SCORES: dict[Label, float] = {"YES": 1.0, "PARTIAL": 0.5, "NO": 0.0}
VERSION = "3"

_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"label": {"type": "string", "enum": list(SCORES)}},
    "required": ["label"],
    "additionalProperties": False,
}
_OPTIONS = SamplingOptions(temperature=0.0, max_tokens=32)
_LABEL_LINE = re.compile(r"^\W*(?:label\W+)?(yes|partial|no)\W*$", re.IGNORECASE)
_LABEL_JSON = re.compile(r'\{\s*"label"\s*:\s*"(YES|PARTIAL|NO)"\s*\}')
_HAS_WORD = re.compile(r"\w")
_CODE_FENCE = re.compile(r"```\w*")
_QUOTES = tuple("\"'`“‘«„「")
_PROMPT = "label.md"
_PROMPTS = (_PROMPT, "rubric.md")


class LabelJudge:
    """Judges a whole answer at once. Its one claim is the answer itself, without what it says that it does not know."""

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
        if (known := unjudged(answer)) is not None:
            return known
        stated = without_abstention(answer)
        try:
            label = await self._ask(question, stated, contexts, repeat)
        except CallError as error:
            return Judgement(unscored=str(error))
        return Judgement(claims=(_claim(label, stated, contexts),), faithfulness=SCORES[label])

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
        reply = await self._model.chat(judging_request(prompt, _OPTIONS.max_tokens, repeat, _SCHEMA))
        label = parse_label(reply.text)
        if label is None:
            raise CallError(f"the judge's reply holds no label: {reply.text.strip()[:80]!r}")
        return label


def parse_label(text: str) -> Label | None:
    """The label of a reply: the last one that stands by itself, as JSON or as a word on a line of its own.

    Where none does, the last JSON inside prose that is not quoted. What the reply quotes of an answer decides nothing,
    nor does a label as a word of a sentence: "no passage says yes".
    """
    by_itself: Label | None = None
    in_prose: Label | None = None
    for line in text.splitlines():
        if line.lstrip().startswith(">"):
            continue
        if match := _LABEL_LINE.match(line):
            by_itself = _spoken(match[1])
        for match in _LABEL_JSON.finditer(line):
            if not _HAS_WORD.search(_CODE_FENCE.sub("", line[: match.start()] + line[match.end() :])):
                by_itself = _spoken(match[1])
            elif line[: match.start()][-1:] not in _QUOTES:
                in_prose = _spoken(match[1])
    return by_itself or in_prose


def _spoken(word: str) -> Label:
    labels: dict[str, Label] = {"yes": "YES", "partial": "PARTIAL", "no": "NO"}
    return labels[word.lower()]


def _claim(label: Label, text: str, contexts: Sequence[str]) -> Claim:
    nearest = nearest_passage(text, contexts)
    return Claim(
        text=text.strip(),
        support="supported" if label == "YES" else "not_found",
        probability=SCORES[label],
        evidence=nearest[0] if nearest else None,
    )
