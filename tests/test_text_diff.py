"""Diffs are difflib's own, and no texts make a comparison last."""

from __future__ import annotations

import difflib
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithbot.text_diff import MAX_DIFFED_CHARACTERS, Differ

TEXTS = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "\n"]), max_size=30).map("".join)


@given(TEXTS, TEXTS)
def test_lines_and_their_numbers_are_those_of_a_unified_diff(before: str, after: str) -> None:
    expected = difflib.unified_diff(before.splitlines(), after.splitlines(), n=1, lineterm="")
    assert Differ().diff(before, after) == "\n".join(list(expected)[2:])


def every_second_line_changed(lines: int) -> tuple[str, str]:
    """What takes difflib longest: each search finds one line and leaves all others for the next."""
    return (
        "".join(f"{number}\n" for number in range(lines)),
        "".join(f"{number}\n" if number % 2 else f"new {number}\n" for number in range(lines)),
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        every_second_line_changed(20_000),
        ("a\nb\n" * 99 + "c\n" * 50_000, "b\na\n" * 99),
        ("a\n" * (MAX_DIFFED_CHARACTERS // 2), "b\n" * (MAX_DIFFED_CHARACTERS // 2)),
    ],
    ids=["every second line", "few different lines", "short lines"],
)
def test_all_texts_together_have_the_time_of_a_few(before: str, after: str) -> None:
    differ = Differ()
    started = time.perf_counter()
    diffs = [differ.diff(before, after) for _ in range(20)]
    assert diffs[-1] is None
    assert time.perf_counter() - started < 20  # about a second on two idle cores


def test_a_text_that_costs_too_much_leaves_the_others_their_diffs() -> None:
    differ = Differ()
    assert differ.diff("a\n" * 6_000, "a\n" * 199) is None
    assert differ.diff("a\n", "b\n") == "@@ -1 +1 @@\n-a\n+b"


def test_the_same_texts_have_the_same_diffs_however_long_they_took() -> None:
    pairs = [every_second_line_changed(lines) for lines in (100, 900, 1000, 1500, 200)]
    first, second = Differ(), Differ()
    diffs = [first.diff(*pair) for pair in pairs]
    assert [second.diff(*pair) for pair in pairs] == diffs
    assert None in diffs
    assert diffs[0] is not None
