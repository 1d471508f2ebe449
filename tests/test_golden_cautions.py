"""Slips in a golden set that would else only show as a metric that says nothing."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from faithbot.config import load_config
from faithbot.golden_cautions import find_golden_cautions
from faithbot.grading_files import read_golden_set
from faithbot.repository import open_snapshot
from git_repository import make_repository

if TYPE_CHECKING:
    from pathlib import Path

PIPELINE = "golden: g.jsonl\nsystem:\n  pipeline: {documents: docs/**/*.md, prompt: p.md, model: ollama/a}\n"
RECORDED = "golden: g.jsonl\nsystem:\n  recorded: {files: run.jsonl}\n"
DOCUMENTS = {"docs/returns.md": "30 days.\n", "docs/shop/opening.md": "At 9.\n"}


def cautions(
    folder: Path, *rows: dict[str, Any], config: str = PIPELINE, only_on_head: str | None = None
) -> list[tuple[str, str]]:
    golden = "\n".join(json.dumps({"question": f"What is {number}?"} | row) for number, row in enumerate(rows))
    files = {"faithbot.yaml": config, "g.jsonl": golden, "p.md": "{{ question }}\n", **DOCUMENTS}
    head = {only_on_head: "new\n"} if only_on_head else {}
    repository = make_repository(folder / "repo", files, {"head": head})
    base, after = (load_config(open_snapshot(repository, ref), "faithbot.yaml") for ref in ("main", "head"))
    found = find_golden_cautions(base, [base, after], read_golden_set(base))
    return [(warning.code, warning.message) for warning in found]


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("relevant_id", "relevant_ids"),
        ("relevantIds", "relevant_ids"),
        ("Relevant IDs", "relevant_ids"),
        ("answerble", "answerable"),
        ("references", "reference"),
        ("ground_truths", "ground_truth"),
        ("Tag", "tags"),
    ],
)
def test_a_key_that_nearly_is_a_known_one_is_named_with_its_place(tmp_path: Path, key: str, meant: str) -> None:
    assert cautions(tmp_path, {}, {key: "x"}, {key: "x"}) == [
        (
            "unknown_golden_key",
            f"g.jsonl, line 2 and 1 more row: nothing reads `{key}`. Did you mean `{meant}`?",
        )
    ]


def test_other_keys_are_nobodys_business(tmp_path: Path) -> None:
    row = {"ids": [1], "category": "a", "idx": 1, "contexts": ["c"], "questions_like_this": [], "metadata": {}}
    assert cautions(tmp_path, row, {"reference": "r", "references": ["r"], "answer": "a", "truth": "t"}) == []


def test_relevant_documents_that_neither_side_has_are_named(tmp_path: Path) -> None:
    rows = [
        {"relevant_ids": ["docs/returns.md", "opening.md", "new.md"]},
        {"relevant_ids": ["refunds.md", "Opening.md"]},
    ]
    ((code, message),) = cautions(tmp_path, *rows, only_on_head="docs/new.md")
    assert code == "unknown_relevant_id"
    assert "name refunds.md, Opening.md, and no document" in message


def test_many_unknown_documents_are_counted(tmp_path: Path) -> None:
    ((_, message),) = cautions(tmp_path, {"relevant_ids": [f"{number}.md" for number in range(9)]})
    assert "name 0.md, 1.md, 2.md and 6 more, and no document" in message


def test_of_recorded_answers_the_documents_are_not_known(tmp_path: Path) -> None:
    assert cautions(tmp_path, {"relevant_ids": ["refunds.md"]}, config=RECORDED) == []
