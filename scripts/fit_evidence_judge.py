"""Fit the weights of the evidence judge on human-labelled claims; write them into the package.

    python scripts/fit_evidence_judge.py [FOLDER]      (default ../shared/data/judging)

Each source, and each label within it, weighs alike. Features, size of the model and threshold were chosen by the mean
balanced accuracy over sources that the weights have not seen (leave one source out), which is printed. BEGIN is left
out of the weights, because tone and label go together in it, and only helps to choose the threshold. DialFact and Q2
are neither read nor fitted here.
"""

from __future__ import annotations

import json
import math
import random
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from judging_data import LabelledClaim, training_claims
from planted_faults import planted_claims
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

from faithbot.judge.context_index import ClaimWords, ContextIndex
from faithbot.judge.evidence_features import DIRECTIONS, evidence_features
from faithbot.judge.exactness import breaks_exactness
from faithbot.judge.words import content_words

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src/faithbot/judge"
ONLY_FOR_THRESHOLD = "BEGIN"
PLANTED = "planted"
TREES = {"max_iter": 100, "learning_rate": 0.08, "max_leaf_nodes": 8, "min_samples_leaf": 40, "l2_regularization": 20}
THRESHOLDS = np.arange(0.30, 0.71, 0.01)
COMMON_WORDS = 2000


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT.parent / "shared/data/judging"
    claims = training_claims(folder)
    write_rarity(claims)
    claims += planted_claims(claims, PLANTED, random.Random(0))
    rows = [claim_features(claim) for claim in claims]
    features, inexact = np.array([row[0] for row in rows]), np.array([row[1] for row in rows])
    labels = np.array([claim.supported for claim in claims], dtype=int)
    sources = np.array([claim.source for claim in claims])
    cap = inexact_cap(inexact, labels, sources)
    unseen = leave_one_source_out(features, labels, sources)
    unseen = np.where(inexact, np.minimum(unseen, cap), unseen)
    threshold = choose_threshold(unseen, labels, sources)
    print_table(unseen, labels, sources, threshold)
    usable = ~np.isnan(features).any(axis=1) & (sources != ONLY_FOR_THRESHOLD)
    write_weights(fit(features[usable], labels[usable], sources[usable]), threshold, cap)


def claim_features(claim: LabelledClaim) -> tuple[tuple[float, ...], bool]:
    """Features of a claim, and whether it breaks exactness.

    NaN where no word of it stands in its contexts, which the judge decides without weights.
    """
    match = ContextIndex(claim.contexts).match(ClaimWords.of(claim.claim))
    if match is None:
        return (math.nan,) * len(DIRECTIONS), False
    return evidence_features(match), breaks_exactness(match)


def fit(features: np.ndarray, labels: np.ndarray, sources: np.ndarray) -> HistGradientBoostingClassifier:
    """Boosted trees, monotone in each feature, each source and label weighted alike."""
    weights = np.zeros(len(labels))
    for source in np.unique(sources):
        for label in (0, 1):
            group = (sources == source) & (labels == label)
            weights[group] = 1 / group.sum()
    model = HistGradientBoostingClassifier(**TREES, monotonic_cst=list(DIRECTIONS.values()), random_state=0)
    return model.fit(features, labels, sample_weight=weights * len(labels) / weights.sum())


def inexact_cap(inexact: np.ndarray, labels: np.ndarray, sources: np.ndarray) -> float:
    """How often people support a claim that breaks exactness: mean over the human-labelled sources."""
    chosen = inexact & (sources != PLANTED)
    return float(np.mean([labels[chosen & (sources == source)].mean() for source in np.unique(sources[chosen])]))


def leave_one_source_out(features: np.ndarray, labels: np.ndarray, sources: np.ndarray) -> np.ndarray:
    """P(supported) of each claim by weights fitted on the other sources."""
    probabilities = np.zeros(len(labels))
    usable = ~np.isnan(features).any(axis=1)
    for source in np.unique(sources):
        held_out = usable & (sources == source)
        others = usable & (sources != source) & (sources != ONLY_FOR_THRESHOLD)
        model = fit(features[others], labels[others], sources[others])
        probabilities[held_out] = model.predict_proba(features[held_out])[:, 1]
    return probabilities


def choose_threshold(probabilities: np.ndarray, labels: np.ndarray, sources: np.ndarray) -> float:
    """Best mean balanced accuracy over the human-labelled sources, smoothed over five neighbouring thresholds."""
    human = [sources == source for source in np.unique(sources) if source != PLANTED]
    means = [
        np.mean([balanced_accuracy_score(labels[rows], probabilities[rows] >= threshold) for rows in human])
        for threshold in THRESHOLDS
    ]
    smooth = np.convolve(means, np.ones(5) / 5, mode="valid")
    return round(float(THRESHOLDS[int(smooth.argmax()) + 2]), 2)


def print_table(probabilities: np.ndarray, labels: np.ndarray, sources: np.ndarray, threshold: float) -> None:
    print(f"leave one source out, threshold {threshold}\n{'source':<16}{'n':>6}{'balanced':>10}{'AUC':>7}")
    rows = []
    for source in np.unique(sources):
        chosen = sources == source
        balanced = 100 * balanced_accuracy_score(labels[chosen], probabilities[chosen] >= threshold)
        area = 100 * roc_auc_score(labels[chosen], probabilities[chosen])
        print(f"{source:<16}{chosen.sum():>6}{balanced:>10.1f}{area:>7.1f}")
        if source != PLANTED:
            rows.append((balanced, area))
    balanced, area = np.mean(rows, axis=0)
    print(f"{'mean (human)':<22}{balanced:>10.1f}{area:>7.1f}")


def write_weights(model: HistGradientBoostingClassifier, threshold: float, cap: float) -> None:
    trees = [readable_tree(iteration[0].nodes, 0) for iteration in model._predictors]
    base = round(float(model._baseline_prediction.ravel()[0]), 5)
    lines = ",\n".join(json.dumps(tree) for tree in trees)
    head = json.dumps({"threshold": threshold, "inexact_cap": round(cap, 5), "base": base})
    text = f'{head[:-1]},\n"trees": [\n{lines}\n]}}\n'
    (PACKAGE / "evidence_weights.json").write_text(text, encoding="utf-8")


def readable_tree(nodes: np.ndarray, index: int) -> float | list[Any]:
    """A leaf's value, or ``[feature, limit, low, high]``."""
    node = nodes[index]
    if node["is_leaf"]:
        return round(float(node["value"]), 4)
    low, high = readable_tree(nodes, node["left"]), readable_tree(nodes, node["right"])
    return [tuple(DIRECTIONS)[node["feature_idx"]], round(float(node["num_threshold"]), 5), low, high]


def write_rarity(claims: list[LabelledClaim]) -> None:
    """Weights of the commonest words: 0.25 for the commonest, rising with the logarithm of rarity towards 1."""
    texts: dict[str, set[str]] = defaultdict(set)
    for claim in claims:
        texts[claim.source].update((claim.claim, *claim.contexts))
    share: Counter[str] = Counter()
    for own in texts.values():
        counts = Counter(key for text in own for key in set(content_words(text)) if not key.startswith("#"))
        for key, count in counts.items():
            share[key] += count / len(own) / len(texts)
    ranked = sorted(share.items(), key=lambda item: (-item[1], item[0]))[:COMMON_WORDS]
    highest, lowest = ranked[0][1], ranked[-1][1]
    span = math.log(highest / lowest)
    rarity = {key: round(0.25 + 0.75 * math.log(highest / value) / span, 2) for key, value in sorted(ranked)}
    text = json.dumps(rarity, ensure_ascii=False, indent=0)
    (PACKAGE / "word_rarity.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
