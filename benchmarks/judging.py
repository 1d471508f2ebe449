"""How far a judge agrees with people, and what a claim costs: for each method and data set.

    python benchmarks/judging.py [FOLDER]      (default ../shared/data/judging)
    python benchmarks/judging.py --method claims --model ollama/smollm2:135m --limit 200

Two readings of a response: as one claim, which is how people labelled it, and as an answer, which is how the product
judges it (split into sentences, supported where every sentence that states a fact is). A judge with a model is measured
on claims, at a threshold of 0.5 that was fixed beforehand, and on what its claims share: see :func:`shared_prefix`.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import random
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "scripts"))

from judging_data import LabelledClaim, test_claims, training_claims  # noqa: E402 - the scripts are no package

from faithbot.config import METHODS_WITH_MODEL, JudgeSettings  # noqa: E402
from faithbot.judge.context_index import forget_contexts  # noqa: E402
from faithbot.judge.evidence import EvidenceJudge, packaged_weights, support_probability  # noqa: E402
from faithbot.judge.registry import open_judge  # noqa: E402
from faithbot.models.registry import open_model  # noqa: E402

if TYPE_CHECKING:
    from faithbot.judge.protocol import Judge
    from faithbot.models.protocol import ChatRequest, Model, ModelIdentity, Reply

THRESHOLD = 0.5
"""Of judges with a model."""
N_PASSAGES, PASSAGE_LENGTH, CLAIMS_PER_ANSWER, REPEATS = 10, 800, 5, 5


def main() -> None:
    arguments = _arguments()
    print(f"{'method':<10}{'data set':<16}{'n':>6}  {'reading':<10}{'balanced':>9}{'AUC':>7}", end="")
    if arguments.method == "evidence":
        print()
        measure_evidence(arguments.folder)
    else:
        print(f"{'calls':>9}{'ms':>8}   of a claim")
        asyncio.run(measure_model(arguments))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path, nargs="?", default=ROOT.parent / "shared/data/judging")
    parser.add_argument("--method", choices=["evidence", *METHODS_WITH_MODEL], default="evidence")
    parser.add_argument("--model", help="of a judge that asks one, such as ollama/qwen2.5:7b")
    parser.add_argument("--limit", type=int, help="claims of each data set, drawn at random with a fixed seed")
    return parser.parse_args()


def measure_evidence(folder: Path) -> None:
    """All claims in both readings, and the time of a claim."""
    for name, claims in test_claims(folder).items():
        for reading, score in (("one claim", _as_claim), ("answer", _as_answer)):
            scores = [score(claim) for claim in claims]
            print(_agreement("evidence", name, reading, claims, scores, packaged_weights().threshold))
    cold, warm = asyncio.run(milliseconds_per_claim(training_claims(folder)))
    print(
        f"\nevidence: {cold:.2f} ms a claim on contexts not seen before, {warm:.2f} ms on remembered ones "
        f"({N_PASSAGES} passages of about {PASSAGE_LENGTH} characters, {CLAIMS_PER_ANSWER} claims an answer; "
        f"median over answers of the best of {REPEATS})"
    )


def _agreement(
    method: str, name: str, reading: str, claims: list[LabelledClaim], scores: list[float], threshold: float
) -> str:
    labels = np.array([claim.supported for claim in claims])
    balanced = 100 * balanced_accuracy_score(labels, np.array(scores) >= threshold)
    area = 100 * roc_auc_score(labels, scores)
    return f"{method:<10}{name:<16}{len(claims):>6}  {reading:<10}{balanced:>9.1f}{area:>7.1f}"


async def measure_model(arguments: argparse.Namespace) -> None:
    """Each claim once and without the cache of calls; one without a support counts as P(supported) = 0."""
    settings = JudgeSettings.model_validate({"method": arguments.method, "model": arguments.model})
    model = CountedModel(open_model(settings.model or ""))
    judge = open_judge(settings, lambda _: model)
    unscored = 0
    for name, every in test_claims(arguments.folder).items():
        claims = random.Random(0).sample(every, min(arguments.limit or len(every), len(every)))
        model.replies.clear()
        begin = time.perf_counter()
        checked = [await judge.check(claim.claim, claim.contexts) for claim in claims]
        milliseconds = 1000 * (time.perf_counter() - begin) / len(claims)
        unscored += sum(claim.support is None for claim in checked)
        line = _agreement(
            settings.method, name, "one claim", claims, [claim.probability or 0.0 for claim in checked], THRESHOLD
        )
        print(f"{line}{len(model.replies) / len(claims):>9.2f}{milliseconds:>8.0f}", flush=True)
    print(f"\nclaims without a support: {unscored}")
    if settings.method == "claims":
        print(await shared_prefix(judge, model, training_claims(arguments.folder)))
    await model.aclose()


class CountedModel:
    """A model to its caller that keeps the replies."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self.parallel = model.parallel
        self.replies: list[Reply] = []

    async def identity(self) -> ModelIdentity:
        """The model's own."""
        return await self._model.identity()

    def reserve(self, tokens: int) -> None:
        """The model's own."""
        self._model.reserve(tokens)

    async def chat(self, request: ChatRequest) -> Reply:
        """The model's own."""
        self.replies.append(await self._model.chat(request))
        return self.replies[-1]

    async def aclose(self) -> None:
        """The model's own."""
        await self._model.aclose()


async def shared_prefix(judge: Judge, model: CountedModel, claims: list[LabelledClaim]) -> str:
    """Prompt tokens evaluated for several claims over the same passages, against one pass over them.

    Only a server that tells what it reused can be measured: `embedded/` and llama-server do; Ollama, whose engine is
    the same, counts the whole prompt.
    """
    by_contexts: dict[tuple[str, ...], list[str]] = {}
    for claim in claims:
        if claim.source == "RAGTruth":
            by_contexts.setdefault(claim.contexts, []).append(claim.claim)
    contexts, same = next(item for item in by_contexts.items() if len(item[1]) >= CLAIMS_PER_ANSWER)
    model.replies.clear()
    for text in same[:CLAIMS_PER_ANSWER]:
        await judge.check(text, contexts)
    if any(reply.reused_tokens is None or reply.prompt_tokens is None for reply in model.replies):
        return "shared prefix: this server does not tell what it reuses"
    # The first counts whole, although its rubric was evaluated for other answers before.
    first, *others = ((reply.prompt_tokens or 0, reply.reused_tokens or 0) for reply in model.replies)
    single, added = first[0], [prompt - reused for prompt, reused in others]
    ratio = (single + sum(added)) / single
    return (
        f"shared prefix: {1 + len(added)} claims evaluate {ratio:.2f} times the prompt tokens of one "
        f"({single}, and then {', '.join(map(str, added))})"
    )


def _as_claim(claim: LabelledClaim) -> float:
    return support_probability(claim.claim, claim.contexts)


def _as_answer(claim: LabelledClaim) -> float:
    """The lowest P(supported) of its sentences; 0 where none states a fact."""
    judgement = asyncio.run(EvidenceJudge().judge("", claim.claim, claim.contexts))
    return min((found.probability or 0.0 for found in judgement.claims), default=0.0)


async def milliseconds_per_claim(claims: list[LabelledClaim]) -> tuple[float, float]:
    """Median processor time of a claim: contexts analysed anew, and contexts remembered from another run."""
    every = {passage for claim in claims for passage in claim.contexts}
    passages = sorted(passage for passage in every if len(passage) > PASSAGE_LENGTH * 0.7)
    sentences = [claim.claim for claim in claims if claim.source == "RAGTruth" and len(claim.claim) > 40]
    judge = EvidenceJudge()
    gc.collect()
    gc.freeze()  # the data sets in memory are no cost of the judge
    cold: list[float] = []
    warm: list[float] = []
    for start in range(0, 50 * N_PASSAGES, N_PASSAGES):
        contexts = [passage[:PASSAGE_LENGTH] for passage in passages[start : start + N_PASSAGES]]
        answer = "\n\n".join(sentences[start : start + CLAIMS_PER_ANSWER])
        trials: dict[bool, list[float]] = {True: [], False: []}
        for forget in (True, False) * REPEATS:
            if forget:
                forget_contexts()
            begin = time.process_time()
            judgement = await judge.judge("", answer, contexts)
            trials[forget].append(1000 * (time.process_time() - begin) / len(judgement.claims))
        cold.append(min(trials[True]))
        warm.append(min(trials[False]))
    return float(np.median(cold)), float(np.median(warm))


if __name__ == "__main__":
    main()
