"""What the report quotes stands word for word in the document, at the place that it names."""

from __future__ import annotations

import asyncio
import html
import re
from typing import TYPE_CHECKING

import pytest

from faithbot.compare import Grading, compare
from faithbot.config import load_config
from faithbot.corpus import document_text
from faithbot.evaluate import evaluate
from faithbot.judge.evidence import EvidenceJudge
from faithbot.plain_text import one_line
from faithbot.progress import Silent
from faithbot.report.comment import render_comment
from faithbot.repository import open_snapshot
from faithbot.results import Results, Side
from faithbot.systems.pipeline import PipelineSystem
from git_repository import make_repository
from records import USAGE, questions
from scripted_model import ScriptedModel

if TYPE_CHECKING:
    from pathlib import Path

    from faithbot.results import SideName
    from faithbot.snapshots import Snapshot

CONFIG = """\
golden: golden.jsonl
system:
  pipeline:
    documents: ["docs/*"]
    chunking: {size: 160, overlap: 60}
    retrieval: {top_k: 3}
    prompt: prompt.md
    model: test/scripted
"""
FILLER = "Many words stand before it, so that it begins far from the start of the text.\n\n"
DOCUMENTS = {
    "lines end as on Windows": ("tent.md", (f"# Tents\n\n{FILLER * 3}" + "It sleeps 8 people.").replace("\n", "\r\n")),
    "HTML": (
        "tent.html",
        f"<html><body><h1>Tents &amp; more</h1><p>{FILLER}</p><table><tr><td>a</td><td>b</td></tr></table>"
        "<ul><li>Caf&eacute; &lt;3</li></ul>\r\n<p>The <b>tent</b>\n sleeps 8&nbsp;people.</p></body></html>",
    ),
    "a byte-order mark": ("tent.txt", f"\ufeff{FILLER * 2}The tent sleeps 8 people. It is blue."),
    "UTF-16": ("tent.txt", f"{FILLER * 2}The tent sleeps 8 people.".encode("utf-16")),
    "characters of two units": ("tent.md", f"🎉🎉🎉 {FILLER * 2}👩‍👩‍👧 e\u0301 The tent sleeps 8 people. 🎉"),
    "no spaces": ("tent.md", "前面有许多文字。" * 30 + "帐篷可容纳8人。" + "后面也有许多文字。" * 30),
    "wrapped lines": (
        "tent.md",
        f"{FILLER}The tent of this house, which is blue and quite large,\nsleeps 8 people at most.\n",
    ),
}


@pytest.mark.parametrize(("name", "content"), DOCUMENTS.values(), ids=DOCUMENTS)
def test_a_quote_is_the_document_s_text_at_its_place(tmp_path: Path, name: str, content: str | bytes) -> None:
    results, snapshot = comparison(tmp_path, f"docs/{name}", content)
    (change,) = results.newly_unsupported
    assert change.evidence is not None
    assert change.source is not None
    assert change.source.start is not None
    assert change.source.document == f"docs/{name}"
    text = document_text(name, snapshot.read_many([f"docs/{name}"])[f"docs/{name}"], "main")
    assert "8" in change.evidence
    assert text[change.source.start :].startswith(change.evidence)
    assert_quotes_are_verbatim(results, text)
    assert one_line(change.evidence) in as_read(render_comment(results))


def as_read(comment: str) -> str:
    """The comment's text as people see it: GitHub resolves references and tags."""
    return html.unescape(re.sub(r"</?(?:strong|code|span)>", "", comment))


def assert_quotes_are_verbatim(results: Results, text: str) -> None:
    """Of every claim on both sides, in its context and through the context's start in the document."""
    claims = 0
    for side in Results.model_validate_json(results.to_json()).sides.values():
        for record in side.answers:
            assert record.judgement is not None
            for claim in record.judgement.claims:
                assert claim.evidence is not None
                context = record.contexts[claim.evidence.context]
                assert context.start is not None
                assert context.text[claim.evidence.start : claim.evidence.end] == claim.evidence.quote
                assert text[context.start :].startswith(context.text)
                claims += 1
    assert claims >= 4


def comparison(folder: Path, document: str, content: str | bytes) -> tuple[Results, Snapshot]:
    """Base says what the document says, head another number."""
    files = {"faithbot.yaml": CONFIG, "prompt.md": "{{ question }}", document: content}
    snapshot = open_snapshot(make_repository(folder / "repo", files), "main")
    asked = questions("the tent 帐篷 people 人")
    answer = "帐篷可容纳{}人。" if "帐" in str(content) else "The tent sleeps {} people."
    numbers: dict[SideName, int] = {"base": 8, "head": 6}
    models = {side: ScriptedModel([answer.format(number)] * 4, digest=side) for side, number in numbers.items()}
    loaded = load_config(snapshot, "faithbot.yaml")
    systems = {side: PipelineSystem(loaded, lambda _, side=side: models[side]) for side in numbers}
    for system in systems.values():
        system.prepare(asked)
    judge = EvidenceJudge()
    answers = asyncio.run(evaluate(asked, systems, judge, runs=4, parallel=1, progress=Silent()))
    sides: dict[SideName, Side] = {
        name: Side(name=name, label=name, commit=None, model="test/scripted", model_digest=name, answers=records)
        for name, records in answers.items()
    }
    fingerprint = asyncio.run(judge.fingerprint())
    grading = Grading(questions=asked, gate={"faithfulness": 0.0}, min_coverage=0.5, fingerprint=fingerprint)
    return compare(grading, sides, runs=4, changes=(), usage=USAGE), snapshot
