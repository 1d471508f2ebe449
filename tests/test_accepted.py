"""Accepted claims: read with their reasons, no news, counted apart, stale where they match nothing."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from faithbot.accepted import AcceptedEntry, load_accepted, stale_warning
from faithbot.claim_changes import find_claim_changes
from faithbot.compare import Grading, compare
from faithbot.errors import EvaluationError, UsageError
from faithbot.golden import Question
from faithbot.plan import CompareRequest, make_plan
from faithbot.repository import open_snapshot
from git_repository import make_repository
from records import ABSTAINED, FINGERPRINT, USAGE, answered, claim, questions, record, side

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faithbot.claim_changes import ClaimChanges
    from faithbot.judge.protocol import Judgement

README = Path(__file__).parents[1] / "README.md"
GOLDEN = (Question(id="returns", text="How long can I return a tent?"), Question(id="7", text="What burns?"))
ENTRY = """\
- question: how long can I  return a tent?
  claim: Returns are accepted for 60 days.
  reason: |
    The shop does so. The page is older.
  by: Kim
  date: 2026-11-03
"""


def load(folder: Path, content: str) -> tuple[AcceptedEntry, ...]:
    repository = make_repository(folder / "repo", {"evals/accepted.yaml": content})
    return load_accepted(open_snapshot(repository, "main"), "evals/accepted.yaml", GOLDEN)


def test_an_entry_says_what_is_accepted_and_why_by_whom_and_when(tmp_path: Path) -> None:
    assert load(tmp_path, ENTRY) == (
        AcceptedEntry(
            question_id="returns",
            claim="Returns are accepted for 60 days.",
            reason="The shop does so. The page is older.",
            by="Kim",
            date="2026-11-03",
            place="evals/accepted.yaml (main), line 1",
        ),
    )


@pytest.mark.parametrize("named", ["re\u200bturns", "How long can I \u200breturn a tent?"])
def test_invisible_characters_of_a_copied_question_do_not_count(tmp_path: Path, named: str) -> None:
    (entry,) = load(tmp_path, ENTRY.replace("how long can I  return a tent?", named))
    assert entry.question_id == "returns"


def test_the_readmes_example_is_read(tmp_path: Path) -> None:
    (block,) = re.findall(r"```yaml\n(- question:.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert [(entry.question_id, entry.by) for entry in load(tmp_path, block)] == [("returns", "Kim")]


def test_a_question_is_named_by_its_id_or_its_words(tmp_path: Path) -> None:
    named = ("returns", "How long can I return a tent?", "7", "what burns?", "Gone?")
    entries = load(tmp_path, "".join(f"- {{question: '{name}', claim: C., reason: R.}}\n" for name in named))
    assert [entry.question_id for entry in entries] == ["returns", "returns", "7", "7", None]
    assert [entry.place.rpartition(" ")[2] for entry in entries] == ["1", "2", "3", "4", "5"]


def test_an_empty_file_accepts_nothing(tmp_path: Path) -> None:
    assert load(tmp_path, "# none yet\n") == ()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("question: A?", r"line 1: expected a list of entries, each with question, claim, reason\."),
        (ENTRY + "- a text\n", r"line 7: expected an entry with question, claim, reason\."),
        (ENTRY + "- question: returns\n  claim: C.\n", r"line 7: `reason` is missing or no text: write why the claim"),
        ("- question: returns\n  claim: C.\n  reason: ' '\n", r"line 3: `reason` is missing or no text"),
        ("- question: returns\n  claim: 3\n  reason: R.\n", r"line 2: `claim` is missing or no text"),
        ("- question: true\n  claim: C.\n  reason: R.\n", r"line 1: `question` is missing or no text"),
        ("- question: returns\n  claim: C.\n  reason: R.\n  by:\n", r"line 4: `by` is missing or no text"),
        ("- question: returns\n  claim: C.\n  reason: R.\n  date: soon\n", r"line 4: `date` must be a day such as"),
        ("- question: returns\n  claim: C.\n  why: R.\n", r"line 3: unknown key `why`: known are question, claim"),
        ("- question: [\n", r"line 2, column 1: not valid YAML"),
    ],
)
def test_errors_name_file_and_line(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(UsageError, match=r"^evals/accepted\.yaml \(main\), " + message):
        load(tmp_path, content)


# Beside what a comparison found

INVENTED = claim("Returns are accepted within 60 days.", "not_found")
OTHER = claim("The stove burns gas.", "not_found")


def entry(question_id: str | None = "q", text: str = "For 60 days returns are accepted.") -> AcceptedEntry:
    return AcceptedEntry(question_id, text, "The shop does so.", "Kim", "2026-11-03", "accepted.yaml (main), line 1")


def changes(
    base: Judgement, head: Judgement, *accepted: AcceptedEntry, key: str | None = None, runs: int = 2
) -> ClaimChanges:
    base_records, head_records = (
        [record("q", run, judgement, key=key) for run in range(1, runs + 1)] for judgement in (base, head)
    )
    return find_claim_changes(questions("q"), base_records, head_records, accepted)


def test_an_accepted_claim_is_no_news_whatever_its_wording() -> None:
    found = changes(answered(claim("Fine.")), answered(INVENTED, OTHER), entry())
    assert [change.claim for change in found.newly_unsupported] == [OTHER.text]
    assert [(claim.claim, claim.reason, claim.head_runs, claim.base_runs) for claim in found.accepted] == [
        ("For 60 days returns are accepted.", "The shop does so.", 2, 0)
    ]
    assert found.stale == ()


def test_an_accepted_claim_that_head_no_longer_makes_is_neither_news_nor_stale_yet() -> None:
    found = changes(answered(INVENTED), answered(claim("Fine.")), entry())
    assert found.no_longer_unsupported == ()
    assert [(claim.head_runs, claim.base_runs) for claim in found.accepted] == [(0, 2)]
    assert found.stale == ()


def test_another_number_is_not_accepted() -> None:
    found = changes(answered(claim("Fine.")), answered(INVENTED), entry(text="Returns are accepted within 90 days."))
    assert len(found.newly_unsupported) == 1
    assert found.accepted == ()


@pytest.mark.parametrize(
    ("base", "head", "stale"),
    [
        (answered(claim("Fine.")), answered(claim("Fine.")), True),
        (answered(claim(INVENTED.text)), answered(claim(INVENTED.text)), True),  # supported now: nothing to accept
        (answered(INVENTED), answered(INVENTED), False),
        (ABSTAINED, ABSTAINED, True),
    ],
)
def test_an_entry_that_matches_no_unsupported_claim_is_stale(base: Judgement, head: Judgement, stale: bool) -> None:
    assert bool(changes(base, head, entry()).stale) == stale
    assert bool(changes(base, head, entry(), key="k").stale) == stale  # whether the question changed or not


def test_an_entry_of_a_question_that_is_gone_is_stale() -> None:
    assert changes(answered(OTHER), answered(OTHER), entry(question_id=None)).stale == (entry(question_id=None),)


def test_an_entry_of_a_question_that_could_not_be_judged_is_not_stale() -> None:
    found = find_claim_changes(questions("q"), [record("q", 1, None)], [record("q", 1, answered(OTHER))], [entry()])
    assert found.stale == ()


@pytest.mark.parametrize(
    ("count", "end"), [(1, "accepted.”). Remove what is settled."), (5, "; 2 more. Remove what is settled.")]
)
def test_stale_entries_are_one_warning(count: int, end: str) -> None:
    (warning,) = stale_warning([entry()] * count)
    assert warning.code == "stale_accepted"
    assert "accepted.yaml (main), line 1 (“For 60 days returns are accepted.”)" in warning.message
    assert warning.message.endswith(end)
    assert list(stale_warning([])) == []


def test_accepted_claims_count_in_every_metric() -> None:
    """The metrics compare what the answers say; what the team accepts is no reason to see less of it."""
    judged: dict[str, Sequence[Judgement]] = {"q": [answered(INVENTED, claim("Fine."))] * 2}
    grading = Grading(questions("q"), {"faithfulness": 0.0}, 0.9, FINGERPRINT, accepted=(entry(), entry(None, "Gone.")))
    results = compare(
        grading, {"base": side("base", judged), "head": side("head", judged)}, runs=2, changes=(), usage=USAGE
    )
    assert results.metrics["faithfulness"].head == 0.5
    assert [claim.claim for claim in results.accepted] == ["For 60 days returns are accepted."]
    assert "stale_accepted" in [warning.code for warning in results.warnings]


# In a repository

CONFIG = """\
golden: golden.jsonl
accepted: accepted.yaml
system:
  pipeline:
    documents: docs/*.md
    prompt: prompt.md
    model: ollama/a
"""
FILES: dict[str, str | bytes | None] = {
    "faithbot.yaml": CONFIG,
    "golden.jsonl": '{"id": "a", "question": "A?"}\n{"id": "b", "question": "B?"}\n',
    "accepted.yaml": "".join(f"- {{question: {name}, claim: C., reason: R.}}\n" for name in ("a", "b", "gone")),
    "prompt.md": "{{ question }}\n",
    "docs/a.md": "a\n",
}


def request(
    folder: Path, main: dict[str, str | bytes | None], head: dict[str, str | bytes | None], only: tuple[str, ...] = ()
) -> CompareRequest:
    repository = make_repository(folder / "repo", FILES | main, {"head": head})
    return CompareRequest(repository, base="main", head="head", config="faithbot.yaml", cache=folder, only=only)


def test_bases_file_counts_and_heads_edit_of_it_is_announced(tmp_path: Path) -> None:
    plan = make_plan(request(tmp_path, {}, {"accepted.yaml": "- {question: a, claim: Everything., reason: R.}\n"}))
    assert [(entry.question_id, entry.claim) for entry in plan.accepted] == [("a", "C."), ("b", "C."), (None, "C.")]
    assert [(change.kind, change.name) for change in plan.changes] == [("grading", "accepted.yaml")]
    assert not plan.has_work


@pytest.mark.parametrize("setting", ["accepted: other.yaml", ""])
def test_heads_edit_of_the_setting_is_announced(tmp_path: Path, setting: str) -> None:
    head: dict[str, str | bytes | None] = {"faithbot.yaml": CONFIG.replace("accepted: accepted.yaml", setting)}
    changes = make_plan(request(tmp_path, {}, head)).changes
    assert [(change.kind, change.name) for change in changes] == [("grading", "accepted"), ("grading", "accepted.yaml")]


def test_entries_of_questions_that_are_not_asked_are_left_alone(tmp_path: Path) -> None:
    plan = make_plan(request(tmp_path, {}, {}, only=("b",)))
    assert [entry.question_id for entry in plan.accepted] == ["b", None]


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (None, r"base cannot be evaluated: faithbot\.yaml \(main\), line 2, accepted: accepted\.yaml does not exist"),
        ("- {}\n", r"base cannot be evaluated: accepted\.yaml \(main\), line 1: `question` is missing"),
    ],
)
def test_a_broken_file_on_base_is_no_pass(tmp_path: Path, broken: str | None, message: str) -> None:
    with pytest.raises(EvaluationError, match=message):
        make_plan(request(tmp_path, {"accepted.yaml": broken}, {"accepted.yaml": "[]\n"}))
