"""Labels as people write them: read where they are clear, and named with line and cure where they are not."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from faithbot.errors import UsageError
from faithbot.labelled_claims import LabelledClaim, read_labelled_claims
from shared_examples import SHARED

if TYPE_CHECKING:
    from pathlib import Path

ROW = {"claim": "It burns gas.", "contexts": ["The stove burns gas."], "label": "supported"}


def read(folder: Path, *lines: dict[str, Any] | str) -> Any:
    path = folder / "labels.jsonl"
    path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines))
    return read_labelled_claims(path)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("supported", "supported"), ("SUPPORTS", "supported"), (True, "supported"), (1, "supported"),
        (1.0, "supported"), ("yes", "supported"), ("true", "supported"), ("Entailment", "supported"),
        ("contradicted", "contradicted"), ("REFUTES", "contradicted"), ("contradiction", "contradicted"),
        ("not_found", "not_found"), ("NOT ENOUGH INFO", "not_found"), ("neutral", "not_found"),
        ("unsupported", "unsupported"), ("not-supported", "unsupported"), (False, "unsupported"), (0, "unsupported"),
        ("0", "unsupported"), ("partially_supported", "unsupported"), ("hallucinated", "unsupported"),
    ],
)  # fmt: skip
def test_labels_are_read_as_people_write_them(tmp_path: Path, written: object, meant: str) -> None:
    assert read(tmp_path, ROW | {"label": written}).claims[0].label == meant


def test_a_row_has_a_claim_contexts_and_a_label_and_may_have_a_category(tmp_path: Path) -> None:
    found = read(tmp_path, {"answer": "Gas.", "context": "It burns gas.", "label": 1, "category": " number ", "id": 3})
    assert found.claims == (LabelledClaim("Gas.", ("It burns gas.",), "supported", "number"),)
    assert read(tmp_path, ROW | {"contexts": []}).claims[0].contexts == ()


BAD = {
    "label": (ROW | {"label": "maybe"}, 'line 2: the label "maybe" is not known: write supported, contradicted, '),
    "number as label": (ROW | {"label": 0.7}, "line 2: the label 0.7 is not known"),
    "list as label": (ROW | {"label": ["supported"]}, 'line 2: the label ["supported"] is not known'),
    "no label": ({"claim": "a", "contexts": []}, "line 2: `label` is missing."),
    "empty claim": (ROW | {"claim": " "}, 'line 2: the claim must be a text that is not empty, found " ".'),
    "claim of another kind": (ROW | {"claim": 3}, "line 2: the claim must be a text"),
    "contexts of another kind": (ROW | {"contexts": [1]}, "line 2: the contexts must be a list of texts, found [1]."),
    "category of another kind": (ROW | {"category": 1}, "line 2: the category must be a text of at most 60"),
    "long category": (ROW | {"category": "x" * 61}, "line 2: the category must be a text of at most 60"),
    "list": ("[]", "line 2: expected an object, found []."),
    "no JSON": ("{", "line 2, column 2: not valid JSON"),
    "half a character": ('{"claim": "\\ud800"}', "line 2: '\\ud800' holds half a character"),
}


@pytest.mark.parametrize(("row", "problem"), BAD.values(), ids=BAD)
def test_a_bad_row_is_left_out_with_its_line_and_never_costs_the_others(
    tmp_path: Path, row: dict[str, Any] | str, problem: str
) -> None:
    found = read(tmp_path, ROW, row, "", ROW)
    assert len(found.claims) == 2
    assert len(found.problems) == 1
    assert found.problems[0].startswith(problem)


def test_a_file_without_any_claim_says_what_was_expected(tmp_path: Path) -> None:
    expected = r"holds no labelled claim: expected one JSON object a line with claim, contexts \(a list of texts\) and"
    with pytest.raises(UsageError, match=expected + r" label\.$"):
        read(tmp_path, "")
    with pytest.raises(UsageError, match=expected + r" label; line 1: `label` is missing\.$"):
        read(tmp_path, {"claim": "a", "contexts": []}, {})
    with pytest.raises(UsageError, match=r"cannot read .*: Is a directory"):
        read_labelled_claims(tmp_path)


@pytest.mark.parametrize(
    ("file", "rows", "supported"), [("mixed.jsonl", 2499, 1083), ("wice_claim_dev.jsonl", 349, 115)]
)
def test_real_data_sets_are_read_as_they_are(file: str, rows: int, supported: int) -> None:
    found = read_labelled_claims(SHARED.parent / "judging" / file)
    assert (len(found.claims), found.problems) == (rows, ())
    assert sum(row.label == "supported" for row in found.claims) == supported
