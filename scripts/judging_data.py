"""Human-labelled claims as rows of one shape, for fitting the evidence judge and for measuring judges."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from faithbot.judge.sentences import statements
from faithbot.judge.splitting import split_sentences

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PASSAGE_LENGTH = 800


@dataclass(frozen=True)
class LabelledClaim:
    """A claim, the contexts it is checked against, and what people say of it."""

    source: str
    claim: str
    contexts: tuple[str, ...]
    supported: bool


def training_claims(folder: Path) -> list[LabelledClaim]:
    """Claims for fitting. DialFact and Q2 are not among them: they are for measuring only."""
    return [*_mixed(folder), *_wice(folder), *_ragtruth_qa(folder)]


def test_claims(folder: Path) -> dict[str, list[LabelledClaim]]:
    """The sets that a judge is measured on, by name."""
    return {"dialfact_small": list(_dialfact(folder)), "q2": list(_q2(folder))}


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _mixed(folder: Path) -> Iterator[LabelledClaim]:
    for row in _rows(folder / "mixed.jsonl"):
        yield LabelledClaim(row["source"], row["claim"], (row["context"],), row["label"] == "supported")


def _wice(folder: Path) -> Iterator[LabelledClaim]:
    for row in _rows(folder / "wice_claim_dev.jsonl"):
        passages = tuple(_passages(row["evidence"]))
        yield LabelledClaim("WiCE", row["claim"], passages, row["label"] == "supported")


def _passages(sentences: list[str]) -> Iterator[str]:
    passage = ""
    for sentence in sentences:
        if passage and len(passage) + len(sentence) > PASSAGE_LENGTH:
            yield passage
            passage = ""
        passage = f"{passage} {sentence}".strip()
    if passage:
        yield passage


def _ragtruth_qa(folder: Path) -> Iterator[LabelledClaim]:
    for row in _rows(folder / "ragtruth_qa.jsonl"):
        passages = tuple(text.strip() for text in re.split(r"passage \d+:", row["source"]["passages"]) if text.strip())
        for response in row["responses"]:
            answer = response["response"]
            for span in split_sentences(answer):
                sentence = answer[span.start : span.end]
                marked = any(mark["start"] < span.end and mark["end"] > span.start for mark in response["labels"])
                for claim in statements(sentence):
                    yield LabelledClaim("RAGTruth", claim, passages, not marked)


def _dialfact(folder: Path) -> Iterator[LabelledClaim]:
    for row in _rows(folder / "dialfact_small.jsonl"):
        contexts = tuple(evidence[2] for evidence in row["evidence_list"])
        yield LabelledClaim("DialFact", row["response"], contexts, row["response_label"] == "SUPPORTS")


def _q2(folder: Path) -> Iterator[LabelledClaim]:
    with (folder / "q2_cross_annotation.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            for system in ("dodeca", "memnet"):
                supported = row[f"{system}_label"] == "0"
                yield LabelledClaim("Q2", row[f"{system}_response"], (row["knowledge"],), supported)
