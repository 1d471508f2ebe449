"""The judge for a comparison that counts claims: a model takes the answer apart and gives each claim a support."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, NamedTuple

from faithbot.errors import CallError
from faithbot.judge import claim_extraction, claim_support
from faithbot.judge.abstention import without_abstention
from faithbot.judge.claim_extraction import ClaimExtractor
from faithbot.judge.claim_support import SupportAsker
from faithbot.judge.context_index import ContextIndex
from faithbot.judge.protocol import STATES_NO_FACT, Claim, JudgeFingerprint, Judgement
from faithbot.judge.sentences import statements
from faithbot.judge.unjudged import unjudged
from faithbot.judge.weighing import OPTIONS, judgement_of, weighed_claim
from faithbot.judge.windows import PackedContexts, SupportProbabilities, Window, choose_best
from faithbot.models.tokens import estimate_tokens

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faithbot.judge.prompts import Prompts
    from faithbot.models.kept import KeptReplies
    from faithbot.models.protocol import Model

VERSION = "4"
LARGEST_WINDOW = 16_384
"""Tokens of a call's contexts, at most, whatever the model could read: memory grows with them."""

_PROMPTS = (claim_extraction.PROMPT, claim_support.PROMPT, claim_support.BATCH_PROMPT, claim_support.RUBRIC)
_PASSAGE_TAGS = 24
"""Tokens that the prompt writes around a passage."""
_SMALLEST_WINDOW = 64
_BATCH = 20
"""Claims of one call: more of them blur each other."""
_CLAIM_TOKENS, _BATCH_TOKENS = 512, 2048
"""Room for a claim, which has at most 1,000 characters or so, and for those of one call with its reply."""
_DEAR_CALLS = ("openai",)
"""Backends where a call costs more than its tokens: they are asked about all claims at once."""


class _Reading(NamedTuple):
    """What the model said of one claim, window by window."""

    scored: list[tuple[Window, SupportProbabilities]]
    failures: list[str]


class ClaimsJudge:
    """Extraction in one call, then one token a claim; or two calls an answer where ``batch`` is set."""

    repeats_itself = False

    def __init__(
        self, model: Model, prompts: Prompts, batch: bool | None = None, kept: KeptReplies | None = None
    ) -> None:
        self._model = model
        self._extractor = ClaimExtractor(model, prompts)
        self._asker = SupportAsker(model, prompts, kept)
        self._batch = batch
        self._prompts_digest = prompts.digest(*_PROMPTS)
        self._own_tokens = max(
            sum(estimate_tokens(prompts.text(name)) for name in (claim_support.RUBRIC, name)) for name in _PROMPTS[1:3]
        )
        # One answer at a time on each of the server's slots: its claims find the contexts evaluated already.
        self._slots = asyncio.Semaphore(max(1, model.parallel))

    async def fingerprint(self) -> JudgeFingerprint:
        """Method, weights, prompts and whatever else decides a support."""
        identity = await self._model.identity()
        return JudgeFingerprint(
            method="claims",
            model=f"{identity.provider}/{identity.name}",
            model_digest=identity.digest,
            prompts_digest=self._prompts_digest,
            options={"batch": await self._is_batched(), **OPTIONS},
            version=VERSION,
        )

    def reserve(self, tokens: int) -> None:
        """Size the model's context for the longest call: contexts in one window, or an answer taken apart."""
        longest = max(self._own_tokens, self._extractor.longest_call)
        self._model.reserve(min(tokens, LARGEST_WINDOW) + longest)

    async def judge(self, question: str, answer: str, contexts: Sequence[str], repeat: int = 1) -> Judgement:
        """Claims with a support each; no call where the answer abstains, states no fact or was given no passage."""
        if (known := unjudged(answer)) is not None:
            return known
        stated = without_abstention(answer)
        sentences = statements(stated)
        if not sentences:
            return Judgement(unscored=STATES_NO_FACT)
        if not any(context.strip() for context in contexts):
            return judgement_of([Claim(text=sentence, support="not_found", probability=0.0) for sentence in sentences])
        async with self._slots:
            extracted = await self._extractor.extract(question, stated, sentences, repeat)
            return judgement_of(await self._judge_claims([claim.text for claim in extracted], contexts, repeat))

    async def check(self, claim: str, contexts: Sequence[str], repeat: int = 1) -> Claim:
        """One claim as it stands."""
        if not any(context.strip() for context in contexts):
            return Claim(text=claim, support="not_found", probability=0.0)
        async with self._slots:
            (checked,) = await self._judge_claims([claim], contexts, repeat)
        return checked

    async def _judge_claims(self, claims: Sequence[str], contexts: Sequence[str], repeat: int) -> list[Claim]:
        readings = [_Reading([], []) for _ in claims]
        packed = await self._packed(contexts)
        for window in packed.windows:  # all claims on a window before the next one: it is evaluated once
            await self._read(window, claims, readings, repeat)
        if len(packed.windows) > 1:
            for claim, reading in zip(claims, readings, strict=True):
                for joined in packed.for_claim(claim)[len(packed.windows) :]:
                    await self._read(joined, [claim], [reading], repeat)
        index = ContextIndex(contexts)
        return [_claim(claim, contexts, index, reading) for claim, reading in zip(claims, readings, strict=True)]

    async def _packed(self, contexts: Sequence[str]) -> PackedContexts:
        """The same windows whatever is claimed, so that a claim that another answer makes too shares its calls."""
        room = (await self._model.identity()).context_length or LARGEST_WINDOW
        beside = self._own_tokens + (_BATCH_TOKENS if await self._is_batched() else _CLAIM_TOKENS)
        limit = max(_SMALLEST_WINDOW, min(room - beside, LARGEST_WINDOW))
        return PackedContexts.of(contexts, limit, lambda passage: estimate_tokens(passage) + _PASSAGE_TAGS)

    async def _read(self, window: Window, claims: Sequence[str], readings: Sequence[_Reading], repeat: int) -> None:
        found: dict[int, SupportProbabilities] = {}
        if await self._is_batched():
            found = await self._ask_batches(claims, window, repeat)
        for number, (claim, reading) in enumerate(zip(claims, readings, strict=True), start=1):
            try:
                asked = found.get(number) or await self._asker.ask(claim, window.passages, repeat)
                reading.scored.append((window, asked))
            except CallError as error:
                reading.failures.append(str(error))

    async def _ask_batches(self, claims: Sequence[str], window: Window, repeat: int) -> dict[int, SupportProbabilities]:
        """By number; without those that were left out, which are asked one by one."""
        found: dict[int, SupportProbabilities] = {}
        for first in range(0, len(claims), _BATCH):
            with contextlib.suppress(CallError):
                answered = await self._asker.ask_all(claims[first : first + _BATCH], window.passages, repeat)
                found |= {first + number: support for number, support in answered.items()}
        return found

    async def _is_batched(self) -> bool:
        if self._batch is not None:
            return self._batch
        return (await self._model.identity()).provider in _DEAR_CALLS


def _claim(text: str, contexts: Sequence[str], index: ContextIndex, reading: _Reading) -> Claim:
    """The best window and the numbers together. A claim that some window could still support is unscored."""
    best = choose_best(reading.scored).probabilities
    if reading.failures and best.support != "supported":
        return Claim(text=text, unscored=reading.failures[0])
    return weighed_claim(text, contexts, index, best)
