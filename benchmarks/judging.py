"""How far a judge agrees with people, and what a claim costs: for each method and data set.

    python benchmarks/judging.py [FOLDER]      (default ../shared/data/judging)
    python benchmarks/judging.py --method claims --model ollama/smollm2:135m --limit 200
    python benchmarks/judging.py --method classifier --model ~/models/nli --limit 200

Responses are judged as one claim, which is how people labelled them, at the judge's own limit. `evidence` was fitted on
most of the data, so it is measured on the two sets that it never saw, there also as answers, which is how the product
judges (split into sentences, supported where every sentence that states a fact is). Other judges see all sets. For
`claims` it is also measured what the claims of one answer share: see :func:`shared_prefix`.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import random
import sys
import tempfile
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
from faithbot.judge.evidence import EvidenceJudge, packaged_weights  # noqa: E402
from faithbot.judge.registry import open_judge  # noqa: E402
from faithbot.models.registry import open_model  # noqa: E402

if TYPE_CHECKING:
    from faithbot.judge.protocol import Judge
    from faithbot.models.protocol import ChatRequest, Model, ModelIdentity, Reply

THRESHOLD = 0.5
"""P(supported) from which on all judges but `evidence` hold a claim supported; fixed beforehand."""
N_PASSAGES, PASSAGE_LENGTH, CLAIMS_PER_ANSWER, REPEATS = 10, 800, 5, 5
METHODS = ("evidence", *METHODS_WITH_MODEL, "classifier")


def main() -> None:
    arguments = _arguments()
    print(
        f"{'method':<12}{'data set':<16}{'n':>6}  {'reading':<10}{'balanced':>9}{'AUC':>7}{'calls':>9}{'ms':>9} a claim"
    )
    asyncio.run(measure(arguments))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path, nargs="?", default=ROOT.parent / "shared/data/judging")
    parser.add_argument("--method", choices=METHODS, default="evidence")
    parser.add_argument("--model", help="of a judge that asks one, such as ollama/qwen2.5:7b; a classifier's folder")
    parser.add_argument("--limit", type=int, help="claims of each data set, drawn at random with a fixed seed")
    return parser.parse_args()


async def measure(arguments: argparse.Namespace) -> None:
    """Each claim once and without any cache; one without a support counts as P(supported) = 0."""
    settings = JudgeSettings.model_validate({"method": arguments.method, "model": arguments.model})
    model = CountedModel(open_model(settings.language_model)) if settings.language_model else None
    unscored = 0
    with tempfile.TemporaryDirectory() as cache:
        judge = open_judge(settings, lambda _: model, cache=Path(cache))
        for name, every in data_sets(arguments.folder, settings.method).items():
            claims = random.Random(0).sample(every, min(arguments.limit or len(every), len(every)))
            unscored += await measure_claims(judge, model, settings.method, name, claims)
            if settings.method == "evidence":
                await measure_answers(judge, name, claims)
    print(f"\nclaims without a support: {unscored}")
    if settings.method == "evidence":
        print(await milliseconds_per_claim(training_claims(arguments.folder)))
    if settings.method == "claims" and model is not None:
        print(await shared_prefix(judge, model, training_claims(arguments.folder)))
    if model is not None:
        await model.aclose()


def data_sets(folder: Path, method: str) -> dict[str, list[LabelledClaim]]:
    """The sets that a method may be measured on: none that it was fitted on."""
    sets = test_claims(folder)
    if method != "evidence":
        for claim in training_claims(folder):
            sets.setdefault(claim.source, []).append(claim)
    return sets


async def measure_claims(
    judge: Judge, model: CountedModel | None, method: str, name: str, claims: list[LabelledClaim]
) -> int:
    """Print a line; how many claims got no support."""
    before = len(model.replies) if model else 0
    begin = time.perf_counter()
    checked = [await judge.check(claim.claim, claim.contexts) for claim in claims]
    milliseconds = 1000 * (time.perf_counter() - begin) / len(claims)
    calls = (len(model.replies) - before if model else 0) / len(claims)
    line = _agreement(method, name, "one claim", claims, [claim.probability or 0.0 for claim in checked])
    print(f"{line}{calls:>9.2f}{milliseconds:>9.2f}", flush=True)
    return sum(claim.support is None for claim in checked)


async def measure_answers(judge: Judge, name: str, claims: list[LabelledClaim]) -> None:
    """Each response as an answer: its lowest P(supported), 0 where none of its sentences states a fact."""
    judged = [await judge.judge("", claim.claim, claim.contexts) for claim in claims]
    scores = [min((found.probability or 0.0 for found in judgement.claims), default=0.0) for judgement in judged]
    print(_agreement("evidence", name, "answer", claims, scores))


def _agreement(method: str, name: str, reading: str, claims: list[LabelledClaim], scores: list[float]) -> str:
    labels = np.array([claim.supported for claim in claims])
    threshold = packaged_weights().threshold if method == "evidence" else THRESHOLD
    balanced = 100 * balanced_accuracy_score(labels, np.array(scores) >= threshold)
    area = 100 * roc_auc_score(labels, scores)
    return f"{method:<12}{name:<16}{len(claims):>6}  {reading:<10}{balanced:>9.1f}{area:>7.1f}"


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


async def milliseconds_per_claim(claims: list[LabelledClaim]) -> str:
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
    return (
        f"evidence: {np.median(cold):.2f} ms a claim on contexts not seen before, {np.median(warm):.2f} ms on "
        f"remembered ones ({N_PASSAGES} passages of about {PASSAGE_LENGTH} characters, {CLAIMS_PER_ANSWER} claims an "
        f"answer; median over answers of the best of {REPEATS})"
    )


if __name__ == "__main__":
    main()
