"""What differs between the sides: a real diff of settings, prompt, documents and grading."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithbot.changes import find_changes
from faithbot.config import load_config
from faithbot.judge.calibration import Agreement, CalibrationFile, Estimate
from faithbot.judge.protocol import JudgeFingerprint
from faithbot.report.changes import one_change
from faithbot.repository import open_snapshot
from faithbot.snapshots import MAX_FILE_BYTES
from faithbot.text_diff import MAX_DIFF_LINES, Differ
from git_repository import git, make_repository, write_files

if TYPE_CHECKING:
    from pathlib import Path

    from faithbot.results import SettingChange

CONFIG = """\
golden: golden.jsonl
system:
  pipeline:
    documents: ["docs/*.md"]
    retrieval: {top_k: 4}
    prompt: prompt.md
    model: ollama/a
"""
MAIN: dict[str, str | bytes | None] = {
    "faithbot.yaml": CONFIG,
    "golden.jsonl": '{"question": "A?"}\n',
    "prompt.md": "Use only the passages.\n{{ question }}\n",
    "docs/a.md": "a\n",
    "docs/b.md": "b\n",
    "src/code.py": "1\n",
}


def changes(folder: Path, head: dict[str, str | bytes | None]) -> dict[tuple[str, str], SettingChange]:
    repository = make_repository(folder / "repo", MAIN, {"head": head})
    base, other = (load_config(open_snapshot(repository, ref), "faithbot.yaml") for ref in ("main", "head"))
    return {(change.kind, change.name): change for change in find_changes(base, other)}


def test_nothing_that_the_answers_depend_on_changed(tmp_path: Path) -> None:
    head: dict[str, str | bytes | None] = {
        "src/code.py": "2\n",
        "faithbot.yaml": "# a comment\n" + CONFIG + "runs: 2\n",
        "docs/c.txt": "not selected",
    }
    assert changes(tmp_path, head) == {}


def test_settings_are_named_by_their_key(tmp_path: Path) -> None:
    text = CONFIG.replace("top_k: 4", "top_k: 1").replace("ollama/a", "ollama/b") + "    options: {temperature: 0.7}\n"
    found = changes(tmp_path, {"faithbot.yaml": text})
    assert [(name, change.before, change.after) for (_, name), change in found.items()] == [
        ("retrieval.top_k", "4", "1"),
        ("model", '"ollama/a"', '"ollama/b"'),
        ("options.temperature", "0.0", "0.7"),
    ]
    assert {kind for kind, _ in found} == {"setting"}


def test_a_prompt_has_a_diff(tmp_path: Path) -> None:
    found = changes(tmp_path, {"prompt.md": "{{ question }}\n"})
    assert found["prompt", "prompt.md"].diff == "@@ -1,2 +1 @@\n-Use only the passages.\n {{ question }}"


def test_documents_are_compared_one_by_one(tmp_path: Path) -> None:
    found = changes(tmp_path, {"docs/a.md": None, "docs/b.md": "b2\n", "docs/c.md": "c\n"})
    assert [(name, change.before, change.after, change.diff) for (_, name), change in found.items()] == [
        ("docs/a.md", "docs/a.md", None, "@@ -1 +0,0 @@\n-a"),
        ("docs/b.md", "docs/b.md", "docs/b.md", "@@ -1 +1 @@\n-b\n+b2"),
        ("docs/c.md", None, "docs/c.md", "@@ -0,0 +1 @@\n+c"),
    ]


def test_a_change_of_the_final_newline_is_shown_as_git_shows_it(tmp_path: Path) -> None:
    found = changes(tmp_path, {"docs/a.md": "a"})
    assert found["document", "docs/a.md"].diff == "@@ -1 +1 @@\n-a\n+a\n\\ No newline at end of file"


@given(st.text("ab\n\f\u2028", max_size=8), st.text("ab\n\f\u2028", max_size=8))
def test_only_equal_texts_have_an_empty_diff(before: str, after: str) -> None:
    assert (Differ().diff(before, after) == "") == (before == after)


def test_line_ends_that_git_converts_are_no_change(tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "repo", MAIN)
    git(repository, "config", "core.autocrlf", "true")
    write_files(repository, {"docs/a.md": "a\r\n", "docs/b.md": "b\r\nmore\r\n"})
    base, head = (load_config(open_snapshot(repository, ref), "faithbot.yaml") for ref in ("main", None))
    assert [change.name for change in find_changes(base, head)] == ["docs/b.md"]


@pytest.mark.parametrize("content", [b"\xff\xfe\xff", b"\0", b"caf\xe9", b"x" * (MAX_FILE_BYTES + 1)])
def test_a_golden_set_of_head_that_cannot_be_read_is_a_change_without_a_diff(tmp_path: Path, content: bytes) -> None:
    found = changes(tmp_path, {"golden.jsonl": content})
    assert list(found) == [("grading", "golden.jsonl")]
    change = found["grading", "golden.jsonl"]
    assert (change.before, change.after, change.diff) == ("golden.jsonl", "golden.jsonl", None)


def test_a_golden_set_that_head_removes_is_a_change(tmp_path: Path) -> None:
    assert changes(tmp_path, {"golden.jsonl": None})["grading", "golden.jsonl"].after is None


def test_the_judges_own_prompts_are_part_of_the_grading(tmp_path: Path) -> None:
    """Those of the folder that base names; a file beside it, or in a folder that only head names, grades nothing."""
    judge = "judge: {model: ollama/j, prompts: evals/judge}\n"
    own = {"evals/judge/rubric.md": "Be strict.\n", "evals/judge/label.md": "Judge.\n", "evals/notes.md": "a\n"}
    repository = make_repository(
        tmp_path / "repo",
        MAIN | {"faithbot.yaml": CONFIG + judge} | own,
        {"head": {"evals/judge/rubric.md": "Be lenient.\n", "evals/judge/label.md": None, "evals/notes.md": "b\n"}},
    )
    base, head = (load_config(open_snapshot(repository, ref), "faithbot.yaml") for ref in ("main", "head"))
    found = {change.name: change for change in find_changes(base, head)}
    assert {change.kind for change in found.values()} == {"grading"}
    assert list(found) == ["evals/judge/label.md", "evals/judge/rubric.md"]
    assert found["evals/judge/rubric.md"].diff is not None
    assert "+Be lenient." in found["evals/judge/rubric.md"].diff
    assert found["evals/judge/label.md"].after is None


def test_changes_of_the_grading_come_first_and_are_marked(tmp_path: Path) -> None:
    text = CONFIG.replace("top_k: 4", "top_k: 1") + "judge: {method: label, model: ollama/j}\nruns: 3\n"
    found = changes(tmp_path, {"faithbot.yaml": text, "golden.jsonl": '{"question": "B?"}\n'})
    assert list(found) == [
        ("grading", "judge.method"),
        ("grading", "runs"),
        ("grading", "judge.model"),
        ("grading", "golden.jsonl"),
        ("setting", "retrieval.top_k"),
    ]


def test_a_moved_prompt_with_the_same_text_changes_only_its_setting(tmp_path: Path) -> None:
    text = CONFIG.replace("prompt.md", "prompts/answer.md")
    found = changes(
        tmp_path,
        {"faithbot.yaml": text, "prompt.md": None, "prompts/answer.md": "Use only the passages.\n{{ question }}\n"},
    )
    assert list(found) == [("setting", "prompt")]


def test_what_is_measured_belongs_to_the_grading(tmp_path: Path) -> None:
    found = changes(tmp_path, {"faithbot.yaml": CONFIG + "measure: [context_recall]\n"})
    assert found["grading", "measure"].after == '["context_recall"]'


def test_a_long_diff_is_cut_and_says_so(tmp_path: Path) -> None:
    found = changes(tmp_path, {"docs/a.md": "".join(f"line {number}\n" for number in range(MAX_DIFF_LINES + 50))})
    lines = (found["document", "docs/a.md"].diff or "").splitlines()
    assert len(lines) == MAX_DIFF_LINES + 1
    assert lines[-1] == "… 52 more lines"


def test_a_text_too_large_to_compare_is_named_without_a_diff(tmp_path: Path) -> None:
    found = changes(tmp_path, {"docs/a.md": "x" * 600_000})
    assert found["document", "docs/a.md"].diff is None


def test_a_pull_request_that_rewrites_all_documents_is_read_in_good_time(tmp_path: Path) -> None:
    lines = [f"{number}\n" for number in range(1200)]
    before, after = "".join(lines), "".join(f"new {line}" if int(line) % 2 else line for line in lines)
    names = [f"docs/{number}.md" for number in range(10, 20)]
    repository = make_repository(tmp_path, MAIN | dict.fromkeys(names, before), {"head": dict.fromkeys(names, after)})
    base, head = (load_config(open_snapshot(repository, ref), "faithbot.yaml") for ref in ("main", "head"))
    found = find_changes(base, head)
    assert [change.name for change in found] == names
    assert found[0].diff is not None
    assert found[-1].diff is None


def test_recorded_runs_that_hold_something_else_are_named(tmp_path: Path) -> None:
    config = "golden: golden.jsonl\nsystem: {recorded: {files: [a.jsonl, b.jsonl]}}\n"
    main = {"faithbot.yaml": config, "golden.jsonl": "{}", "a.jsonl": "1", "b.jsonl": "1"}
    repository = make_repository(tmp_path, main, {"head": {"b.jsonl": "2"}})
    base, head = (load_config(open_snapshot(repository, ref), "faithbot.yaml") for ref in ("main", "head"))
    assert [(change.kind, change.name, change.diff) for change in find_changes(base, head)] == [
        ("document", "b.jsonl", None)
    ]


def test_a_pipeline_may_give_way_to_recorded_answers(tmp_path: Path) -> None:
    head = {"faithbot.yaml": "golden: golden.jsonl\nsystem: {recorded: {files: a.jsonl}}\n", "a.jsonl": "1"}
    found = changes(tmp_path, {**head})
    assert found["setting", "recorded.files"].after == '["a.jsonl"]'
    assert found["prompt", "prompt.md"].after is None


def calibration(n: int, kappa: float) -> str:
    half = {"supported": n // 2}
    agreement = Agreement(
        n=n,
        balanced_accuracy=Estimate(value=0.7, low=0.6, high=0.8),
        auc=None,
        kappa=Estimate(value=kappa, low=kappa - 0.1, high=kappa + 0.1),
        confusion={"supported": half, "unsupported": half},
    )
    blank = CalibrationFile.blank(JudgeFingerprint(method="evidence", version="1"))
    return blank.model_copy(update={"agreement": agreement}).model_dump_json(indent=1)


@pytest.mark.parametrize(
    ("after", "spoken"),
    [
        (calibration(36, 0.83), "judge.json n 2499, κ 0.43 → n 36, κ 0.83"),
        (calibration(2499, 0.43) + "\n", "judge.json changed"),
        ("{", "judge.json n 2499, κ 0.43 → unreadable"),
        (b"\xff\xfe\xff", "judge.json n 2499, κ 0.43 → unreadable"),
        (None, "judge.json removed"),
    ],
)
def test_another_calibration_is_told_by_what_it_says_of_the_judge(
    tmp_path: Path, after: str | bytes | None, spoken: str
) -> None:
    config = CONFIG + "judge: {calibration: judge.json}\n"
    repository = make_repository(
        tmp_path / "repo",
        MAIN | {"faithbot.yaml": config, "judge.json": calibration(2499, 0.43)},
        {"head": {"judge.json": after}},
    )
    base, head = (load_config(open_snapshot(repository, ref), "faithbot.yaml") for ref in ("main", "head"))
    (change,) = find_changes(base, head)
    assert (change.kind, change.diff) == ("grading", None)
    assert one_change(change) == spoken
