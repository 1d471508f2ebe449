"""Fit the weights of the evidence judge on human-labelled claims; write them into the package.

    python scripts/fit_evidence_judge.py [FOLDER]      (default ../shared/data/judging)

Slopes are estimated within sources: each source's features are centred at the middle of its two classes, so that what
tells sources apart (style, length of the contexts) cannot stand in for support. A new domain is centred at the mean of
the sources' middles. The threshold is the one that holds best over sources that the weights have not seen
(leave one source out). BEGIN is left out of the weights, because tone and label go together in it, and is used only
to choose the threshold. DialFact and Q2 are neither read nor fitted here.
"""

from __future__ import annotations

import json
import math
import random
import sys
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
from judging_data import LabelledClaim, training_claims
from planted_faults import planted_claims
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

from faithbot.judge.context_index import ClaimWords, ContextIndex
from faithbot.judge.evidence_features import FEATURE_NAMES, evidence_features
from faithbot.judge.exactness import breaks_exactness
from faithbot.judge.words import content_words

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src/faithbot/judge"
ONLY_FOR_THRESHOLD = ("BEGIN",)
PLANTED = "planted"
REGULARISATION = 0.003
THRESHOLDS = np.arange(0.30, 0.61, 0.01)
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
    used = ~np.isin(sources, ONLY_FOR_THRESHOLD) & ~np.isnan(features).any(axis=1)
    write_weights(Fit(features[used], labels[used], sources[used]), threshold, cap)


def claim_features(claim: LabelledClaim) -> tuple[np.ndarray, bool]:
    """Features of a claim, and whether it breaks exactness.

    NaN where no word of it stands in its contexts, which the judge decides without weights.
    """
    match = ContextIndex(claim.contexts).match(ClaimWords.of(claim.claim))
    if match is None:
        return np.full(len(FEATURE_NAMES), np.nan), False
    return evidence_features(match), breaks_exactness(match)


class Fit:
    """Logistic regression with slopes from within the sources, each source and label weighted alike."""

    def __init__(self, features: np.ndarray, labels: np.ndarray, sources: np.ndarray) -> None:
        middles, weights = {}, np.zeros(len(labels))
        for source in np.unique(sources):
            groups = [(sources == source) & (labels == label) for label in (0, 1)]
            middles[source] = np.mean([features[group].mean(axis=0) for group in groups], axis=0)
            for group in groups:
                weights[group] = 1 / group.sum()
        weights *= len(labels) / weights.sum()
        centred = features - np.array([middles[source] for source in sources])
        self.mean = np.mean(list(middles.values()), axis=0)
        self.scale = np.sqrt(np.average(centred**2, axis=0, weights=weights)) + 1e-9
        model = LogisticRegression(C=REGULARISATION, max_iter=3000)
        model.fit(centred / self.scale, labels, sample_weight=weights)
        self.coefficients, self.intercept = model.coef_[0], float(model.intercept_[0])

    def probability(self, features: np.ndarray) -> np.ndarray:
        logits = ((features - self.mean) / self.scale) @ self.coefficients + self.intercept
        return np.nan_to_num(1 / (1 + np.exp(-logits)), nan=0.0)


def inexact_cap(inexact: np.ndarray, labels: np.ndarray, sources: np.ndarray) -> float:
    """How often people support a claim that breaks exactness: mean over the human-labelled sources."""
    chosen = inexact & (sources != PLANTED)
    return float(np.mean([labels[chosen & (sources == source)].mean() for source in np.unique(sources[chosen])]))


def leave_one_source_out(features: np.ndarray, labels: np.ndarray, sources: np.ndarray) -> np.ndarray:
    """P(supported) of each claim by weights fitted on the other sources."""
    probabilities = np.zeros(len(labels))
    usable = ~np.isin(sources, ONLY_FOR_THRESHOLD) & ~np.isnan(features).any(axis=1)
    for source in np.unique(sources):
        others = usable & (sources != source)
        held_out = sources == source
        probabilities[held_out] = Fit(features[others], labels[others], sources[others]).probability(features[held_out])
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


def write_weights(fit: Fit, threshold: float, cap: float) -> None:
    columns = zip(FEATURE_NAMES, fit.mean, fit.scale, fit.coefficients, strict=True)
    weights = {
        "intercept": round(fit.intercept, 5),
        "threshold": threshold,
        "inexact_cap": round(cap, 5),
        "features": {
            name: {"mean": round(mean, 5), "scale": round(scale, 5), "coefficient": round(coefficient, 5)}
            for name, mean, scale, coefficient in columns
        },
    }
    (PACKAGE / "evidence_weights.json").write_text(json.dumps(weights, indent=1) + "\n", encoding="utf-8")


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
