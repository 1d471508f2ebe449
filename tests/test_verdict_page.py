"""What docs/verdict.md says is what the code does."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

from faithbot.levels import BANDS
from faithbot.noise import compare_runs
from faithbot.run_plan import RunPlan
from faithbot.stopping import GIVE_UP_BELOW, look_level
from faithbot.verdict import FEWEST_COMPARED, MIN_COMPARED

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "verdict.md").read_text(encoding="utf-8")
ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for line in PAGE.splitlines() if line.startswith("|")]


def side(text: str) -> list[list[float]]:
    """``2 × [0.8, –], 1 × [1, 1]``: two questions with these runs, and one more."""
    return [
        [math.nan if run == "–" else float(run) for run in runs.split(", ")]
        for count, runs in re.findall(r"(\d+) × \[([^\]]*)\]", text)
        for _ in range(int(count))
    ]


CASES = [row for row in ROWS if row[0].startswith("`") and "×" in row[0]]


@pytest.mark.parametrize("case", CASES, ids=lambda case: " to ".join(case[:2]))
def test_each_case_of_the_table_is_decided_as_it_says(case: list[str]) -> None:
    base, head, flagged, method, _why = case
    found = compare_runs(side(base), side(head))
    assert ("yes" if found.flagged else "no", found.method) == (flagged, method)


def test_the_table_holds_the_cases_that_matter() -> None:
    bases = [case[0] for case in CASES]
    assert len(CASES) >= 8
    assert any(base.startswith("`1 ×") for base in bases)
    assert any("–" in base for base in bases)


def test_every_warning_is_explained_and_no_other() -> None:
    sources = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "src" / "faithbot").rglob("*.py"))
    explained = {row[0].strip("`") for row in ROWS if re.fullmatch(r"`[a-z]+_[a-z_]+`|`blind`", row[0])}
    assert explained == set(re.findall(r'code="([a-z_]+)"', sources))


def test_limits_are_those_of_the_code() -> None:
    assert f"fewer than {FEWEST_COMPARED} questions" in PAGE
    assert MIN_COMPARED == 0.5
    assert GIVE_UP_BELOW == 1 / 5
    for lowest, _ in BANDS:
        assert f"from {lowest:.2f}" in PAGE
    levels = [round(look_level(RunPlan(2, 6), runs, 0.05), 3) for runs in range(2, 7)]
    assert f"{levels[0]} after two runs, then {min(levels[1:])} to {max(levels[1:])}" in PAGE


def test_the_plot_is_there_and_small() -> None:
    assert "](verdict.svg)" in PAGE
    assert (ROOT / "docs" / "verdict.svg").stat().st_size < 10_000
