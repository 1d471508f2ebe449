"""Recorded answers as a system: run r is the r-th file, and what is not recorded has a reason instead of a score."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

from faithbot.config import JudgeSettings, load_config
from faithbot.errors import CallError, UsageError
from faithbot.golden import Question
from faithbot.judge.evidence import EvidenceJudge
from faithbot.judge.protocol import Judgement
from faithbot.repository import open_snapshot
from faithbot.systems.recorded import NO_CONTEXTS
from faithbot.systems.registry import open_system
from git_repository import make_repository

if TYPE_CHECKING:
    from pathlib import Path

    from faithbot.systems.protocol import Answer, System

CONFIG = """\
golden: golden.jsonl
system:
  recorded: {files: [one.jsonl, two.jsonl]}
"""
EVIDENCE = JudgeSettings()
RECORDED = JudgeSettings(
    method="recorded", scores={"faithfulness": "groundedness", "answer_relevance": "relevance"}, scale=(1, 5)
)
QUESTION = Question(id="warranty", text="How long is the warranty?")


def row(**columns: Any) -> dict[str, Any]:
    return {"question": "How long is the warranty?", "answer": "Two years.", "contexts": ["Two years."]} | columns


def system(
    folder: Path, *runs: list[dict[str, Any]], judge: JudgeSettings = EVIDENCE, config: str = CONFIG, n: int = 2
) -> System:
    lines = ["\n".join(map(json.dumps, rows)) for rows in runs]
    files = dict(zip(("one.jsonl", "two.jsonl"), lines, strict=False))
    repository = make_repository(folder / "repository", {"faithbot.yaml": config, **files})
    opened = open_system(load_config(open_snapshot(repository, "main"), "faithbot.yaml"), judge, n, pytest.fail)
    opened.prepare([QUESTION])
    return opened


def answer(opened: System, run: int = 1) -> Answer:
    return asyncio.run(opened.answer(QUESTION.text, run))


def judgement(folder: Path, judge: JudgeSettings = RECORDED, **columns: Any) -> Judgement | None:
    return answer(system(folder, [row(**columns)], judge=judge, n=1)).judgement


def test_run_r_is_the_r_th_file(tmp_path: Path) -> None:
    opened = system(tmp_path, [row()], [row(answer="Three years.")])
    assert [answer(opened, run).text for run in (1, 2)] == ["Two years.", "Three years."]


def test_the_same_answer_twice_is_not_the_same_request(tmp_path: Path) -> None:
    opened = system(tmp_path, [row()], [row()])
    assert [answer(opened, run).request_key for run in (1, 2)] == [None, None]


def test_a_row_is_found_by_the_words_of_its_question_or_without_them_by_its_id(tmp_path: Path) -> None:
    by_id = {"id": "warranty", "answer": "By id.", "contexts": ["x"]}
    opened = system(tmp_path, [row(question="  how long is the WARRANTY? ", id="other")], [by_id])
    assert [answer(opened, run).text for run in (1, 2)] == ["Two years.", "By id."]


def test_of_rows_that_repeat_a_question_the_first_counts(tmp_path: Path) -> None:
    assert answer(system(tmp_path, [row(), row(answer="Later.")], n=1)).text == "Two years."


def test_a_question_without_a_row_fails_by_itself(tmp_path: Path) -> None:
    opened = system(tmp_path, [row(question="Another?"), row(answer=None)], [row(answer=None)])
    with pytest.raises(CallError, match=r"two\.jsonl \(main\), line 1: no answer is recorded"):
        answer(opened, run=2)
    with pytest.raises(CallError, match=r"no answer is recorded"):
        answer(opened, run=1)


def test_a_question_that_nobody_asked_fails_by_itself(tmp_path: Path) -> None:
    with pytest.raises(CallError, match=r"one\.jsonl has no row for this question"):
        answer(system(tmp_path, [row(question="Another?")], n=1))


@pytest.mark.parametrize("n_rows", [(0, 1), (1, 0)])
def test_a_file_that_holds_no_row_is_named(tmp_path: Path, n_rows: tuple[int, int]) -> None:
    empty = ("one", "two")[n_rows.index(0)]
    with pytest.raises(UsageError, match=rf"^{empty}\.jsonl \(main\) holds no row: record the answers of run"):
        system(tmp_path, *([row()] * n for n in n_rows))


@pytest.mark.parametrize("contexts", [None, ""])
def test_an_answer_whose_passages_were_not_recorded_is_not_judged(tmp_path: Path, contexts: Any) -> None:
    assert judgement(tmp_path, EVIDENCE, contexts=contexts) == Judgement(unscored=NO_CONTEXTS)


def test_an_answer_that_was_given_no_passage_is_judged_and_invented(tmp_path: Path) -> None:
    assert judgement(tmp_path, EVIDENCE, contexts=[]) is None
    judged = asyncio.run(EvidenceJudge().judge("?", "The tent weighs two kilograms.", []))
    assert judged.faithfulness == 0


def test_an_abstention_needs_no_passage(tmp_path: Path) -> None:
    assert judgement(tmp_path, EVIDENCE, answer="I don't know.", contexts=[]) is None


@pytest.mark.parametrize(("groundedness", "faithfulness"), [(1, 0.0), (3.0, 0.5), ("5", 1.0)])
def test_recorded_scores_become_shares(tmp_path: Path, groundedness: Any, faithfulness: float) -> None:
    assert judgement(tmp_path, groundedness=groundedness, relevance=4) == Judgement(
        faithfulness=faithfulness, relevance=0.75
    )


@pytest.mark.parametrize(
    ("groundedness", "reason"),
    [
        (None, "no number is recorded as groundedness"),
        ("n/a", "no number is recorded as groundedness"),
        (True, "no number is recorded as groundedness"),
        (10**400, "no number is recorded as groundedness"),
        ("nan", "groundedness is nan, which is off the scale from 1 to 5"),
        (0.8, "groundedness is 0.8, which is off the scale from 1 to 5"),
    ],
)
def test_a_score_that_is_none_has_a_reason(tmp_path: Path, groundedness: Any, reason: str) -> None:
    assert judgement(tmp_path, groundedness=groundedness, relevance=4) == Judgement(unscored=reason)


def test_a_column_of_scores_that_no_row_has_is_named_before_any_work(tmp_path: Path) -> None:
    with pytest.raises(
        UsageError, match=r"^one\.jsonl \(main\): no row has a column 'relevance', which `judge\.scores"
    ):
        system(tmp_path / "none", [row(groundedness=3), row(groundedness=4)], judge=RECORDED, n=1)
    rows = [row(groundedness=3, relevance=5), row(question="Another?", groundedness=4)]
    assert answer(system(tmp_path / "some", rows, judge=RECORDED, n=1)).judgement is not None


def test_the_score_of_an_abstention_does_not_count(tmp_path: Path) -> None:
    assert judgement(tmp_path, answer="I don't know.", groundedness=5, relevance=1) == Judgement(abstained=True)


def test_fewer_files_than_runs_is_wrong_usage(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"line 3, system\.recorded\.files: only 2 of 3 runs have a file: name 3"):
        system(tmp_path, [row()], [row()], n=3)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"line 3, system\.recorded\.files\.1: two\.jsonl does not exist on main"):
        system(tmp_path, [row()])


def test_recorded_scores_of_a_pipeline_do_not_exist(tmp_path: Path) -> None:
    config = "golden: g\nsystem:\n  pipeline: {documents: d, prompt: p, model: m}\n"
    with pytest.raises(UsageError, match=r"line 2, system: the judge `recorded` reads scores out of recorded answers"):
        system(tmp_path, config=config, judge=RECORDED)


def test_what_the_files_hold_is_in_the_digest(tmp_path: Path) -> None:
    first = system(tmp_path / "1", [row()], [row()])
    second = system(tmp_path / "2", [row()], [row(answer="Three.")])
    models, digests = zip(*(asyncio.run(opened.describe()) for opened in (first, second)), strict=True)
    assert set(models) == {"records in one.jsonl and 1 more"}
    assert digests[0] != digests[1]
