"""How far a judge agrees with people, and what a claim costs: for each method and data set.

    python benchmarks/judging.py [FOLDER]      (default ../shared/data/judging)

Two readings of a response: as one claim, which is how people labelled it, and as an answer, which is how the product
judges it (split into sentences, supported where every sentence that states a fact is).
"""

from __future__ import annotations

import asyncio
import gc
import sys
import time
from pathlib import Path

import numpy as np
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "scripts"))

from judging_data import LabelledClaim, test_claims, training_claims  # noqa: E402 - the scripts are no package

from faithbot.judge.context_index import forget_contexts  # noqa: E402
from faithbot.judge.evidence import EvidenceJudge, packaged_weights, support_probability  # noqa: E402

N_PASSAGES, PASSAGE_LENGTH, CLAIMS_PER_ANSWER, REPEATS = 10, 800, 5, 5


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT.parent / "shared/data/judging"
    print(f"{'method':<10}{'data set':<16}{'n':>6}  {'reading':<10}{'balanced':>9}{'AUC':>7}")
    for name, claims in test_claims(folder).items():
        labels = np.array([claim.supported for claim in claims])
        for reading, score in (("one claim", _as_claim), ("answer", _as_answer)):
            scores = np.array([score(claim) for claim in claims])
            balanced = 100 * balanced_accuracy_score(labels, scores >= packaged_weights().threshold)
            area = 100 * roc_auc_score(labels, scores)
            print(f"{'evidence':<10}{name:<16}{len(claims):>6}  {reading:<10}{balanced:>9.1f}{area:>7.1f}")
    cold, warm = asyncio.run(milliseconds_per_claim(training_claims(folder)))
    print(
        f"\nevidence: {cold:.2f} ms a claim on contexts not seen before, {warm:.2f} ms on remembered ones "
        f"({N_PASSAGES} passages of about {PASSAGE_LENGTH} characters, {CLAIMS_PER_ANSWER} claims an answer; "
        f"median over answers of the best of {REPEATS})"
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
