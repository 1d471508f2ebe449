"""Print the likelihood ratios of ``faithbot.judge.number_guard``, from human-labelled claims that no report uses.

    python scripts/measure_number_guard.py [FOLDER]      (default ../shared/data/judging)

How often a supported claim and an unsupported one look like that, each data source weighted alike.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from judging_data import training_claims

from faithbot.judge.number_guard import LIKELIHOOD_RATIOS, check_numbers

if TYPE_CHECKING:
    from faithbot.judge.protocol import NumberCheck


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[2] / "shared/data/judging"
    seen: defaultdict[str, Counter[tuple[NumberCheck | None, bool]]] = defaultdict(Counter)
    for claim in training_claims(folder):
        seen[claim.source][check_numbers(claim.claim, claim.contexts), claim.supported] += 1
    print(f"{len(seen)} sources, {sum(counts.total() for counts in seen.values())} claims")
    for check in LIKELIHOOD_RATIOS:
        supported, unsupported = (
            sum(_share(counts, check, label) for counts in seen.values()) for label in (True, False)
        )
        print(f"{check:<10}{supported / unsupported:.2f}")


def _share(counts: Counter[tuple[NumberCheck | None, bool]], check: NumberCheck, label: bool) -> float:
    return counts[check, label] / sum(number for (_, other), number in counts.items() if other == label)


if __name__ == "__main__":
    main()
