#!/usr/bin/env python3
"""Claims that are called newly unsupported: how many although nothing changed, and how fast they are found.

    python benchmarks/claims.py [FOLDER]      (default ../shared/data/recorded/northwind)

Three parts. Northwind: 198 questions, two configurations that hardly differ, two runs of each; sides that hold one run
of each configuration differ by chance alone. Worlds: claims made with chances of several shapes, the log-series that
`claim_chance.py` assumes among them. Speed: 1,000 questions × 4 runs (two a side), every claim without support.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from faithbot.claim_chance import ChanceLevel
from faithbot.claim_changes import find_claim_changes
from faithbot.claim_statements import find_statements
from faithbot.golden import Question, question_key
from faithbot.judge.evidence import EvidenceJudge
from faithbot.results import AnswerRecord
from faithbot.systems.protocol import Context

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from faithbot.results import SideName

    World = Callable[[np.random.Generator], NDArray[np.float64]]

NORTHWIND = Path(__file__).parents[2] / "shared/data/recorded/northwind"
FOLDERS = ("baseline", "baseline2", "prompt_nomarkdownmention", "prompt_nomarkdownmention2")
BOUND_SECONDS = 5.0
WORDS = ("again", "certainly", "indeed", "today", "perhaps", "usually")
COMPARISONS, QUESTIONS = 200, 100


def main() -> int:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else NORTHWIND
    runs = {name: asyncio.run(_judged(folder / name)) for name in FOLDERS}
    print_northwind(runs)
    print_worlds()
    matched, whole, changed = seconds_to_match(runs)
    print(
        f"\n1,000 questions × 4 runs: claims matched in {matched:.1f} s, bound {BOUND_SECONDS:.0f} s; "
        f"matched again with the reasons of {changed} changed ones in {whole:.1f} s (processor time)"
    )
    return int(matched > BOUND_SECONDS)


async def _judged(folder: Path) -> list[AnswerRecord]:
    judge = EvidenceJudge()
    records: dict[str, AnswerRecord] = {}
    for line in (folder / "eval_results.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        passages = [passage.partition(": ") for passage in row["context"].split("\n\n") if passage.strip()]
        contexts = tuple(Context(text=text, source=source) for source, _, text in passages)
        judgement = await judge.judge(row["question"], row["answer"], [context.text for context in contexts])
        key = question_key(row["question"])
        records.setdefault(
            key, AnswerRecord(question_id=key, run=1, answer=row["answer"], contexts=contexts, judgement=judgement)
        )
    return list(records.values())


# Northwind


def print_northwind(runs: dict[str, list[AnswerRecord]]) -> None:
    first, again, other, other_again = FOLDERS
    comparisons = {
        "nothing changed, 1 run a side": [([first], [again]), ([again], [first])],
        "nothing changed, 2 runs a side": [
            ([first, other], [again, other_again]),
            ([again, other_again], [first, other]),
            ([first, other_again], [again, other]),
            ([again, other], [first, other_again]),
        ],
        "baseline against nomarkdown": [([first, again], [other, other_again])],
    }
    print(f"{'northwind, per 100 questions':<34}{'listed':>8}{'expected':>10}{'counted only':>14}{'both':>8}")
    for name, pairs in comparisons.items():
        found = [_compare(runs, *pair) for pair in pairs]
        print(f"{name:<34}" + "".join(map(str.rjust, _means(found), (8, 10, 14, 8))))


def _compare(runs: dict[str, list[AnswerRecord]], base: list[str], head: list[str]) -> list[float]:
    """Claims listed, expected by chance, only counted, and unsupported on head alone, per 100 questions."""
    questions = [Question(id=record.question_id, text="?") for record in runs[base[0]]]
    found = find_claim_changes(questions, _numbered(runs, base), _numbered(runs, head))
    counted = sum(change.head_runs > 0 and change.base_runs == 0 for change in found.sporadic)
    listed = len(found.newly_unsupported)
    expected = float("nan") if found.expected_by_chance is None else found.expected_by_chance
    return [100 * count / len(questions) for count in (listed, expected, counted, listed + counted)]


def _numbered(runs: dict[str, list[AnswerRecord]], names: list[str]) -> list[AnswerRecord]:
    return [record.model_copy(update={"run": run}) for run, name in enumerate(names, start=1) for record in runs[name]]


def _means(rows: list[list[float]]) -> list[str]:
    return ["" if np.isnan(mean) else f"{mean:.2f}" for mean in np.mean(rows, axis=0)]


# Worlds


def _log_series(generator: np.random.Generator) -> NDArray[np.float64]:
    """Claims of one question with chances p of density 0.15 / p."""
    smallest = 0.001
    count = generator.poisson(0.15 * np.log(1 / smallest))
    return np.asarray(smallest ** generator.random(count))


def _of_chance(p: float) -> World:
    return lambda generator: np.full(generator.poisson(0.15 / p), p)


def _uniform(generator: np.random.Generator) -> NDArray[np.float64]:
    return generator.random(generator.poisson(0.5))


WORLDS: dict[str, World] = {
    "log-series": _log_series,
    "uniform": _uniform,
    "all with chance 0.02": _of_chance(0.02),
    "all with chance 0.2": _of_chance(0.2),
    "all with chance 0.5": _of_chance(0.5),
}


def print_worlds() -> None:
    """Claims in every head run and no base run, found and expected; how often claims of some runs are listed."""
    print(f"\n{'worlds, per 100 questions':<26}{'runs':>5}{'in all runs':>13}{'expected':>10}{'some runs listed':>18}")
    for name, world in WORLDS.items():
        for runs in (2, 3, 5):
            generator = np.random.default_rng(5)
            results = [_simulate(world, runs, generator) for _ in range(COMPARISONS)]
            found, expected, listed = np.mean(results, axis=0)
            print(f"{name:<26}{runs:>5}{found:>13.2f}{expected:>10.2f}{listed:>17.1%} ")


def _simulate(world: World, runs: int, generator: np.random.Generator) -> tuple[float, float, bool]:
    level = ChanceLevel()
    only_head = np.zeros(runs + 1, dtype=int)
    for _ in range(QUESTIONS):
        chances = world(generator)
        base, head = (generator.binomial(runs, chances) for _ in range(2))
        level.add_question(runs, runs, base.tolist())
        only_head += np.bincount(head[base == 0], minlength=runs + 1)
    listed = any(level.is_exceeded(missing, int(only_head[runs - missing])) for missing in range(1, runs))
    return float(only_head[runs]), level.expected(0) or 0.0, listed


# Speed


def seconds_to_match(runs: dict[str, list[AnswerRecord]]) -> tuple[float, float, int]:
    """Processor time of grouping the claims by meaning and of all that follows, and how many claims changed."""
    base, head = FOLDERS[:2], FOLDERS[2:]
    copies = {name: [_unsupported(record, copy) for copy in range(6) for record in runs[name]] for name in FOLDERS}
    sides = {"base": _numbered(copies, list(base)), "head": _numbered(copies, list(head))}
    questions = [
        Question(id=identifier, text="?") for identifier in dict.fromkeys(r.question_id for r in sides["base"])
    ]
    by_question: dict[str, dict[SideName, list[AnswerRecord]]] = {
        q.id: {"base": [], "head": []} for q in questions[:1000]
    }
    for name, side in (("base", sides["base"]), ("head", sides["head"])):
        for record in side:
            if record.question_id in by_question:
                by_question[record.question_id][name].append(record)
    began = time.process_time()
    for records in by_question.values():
        find_statements(records)
    matched = time.process_time() - began
    found = find_claim_changes(questions[:1000], sides["base"], sides["head"])
    whole = time.process_time() - began - matched
    return matched, whole, len(found.newly_unsupported) + len(found.no_longer_unsupported) + len(found.sporadic)


def _unsupported(record: AnswerRecord, copy: int) -> AnswerRecord:
    """As another question's, in words that no other question has, with every claim without support."""
    assert record.judgement is not None
    claims = tuple(
        claim.model_copy(update={"text": f"{claim.text} {WORDS[copy]}", "support": "not_found"})
        for claim in record.judgement.claims
    )
    contexts = tuple(
        context.model_copy(update={"text": f"{context.text} {WORDS[copy]}."}) for context in record.contexts
    )
    changes = {
        "question_id": f"{record.question_id}-{copy}",
        "contexts": contexts,
        "judgement": record.judgement.model_copy(update={"claims": claims}),
    }
    return record.model_copy(update=changes)


if __name__ == "__main__":
    sys.exit(main())
