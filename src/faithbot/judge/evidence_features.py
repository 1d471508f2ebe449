"""How well contexts cover a claim, as numbers: what the evidence judge decides by.

Lexical evidence only: covered words, neighbours, names, numbers by value, polarity, opposites. What tells kinds of text
apart (length of claim and contexts, first person, function words) is left out: it stands in for support where the two
happen to go together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from faithbot.judge.alignment import kept_neighbours
from faithbot.judge.exactness import missing_quantities, opposite

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from faithbot.judge.context_index import Match

DIRECTIONS = {
    "passage_coverage": 1,
    "all_coverage": 1,
    "exact_coverage": 1,
    "kept_neighbours": 1,
    "longest_uncovered_run": -1,
    "rarest_uncovered": -1,
    "names_uncovered": -1,
    "numbers_uncovered": -1,
    "polarity_differs": -1,
    "opposite": -1,
}
"""Feature to the way in which more of it moves P(supported); the other way it never does."""


def evidence_features(match: Match) -> tuple[float, ...]:
    """Values between 0 and 1 in the order of DIRECTIONS."""
    words, credit = match.words, match.credit
    uncovered = match.all_credit == 0
    names_uncovered = int((words.is_name & uncovered[: len(words.content)]).sum())
    return (
        match.passage_coverage,
        float(match.weights @ match.all_credit),
        float((credit == 1).sum()) / words.size,
        kept_neighbours(words.content, match.nearest.tokens),
        _longest_run(credit == 0) / words.size,
        float(words.rarity[uncovered].max(initial=0.0)),
        names_uncovered / max(1, int(words.is_name.sum())),
        missing_quantities(match).anywhere,
        float(bool(match.contested)),
        float(opposite(match) is not None),
    )


def _longest_run(flags: npt.NDArray[np.bool_]) -> int:
    longest = run = 0
    for flag in flags.tolist():
        run = run + 1 if flag else 0
        longest = max(longest, run)
    return longest
