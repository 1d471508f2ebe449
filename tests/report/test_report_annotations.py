"""Notes at the changed lines that a regression can come from."""

from __future__ import annotations

import pytest

import example_results as examples
from example_results import PROMPT_DIFF, regression
from faithbot.report.annotations import MAX_ANNOTATIONS, find_annotations
from faithbot.results import SettingChange
from faithbot.text_diff import Differ

TOP_K = SettingChange(kind="setting", name="retrieval.top_k", before="4", after="1", file="rag/faithbot.yaml", line=6)


def prompt(diff: str) -> SettingChange:
    return SettingChange(kind="prompt", name="p.md", before="p.md", after="p.md", file="p.md", diff=diff)


def test_prompt_first_then_settings_each_at_its_line() -> None:
    found = find_annotations(regression(changes=(TOP_K, prompt(PROMPT_DIFF))))
    assert [(note.file, note.line, note.message) for note in found] == [
        ("p.md", 2, "Changed here: p.md (2 lines)"),
        ("rag/faithbot.yaml", 6, "Changed here: retrieval.top_k 4 → 1"),
    ]
    assert found[0].title == "Faithfulness fell by 0.12, noise is ±0.04"


@pytest.mark.parametrize(
    ("before", "after", "lines"),
    [
        ("a\nb\nc\n", "a\nX\nc\n", [2]),
        ("a\nb\nc\n", "a\nc\n", [2]),
        ("a\n", "a\nb\n", [2]),
        ("", "new\n", [1]),
        ("old\n", "", [1]),
        (
            "".join(f"{n}\n" for n in range(20)),
            "".join(f"{n if n not in (3, 15) else 'X'}\n" for n in range(20)),
            [4, 16],
        ),
    ],
    ids=["changed", "removed", "added at the end", "new file", "emptied", "two places"],
)
def test_the_line_is_the_first_that_differs_on_head(before: str, after: str, lines: list[int]) -> None:
    diff = Differ().diff(before, after)
    assert diff is not None
    assert [note.line for note in find_annotations(regression(changes=(prompt(diff),)))] == lines


def test_never_more_than_github_shows() -> None:
    assert len(find_annotations(regression(changes=(TOP_K,) * 30))) == MAX_ANNOTATIONS


def test_only_a_regression_points_at_lines_and_never_at_what_grades_it() -> None:
    grading = TOP_K.model_copy(update={"kind": "grading"})
    assert find_annotations(examples.results(changes=(TOP_K,))) == []
    assert find_annotations(regression(changes=(grading,))) == []


def test_a_file_that_head_deleted_has_no_line() -> None:
    deleted = SettingChange(kind="document", name="d.md", before="d.md", after=None, diff="@@ -1,1 +0,0 @@\n-x")
    assert find_annotations(regression(changes=(deleted,))) == []
