"""Judge with a model made for nothing else: a classifier of text pairs, such as NLI, MiniCheck or HHEM, as ONNX.

Each sentence of an answer is laid beside the passages, premise first, and the classifier says how likely it follows
(SummaC, Laban et al. 2022). No language model is called; on a CPU a claim takes a fraction of a second.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from faithbot.errors import CallError, UsageError
from faithbot.judge.abstention import without_abstention
from faithbot.judge.classifier_files import read_classifier, shown_name
from faithbot.judge.classifier_labels import supports_of
from faithbot.judge.context_index import ContextIndex
from faithbot.judge.onnx_model import PairClassifier, require_engine
from faithbot.judge.protocol import Claim, JudgeFingerprint, Judgement
from faithbot.judge.sentences import statements
from faithbot.judge.unjudged import unjudged
from faithbot.judge.weighing import OPTIONS, judgement_of, weighed_claim
from faithbot.judge.windows import PackedContexts, SupportProbabilities, choose_best
from faithbot.models.kept import KeptReplies

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from faithbot.config import JudgeSettings
    from faithbot.judge.protocol import Support
    from faithbot.judge.windows import Window

VERSION = "3"

_CLAIM_STEP = 64
"""Room for a claim grows in steps of so many tokens: claims of one answer mostly share their windows."""
_SMALLEST_WINDOW = 32
"""Tokens of passages that a claim must leave room for."""
_JOINT_TOKENS = 1
"""Beside a passage's own: what a tokenizer may make of the place where two passages meet."""


class ClassifierJudge:
    """Judges sentence by sentence. A support that was once found is kept and not looked for again."""

    repeats_itself = True

    def __init__(self, settings: JudgeSettings, cache: Path) -> None:
        """Supports are kept in ``cache``. Loads nothing yet.

        :class:`UsageError` where ``faithbot[classifier]`` is not installed; ValueError where no model is named.
        """
        require_engine()
        if settings.model is None:
            raise ValueError("a classifier needs a model")
        self._model = settings.model
        self._named = settings.labels
        self._kept = KeptReplies(cache / "classified")
        self._scorer: ClaimScorer | None = None
        self._turn = asyncio.Lock()  # a run takes all cores: a second one beside it would gain nothing

    async def fingerprint(self) -> JudgeFingerprint:
        """Files of the model, meaning of its labels, and how long its windows are."""
        async with self._turn:
            scorer = await self._loaded()
        return JudgeFingerprint(
            method="classifier",
            model=shown_name(self._model),
            model_digest=scorer.classifier.digest,
            options={**OPTIONS, "labels": scorer.meanings, "window": scorer.classifier.room},
            version=VERSION,
        )

    def reserve(self, tokens: int) -> None:
        """Nothing to do: what is longer than the model's window is read in several."""

    async def judge(self, question: str, answer: str, contexts: Sequence[str], repeat: int = 1) -> Judgement:  # noqa: ARG002
        """Judge the sentences of an answer that state a fact; a refusal is an abstention, whatever the contexts."""
        if (known := unjudged(answer)) is not None:
            return known
        sentences = statements(without_abstention(answer))
        return judgement_of(await self._check_all(sentences, contexts))

    async def check(self, claim: str, contexts: Sequence[str], repeat: int = 1) -> Claim:  # noqa: ARG002
        """Judge one claim as it stands."""
        (checked,) = await self._check_all([claim], contexts)
        return checked

    async def _check_all(self, claims: Sequence[str], contexts: Sequence[str]) -> list[Claim]:
        if not claims or not any(context.strip() for context in contexts):
            return [Claim(text=claim, support="not_found", probability=0.0) for claim in claims]
        async with self._turn:
            scorer = await self._loaded()
            return await asyncio.to_thread(scorer.check_all, claims, contexts)

    async def _loaded(self) -> ClaimScorer:
        if self._scorer is None:
            self._scorer = await asyncio.to_thread(_load, self._model, self._named, self._kept)
        return self._scorer


@dataclass(frozen=True)
class ClaimScorer:
    """A loaded classifier and what its labels mean; supports are kept."""

    classifier: PairClassifier
    supports: tuple[Support, ...]
    """Meaning of each label."""
    kept: KeptReplies

    @property
    def meanings(self) -> dict[str, Support]:
        """Support by label."""
        return dict(zip(self.classifier.labels, self.supports, strict=True))

    def check_all(self, claims: Sequence[str], contexts: Sequence[str]) -> list[Claim]:
        """The claims with their supports; one that cannot be judged carries the reason."""
        index = ContextIndex(contexts)
        packs: dict[int, PackedContexts] = {}
        checked: list[Claim] = []
        for claim in claims:
            try:
                checked.append(weighed_claim(claim, contexts, index, self._score(claim, contexts, packs)))
            except CallError as error:
                checked.append(Claim(text=claim, unscored=str(error)))
        return checked

    def _score(self, claim: str, contexts: Sequence[str], packs: dict[int, PackedContexts]) -> SupportProbabilities:
        """How likely each support is, over all contexts; :class:`CallError` where the classifier cannot tell.

        ``packs`` are the contexts in windows, by their size: made here where they are missing.
        """
        key = self._key(claim, contexts)
        if kept := self.kept.read(key):
            return SupportProbabilities(**kept)
        room = self._room_beside(claim)
        if room not in packs:
            packs[room] = PackedContexts.of(contexts, room, self._measure)
        scored = [(window, self._score_window(claim, window)) for window in packs[room].for_claim(claim)]
        best = choose_best(scored).probabilities
        self.kept.write(key, best._asdict())
        return best

    def _score_window(self, claim: str, window: Window) -> SupportProbabilities:
        found: dict[Support, float] = {"supported": 0.0, "contradicted": 0.0, "not_found": 0.0}
        for support, probability in zip(self.supports, self.classifier.probabilities(window.text, claim), strict=True):
            found[support] += probability
        if len(self.supports) == 1:
            found["not_found"] = 1.0 - found["supported"]
        return SupportProbabilities(**found)

    def _room_beside(self, claim: str) -> int:
        """Tokens for passages, which depend on nothing but the claim."""
        tokens = self.classifier.count(claim)
        room = self.classifier.room - math.ceil(tokens / _CLAIM_STEP) * _CLAIM_STEP
        if room < _SMALLEST_WINDOW:
            raise CallError(
                f"the claim has {tokens} tokens: the classifier reads {self.classifier.room}, passages included"
            )
        return room

    def _measure(self, passage: str) -> int:
        return self.classifier.count(f"{passage}\n") + _JOINT_TOKENS

    def _key(self, claim: str, contexts: Sequence[str]) -> dict[str, Any]:
        """Whatever decides a support, so that all sides and pull requests share it."""
        return {
            "version": VERSION,
            "classifier": self.classifier.digest,
            "supports": list(self.supports),
            "claim": claim,
            "contexts": hashlib.sha256(json.dumps(list(contexts)).encode()).hexdigest(),
        }


def _load(model: str, named: Mapping[Support, str], kept: KeptReplies) -> ClaimScorer:
    classifier = PairClassifier(read_classifier(model), model)
    try:
        return ClaimScorer(classifier, supports_of(classifier.labels, named), kept)
    except UsageError as error:
        raise UsageError(f"classifier {model}: {error}") from None
