"""Probes come out of the configured documents, the same ones everywhere, each with the passages of a search for it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from faithbot.config import load_config
from faithbot.errors import UsageError
from faithbot.probe.passages import sentences_of
from faithbot.probe.probes import Probe, make_probes
from faithbot.repository import open_snapshot
from git_repository import make_repository

if TYPE_CHECKING:
    from pathlib import Path

CONFIG = """\
golden: golden.jsonl
system:
  pipeline:
    documents: ["docs/*.md"]
    chunking: {size: 120, overlap: 0}
    retrieval: {top_k: 2}
    prompt: prompt.md
    model: ollama/none
"""
DOCUMENTS = {
    "docs/prices.md": "# Prices\n\nA city bike costs 14 euros a day.\n- A child seat costs **5 euros** for the trip.\n",
    "docs/repairs.md": (
        "# Repairs\n\nThe warranty does not cover lost keys.\n\nA mechanic comes within 90 minutes. "
        "Do you need one?\n\nIt is kept by [Your Company] for a year.\n\nI like this shop very much. | a | b |\n"
    ),
    "docs/tours.md": "The harbour tour starts on Saturday. If it rains, the tour will be moved to another day.\n",
}


def probes_of(folder: Path, files: dict[str, str], per_kind: int = 30) -> list[Probe]:
    repository = make_repository(folder, {"faithbot.yaml": CONFIG, **files})
    loaded = load_config(open_snapshot(repository, None), "faithbot.yaml")
    return make_probes(sentences_of(loaded), per_kind)


def test_sentences_are_whole_and_state_a_fact(tmp_path: Path) -> None:
    verbatim = {probe.text for probe in probes_of(tmp_path, DOCUMENTS) if probe.kind == "verbatim"}
    assert verbatim == {
        "A city bike costs 14 euros a day.",
        "A child seat costs 5 euros for the trip.",
        "The warranty does not cover lost keys.",
        "A mechanic comes within 90 minutes.",
        "The harbour tour starts on Saturday.",
        "If it rains, the tour will be moved to another day.",
    }


def test_every_fault_differs_from_its_sentence_and_stands_beside_it(tmp_path: Path) -> None:
    probes = probes_of(tmp_path, DOCUMENTS)
    faults = [probe for probe in probes if not probe.is_sound]
    assert {probe.kind for probe in faults} == {
        "number", "date", "unit", "negation", "condition", "addition", "refusal",
    }  # fmt: skip
    for probe in faults:
        assert probe.text != probe.sentence
        assert not any(probe.text in context for context in probe.contexts)
    for probe in probes:
        assert 1 <= len(probe.contexts) <= 2
        plain = [context.replace("**", "") for context in probe.contexts]
        assert any(probe.sentence in context for context in plain)


def test_there_are_at_most_as_many_of_a_kind_as_asked_for(tmp_path: Path) -> None:
    kinds = [probe.kind for probe in probes_of(tmp_path, DOCUMENTS, per_kind=2)]
    assert max(kinds.count(kind) for kind in kinds) == 2


def test_the_same_documents_give_the_same_probes_in_the_same_order(tmp_path: Path) -> None:
    assert probes_of(tmp_path / "a", DOCUMENTS) == probes_of(tmp_path / "b", DOCUMENTS)


def test_another_document_leaves_the_changes_of_the_others_as_they_were(tmp_path: Path) -> None:
    more = DOCUMENTS | {"docs/deposit.md": "The deposit is paid back in cash.\n"}
    before = {probe.sentence: probe.text for probe in probes_of(tmp_path / "a", DOCUMENTS) if probe.kind == "negation"}
    after = {probe.sentence: probe.text for probe in probes_of(tmp_path / "b", more) if probe.kind == "negation"}
    assert before.items() < after.items()


def test_a_product_sheet_counts_once(tmp_path: Path) -> None:
    sheets = {f"docs/{size}.md": f"The Alpine {size} Tent is covered for {size} years.\n" for size in range(3, 9)}
    assert [probe.kind for probe in probes_of(tmp_path, sheets)].count("verbatim") == 1


def test_recorded_passages_are_probed_with_those_of_their_answer(tmp_path: Path) -> None:
    rows = [
        {
            "question": "a?",
            "answer": "x",
            "contexts": ["The tour takes two hours.", "The warranty covers broken poles."],
        },
        {"question": "b?", "answer": "x", "contexts": ["A helmet is free of charge today."]},
    ]
    config = "golden: golden.jsonl\nsystem: {recorded: {files: [run.jsonl]}}\nruns: 1\n"
    files = {"faithbot.yaml": config, "run.jsonl": "".join(json.dumps(row) + "\n" for row in rows)}
    found = {(probe.kind, probe.sentence): probe for probe in probes_of(tmp_path, files)}
    number = found["number", "The tour takes two hours."]
    assert number.contexts == ("The tour takes two hours.", "The warranty covers broken poles.")
    assert ("joined", "The tour takes two hours.") in found
    assert ("joined", "A helmet is free of charge today.") not in found


def test_documents_without_a_sentence_say_where(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"line 4, system\.pipeline\.documents: no passage holds a whole sentence"):
        probes_of(tmp_path, {"docs/a.md": "# Title\n\n- one\n- two\n"})


def test_chinese_documents_are_probed(tmp_path: Path) -> None:
    text = (
        "质量问题商品可在签收后七日内申请退货。审计日志保留365天，不可删除。工作日支持时间为北京时间 09:00 至 18:00。\n"
    )
    found = {probe.kind for probe in probes_of(tmp_path, {"docs/a.md": text})}
    assert {"verbatim", "number", "date"} <= found
