"""Would the mean of P(supported) see more than the share of supported claims? And a control variate?

    python benchmarks/sharper_scores.py NORTHWIND    # folder with baseline, baseline2, ..., eval_results.jsonl in each

*Recorded*: 200 real questions, two runs of a base and two of another prompt, judged by `evidence`. A loss is planted in
head: in three questions of ten, every second sentence comes from the answer to another question. Golden sets of 12 and
30 questions are drawn from the 200. For the control variate, the recorded groundedness (1 to 5, by a large model) is
corrected by the evidence judge's score, with the slope that lowers the noise most.

*Simulated*: the usual world of `benchmarks/verdict.py`, with a judge that gives P(supported) from a normal score.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import numpy as np
from verdict import SEED

from faithbot.judge.evidence import EvidenceJudge
from faithbot.judge.sentences import statements
from faithbot.noise import compare_runs

BASE, HEAD = ("baseline", "baseline2"), ("prompt_nomarkdownmention", "prompt_nomarkdownmention2")
DRAWS = 2_000


def judge(answer: str, context: str) -> tuple[float, float]:
    """Share of supported claims and mean P(supported); NaN where there is no claim."""
    claims = asyncio.run(EvidenceJudge().judge("", answer, [context])).claims
    if not claims:
        return np.nan, np.nan
    supported, probabilities = zip(
        *((claim.support == "supported", claim.probability) for claim in claims), strict=True
    )
    return float(np.mean(supported)), float(np.mean(probabilities))


def planted(answer: str, other: str) -> str:
    """Every second sentence from another question's answer."""
    own, foreign = statements(answer), statements(other)
    return " ".join(foreign[n % len(foreign)] if n % 2 == 0 and foreign else sentence for n, sentence in enumerate(own))


def read(folder: Path, name: str) -> list[dict[str, str]]:
    return [
        json.loads(line) for line in (folder / name / "eval_results.jsonl").read_text(encoding="utf-8").splitlines()
    ]


def flag_rate(base: np.ndarray, head: np.ndarray, loss: np.ndarray | None, questions: int) -> float:
    """Percent of drawn golden sets that are flagged; scores of shape (200, 2)."""
    rng = np.random.default_rng(SEED)
    flags = []
    for _ in range(DRAWS):
        drawn = rng.choice(len(base), questions, replace=False)
        hit = rng.random(questions) < 0.3
        after = head[drawn] if loss is None else np.where(hit[:, np.newaxis], loss[drawn], head[drawn])
        flags.append(compare_runs(base[drawn], after).flagged)
    return 100 * float(np.mean(flags))


def noise(scores: np.ndarray) -> float:
    """Standard deviation between the runs of a side, within questions."""
    return float(np.sqrt(np.nanmean(np.nanvar(scores, axis=1, ddof=1))))


def recorded(folder: Path) -> None:
    runs = {name: read(folder, name) for name in (*BASE, *HEAD)}
    scores = {name: np.array([judge(row["answer"], row["context"]) for row in rows]) for name, rows in runs.items()}
    lost = {
        name: np.array(
            [judge(planted(row["answer"], rows[n - 1]["answer"]), row["context"]) for n, row in enumerate(rows)]
        )
        for name, rows in ((name, runs[name]) for name in HEAD)
    }
    print(f"{'recorded':34}{'mean':>8}{'noise':>8}{'delta':>9}{'no loss 12/30':>16}{'loss 12/30':>14}")
    for kind, name in enumerate(("share of supported claims", "mean P(supported)")):
        base, head, loss = (
            np.stack([side[run][:, kind] for run in names], axis=1)
            for side, names in ((scores, BASE), (scores, HEAD), (lost, HEAD))
        )
        rates = [flag_rate(base, head, after, n) for after in (None, loss) for n in (12, 30)]
        delta = compare_runs(base, head).delta
        print(
            f"{name:34}{np.nanmean(base):8.3f}{noise(base):8.3f}{delta:+9.3f}{rates[0]:9.1f} / {rates[1]:4.1f}"
            f"{rates[2]:8.1f} / {rates[3]:4.1f}"
        )
    control_variate(runs, scores)


def control_variate(runs: dict[str, list[dict[str, str]]], scores: dict[str, np.ndarray]) -> None:
    def side(names: tuple[str, ...], key: str) -> np.ndarray:
        return np.array([[number(row.get(key)) for row in runs[name]] for name in names]).T

    def number(value: object) -> float:
        return (float(value) - 1) / 4 if isinstance(value, int | float) and value >= 1 else np.nan

    ground = {names: side(names, "gpt_groundedness") for names in (BASE, HEAD)}
    control = {names: np.stack([scores[name][:, 0] for name in names], axis=1) for names in (BASE, HEAD)}
    differences = [
        np.concatenate([np.diff(part[names]).ravel() for names in (BASE, HEAD)]) for part in (ground, control)
    ]
    both = np.isfinite(differences).all(axis=0)
    y, x = (difference[both] for difference in differences)
    slope = float(x @ y / (x @ x))
    correlation = float(x @ y / np.sqrt((x @ x) * (y @ y))) if (y @ y) > 0 else 0.0
    moved = slope * compare_runs(control[BASE], control[HEAD]).delta
    print(
        f"control variate: run differences correlate by {correlation:+.2f}, so it takes {correlation**2:.1%} of the "
        f"variance and moves the delta by {moved:+.4f}"
    )


def simulated(questions: int, loss: float, pulls: int = 1_500) -> list[float]:
    """Flag rates of counted labels and of mean P(supported)."""
    rng = np.random.default_rng(SEED)
    separation = 1.645  # 5 % of the labels are wrong
    flags = []
    for _ in range(pulls):
        claims, support = rng.integers(2, 8, questions), rng.beta(6, 1.5, questions)
        hit = rng.random(questions) < 0.3
        sides = []
        for level in (support, np.where(hit, np.maximum(support - loss, 0), support)):
            true = rng.random((questions, 2, 7)) < level[:, np.newaxis, np.newaxis]
            score = rng.normal(np.where(true, separation, -separation))
            probability = 1 / (1 + np.exp(-2 * separation * score))
            asked = np.arange(7) < claims[:, np.newaxis, np.newaxis]
            sides.append(
                [np.where(asked, part, 0).sum(axis=2) / claims[:, np.newaxis] for part in (score > 0, probability)]
            )
        flags.append([compare_runs(sides[0][kind], sides[1][kind]).flagged for kind in (0, 1)])
    return [100 * float(rate) for rate in np.mean(flags, axis=0)]


def main() -> int:
    recorded(Path(sys.argv[1]))
    print(f"\n{'simulated':12}{'questions':>10}{'share':>8}{'mean P':>8}")
    for questions in (12, 30):
        for name, loss in (("unchanged", 0.0), ("loss", 0.5)):
            print(f"{name:12}{questions:>10}" + "".join(f"{rate:8.1f}" for rate in simulated(questions, loss)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
