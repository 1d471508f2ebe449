"""Judge without a model: each sentence of an answer is weighed by the lexical evidence for it in the contexts.

The probability comes from boosted trees over ``evidence_features``, fitted on human-labelled claims by
``scripts/fit_evidence_judge.py`` and monotone: more coverage never lowers it.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

from faithbot.judge.abstention import without_abstention
from faithbot.judge.boosted_trees import BoostedTrees
from faithbot.judge.context_index import ClaimWords, ContextIndex, Match
from faithbot.judge.evidence_features import DIRECTIONS, evidence_features
from faithbot.judge.exactness import breaks_exactness, conflicts
from faithbot.judge.protocol import STATES_NO_FACT, Claim, Evidence, JudgeFingerprint, Judgement, Support
from faithbot.judge.sentences import statements
from faithbot.judge.unjudged import unjudged

if TYPE_CHECKING:
    from collections.abc import Sequence

CODE_VERSION = 4
"""Counted up with every change of the code that changes a probability or a claim."""
_PACKAGE = resources.files("faithbot.judge")
_DATA_FILES = ("evidence_weights.json", "word_rarity.json", "lexicon.toml", "patterns.toml", "refusals.toml")


@dataclass(frozen=True)
class EvidenceWeights:
    """What ``scripts/fit_evidence_judge.py`` has fitted."""

    trees: BoostedTrees
    threshold: float
    """P(supported) from which on a claim counts as supported."""
    inexact_cap: float
    """Largest P(supported) of a claim that breaks exactness: how often such claims are supported after all."""

    @classmethod
    def load(cls, text: str) -> EvidenceWeights:
        """From the JSON that the script writes."""
        fitted = json.loads(text)
        return cls(BoostedTrees.load(fitted, tuple(DIRECTIONS)), fitted["threshold"], fitted["inexact_cap"])

    def probability(self, match: Match) -> float:
        """P(supported) of a claim laid beside its evidence."""
        probability = self.trees.probability(evidence_features(match))
        return min(probability, self.inexact_cap) if breaks_exactness(match) else probability


@cache
def packaged_weights() -> EvidenceWeights:
    """The weights that come with the package."""
    return EvidenceWeights.load((_PACKAGE / "evidence_weights.json").read_text(encoding="utf-8"))


@cache
def _data_digest() -> str:
    """Digest of all data files that decide a probability or a claim."""
    content = b"\0".join((_PACKAGE / name).read_bytes() for name in _DATA_FILES)
    return hashlib.sha256(content).hexdigest()[:12]


class EvidenceJudge:
    """Judges by words, numbers, names and polarity; no model call, about a millisecond a claim."""

    repeats_itself = True

    def __init__(self) -> None:
        self._weights = packaged_weights()

    async def fingerprint(self) -> JudgeFingerprint:
        """Code version and digest of the fitted weights, word lists and patterns."""
        return JudgeFingerprint(method="evidence", version=f"{CODE_VERSION}-{_data_digest()}")

    def reserve(self, tokens: int) -> None:
        """Nothing to do: no model, no context window."""

    async def judge(self, question: str, answer: str, contexts: Sequence[str], repeat: int = 1) -> Judgement:  # noqa: ARG002
        """Judge the sentences of an answer that state a fact; a refusal is an abstention, whatever the contexts."""
        if (known := unjudged(answer)) is not None:
            return known
        sentences = statements(without_abstention(answer))
        if not sentences:
            return Judgement(unscored=STATES_NO_FACT)
        index = ContextIndex(contexts)
        judged = {sentence: self._judge_claim(sentence, index, contexts) for sentence in dict.fromkeys(sentences)}
        claims = tuple(judged[sentence] for sentence in sentences)  # models repeat themselves, up to the last token
        supported = sum(claim.support == "supported" for claim in claims)
        return Judgement(claims=claims, faithfulness=supported / len(claims))

    async def check(self, claim: str, contexts: Sequence[str], repeat: int = 1) -> Claim:  # noqa: ARG002
        """Weigh one claim as it stands."""
        return self._judge_claim(claim, ContextIndex(contexts), contexts)

    def _judge_claim(self, claim: str, index: ContextIndex, contexts: Sequence[str]) -> Claim:
        match = index.match(ClaimWords.of(claim))
        if match is None:
            return Claim(text=claim, support="not_found", probability=0.0)
        probability = self._weights.probability(match)
        support = self._support(match, probability)
        return Claim(text=claim, support=support, probability=probability, evidence=evidence_of(match, contexts))

    def _support(self, match: Match, probability: float) -> Support:
        if probability >= self._weights.threshold:
            return "supported"
        return "contradicted" if conflicts(match) else "not_found"


def nearest_passage(claim: str, contexts: Sequence[str]) -> tuple[Evidence, float] | None:
    """The passage nearest to a claim and the weighted share of the claim's content words in it, 0 to 1.

    A passage is a sentence or two neighbouring ones of a context. None where no content word of the claim stands in
    any context.
    """
    match = ContextIndex(contexts).match(ClaimWords.of(claim))
    return None if match is None else (evidence_of(match, contexts), match.nearest.coverage)


def evidence_of(match: Match, contexts: Sequence[str]) -> Evidence:
    """The passage of a match, word for word."""
    span, context = match.nearest.span, match.nearest.context
    return Evidence(context=context, start=span.start, end=span.end, quote=contexts[context][span.start : span.end])
