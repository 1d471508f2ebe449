"""How well contexts cover a claim, as numbers: what the evidence judge's weights are multiplied with.

Lexical evidence only: covered words, order, names, numbers by value, polarity, opposites, conditions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from faithbot.judge.alignment import align
from faithbot.judge.exactness import missing_quantities, opposite, polarity_differs
from faithbot.judge.lexicon import CONDITIONS, STRENGTHENERS

if TYPE_CHECKING:
    import numpy.typing as npt

    from faithbot.judge.context_index import Match

    Vector = npt.NDArray[np.float64]

FEATURE_NAMES = (
    "sentence_coverage",
    "window_coverage",
    "context_coverage",
    "all_coverage",
    "exact_coverage",
    "longest_uncovered_run",
    "rarest_uncovered",
    "ordered",
    "bigrams",
    "inversions",
    "substitutions",
    "names_uncovered",
    "name_swap",
    "numbers_uncovered",
    "numbers_elsewhere",
    "number_conflict",
    "polarity_differs",
    "opposite",
    "condition_dropped",
    "strengthened",
)


def evidence_features(match: Match) -> Vector:
    """Values in the order of FEATURE_NAMES."""
    words, credit = match.words, match.credit
    uncovered = match.all_credit == 0
    passage = match.nearest.tokens
    order = align(words.content, passage)
    missing = missing_quantities(match)
    n_names = int(words.is_name.sum())
    names_uncovered = int((words.is_name & uncovered[: len(words.content)]).sum())
    forms = {token.form for token in words.tokens}
    passage_forms = {token.form for token in passage}
    values = (
        match.sentence_coverage,
        match.window_coverage,
        match.context_coverage,
        float(match.weights @ match.all_credit),
        float((credit == 1).sum()) / words.size,
        _longest_run(credit == 0) / words.size,
        float(words.rarity[uncovered].max(initial=0.0)),
        order.ordered,
        order.bigrams,
        order.inversions,
        order.substitutions,
        names_uncovered / max(1, n_names),
        order.name_swap,
        missing.anywhere,
        missing.here,
        float(missing.conflict),
        float(polarity_differs(match)),
        float(opposite(match) is not None),
        float(bool(passage_forms & CONDITIONS) and not forms & CONDITIONS),
        float(bool(forms & STRENGTHENERS - passage_forms)),
    )
    return np.array(values, dtype=np.float64)


def _longest_run(flags: npt.NDArray[np.bool_]) -> int:
    longest = run = 0
    for flag in flags.tolist():
        run = run + 1 if flag else 0
        longest = max(longest, run)
    return longest
