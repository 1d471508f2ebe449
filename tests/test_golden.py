"""Golden sets as people keep them, and errors that name the line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithbot.errors import UsageError
from faithbot.golden import Question, load_golden_set, question_key, select
from faithbot.report.escape import escape_text
from faithbot.repository import open_snapshot
from git_repository import make_repository

SHARED = Path(__file__).parents[2] / "shared" / "data" / "golden"


def load(folder: Path, content: str | bytes, name: str = "golden.jsonl") -> tuple[Question, ...]:
    repository = make_repository(folder / "repo", {name: content})
    return load_golden_set(open_snapshot(repository, "main"), name)


def test_every_field_has_its_common_names(tmp_path: Path) -> None:
    rows = [
        {
            "id": "a",
            "question": " How long? ",
            "ground_truth": "Two years.",
            "relevant_ids": ["faq.md"],
            "tags": ["x", "y"],
        },
        {"id": 7, "question": "B?", "reference": "b", "tags": "one", "answerable": False},
        {"question": "C?", "truth": "c", "category": "ignored"},
        {"question": "D?", "answer": "d", "id": None},
    ]
    assert load(tmp_path, "\n\n".join(map(json.dumps, rows))) == (
        Question(id="a", text="How long?", reference="Two years.", relevant_ids=("faq.md",), tags=("x", "y")),
        Question(id="7", text="B?", reference="b", tags=("one",), answerable=False),
        Question(id=question_key("C?"), text="C?", reference="c"),
        Question(id=question_key("D?"), text="D?", reference="d"),
    )


def test_a_json_list_is_read_like_lines(tmp_path: Path) -> None:
    rows = [{"question": "A?"}, {"question": "B?"}]
    as_list = load(tmp_path / "list", "\ufeff\n" + json.dumps(rows, indent=2), "golden.json")
    assert as_list == load(tmp_path / "lines", "\r\n".join(map(json.dumps, rows)))


def test_the_id_of_a_question_depends_on_its_words_only() -> None:
    assert question_key("How  long\nis it? ") == question_key("how long is it?")
    assert question_key("How long is it?") != question_key("How wide is it?")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", r"golden\.jsonl \(main\) holds no question: add lines such as"),
        ("\n \n", "holds no question"),
        ("[]", "holds no question"),
        ('{"question": "A?"}\n{"question": ', r"line 2, column 14: not valid JSON"),
        ('[{"question": "A?"},\n {"question" "B?"}]', r"line 2, column 14: not valid JSON"),
        ('{"question": "A?"}\n["B?"]', r'line 2: expected an object with a `question`, found \["B\?"\]'),
        ('{"query": "A?"}', r"line 1: `question` must be a text that is not empty \(this row has query\)"),
        ('{"question": "  "}', r"line 1: `question` must be a text"),
        ('[{"question": "A?"}, {"question": 5}]', r"item 2: `question` must be a text"),
        ('{"question": "A?", "id": 1}\n{"question": "B?", "id": "1"}', r"line 2: this id stands in line 1 already"),
        ('{"question": "A?"}\n\n{"question": "a? "}', r"line 3: this question stands in line 1 already"),
        ('{"question": "A?", "reference": 3}', r"line 1: the reference must be a text, found 3"),
        ('{"question": "A?", "tags": [{}]}', r"line 1: `tags` must be a list of texts"),
        ('{"question": "A?", "answerable": "no"}', r"line 1: `answerable` must be true or false"),
        ('{"question": "A?", "answerable": 1}', r"line 1: `answerable` must be true or false"),
        ('{"question": "A?", "id": true}', r"line 1: `id` must be a text that is not empty or a whole number"),
        ('{"question": "A?", "id": " "}', r"line 1: `id` must be a text that is not empty"),
        ('{"question": "A?", "id": 1.5}', r"line 1: `id` must be a text"),
        ('{"question": "A?", "tags": [true]}', r"line 1: `tags` must be a list of texts"),
        ('{"a\\nb": 1}', r"\(this row has a b\)"),
        ('\n{"question": "A?", "id": ' + "1" * 5000 + "}", r"line 2: a number has too many digits"),
        ('{"question": "A?"}\n' + "[" * 100_000, r"line 2: lists or objects are nested more than 50 levels"),
        ("[" * 100_000, r"golden\.jsonl \(main\): lists or objects are nested"),
        ('{"question": "A?"}\n\n{"question": "\\ud800"}', r"line 3: '\\ud800' holds half a character"),
        ('{"question": "A?", "id": "\\udfff"}', r"line 1: '\\udfff' holds half a character"),
        ('{"question": "A?", "score": NaN}', r"line 1: nan is not a number in JSON"),
        (b'{"question": "caf\xe9"}', r"golden\.jsonl \(main\), line 1: not valid UTF-8"),
    ],
)
def test_an_error_names_the_line(tmp_path: Path, content: str | bytes, message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        load(tmp_path, content)
    assert len(str(caught.value).splitlines()) == 1


def test_an_empty_tag_is_no_error(tmp_path: Path) -> None:
    assert load(tmp_path, '{"question": "A?", "tags": "", "relevant_ids": [""]}')[0].text == "A?"


def test_a_selection_is_by_id_or_by_number(tmp_path: Path) -> None:
    questions = load(tmp_path, "".join(f'{{"question": "{c}?", "id": "{c}"}}\n' for c in "abc"))
    assert [question.id for question in select(questions, (), None)] == ["a", "b", "c"]
    assert [question.id for question in select(questions, ("c", "a"), None)] == ["a", "c"]
    assert [question.id for question in select(questions, (), 2)] == ["a", "b"]
    with pytest.raises(UsageError, match=r"--only z: no question has this id; there are a, b, c"):
        select(questions, ("a", "z"), None)


def test_an_id_that_was_copied_out_of_the_comment_is_known(tmp_path: Path) -> None:
    """GitHub would link seven hexadecimal digits as a commit: the comment breaks them with a zero-width space."""
    (question,) = load(tmp_path, '{"question": "How long is the warranty?"}')
    copied = escape_text(question.id)
    assert copied != question.id
    assert select((question,), (copied,), None) == (question,)
    with pytest.raises(UsageError, match=r"^--only q-0000000f: no question has this id"):
        select((question,), ("q-000000\u200b0f",), None)


@given(st.lists(st.text(min_size=1).filter(str.strip), unique_by=question_key, min_size=1, max_size=5))
def test_any_question_survives_the_way_through_a_file(texts: list[str]) -> None:
    class OneFile:
        label, commit = "memory", None

        def files(self) -> dict[str, str]:
            return {"g": "0"}

        def read_many(self, paths: list[str]) -> dict[str, bytes]:
            return {path: "\n".join(json.dumps({"question": text}) for text in texts).encode() for path in paths}

    assert [question.text for question in load_golden_set(OneFile(), "g")] == [text.strip() for text in texts]


@pytest.mark.parametrize(
    ("path", "count", "with_reference"),
    [
        ("contoso-chat/data.jsonl", 12, 0),
        ("verity-rag/evals/golden.jsonl", 10, 10),
        ("rag-postgres/evals/ground_truth.jsonl", 10, 10),
        ("zh-elsa-kb/eval/golden_set.jsonl", 10, 0),
    ],
)
def test_real_golden_sets(tmp_path: Path, path: str, count: int, with_reference: int) -> None:
    questions = load(tmp_path, (SHARED / path).read_bytes())
    assert len(questions) == count
    assert sum(question.reference is not None for question in questions) == with_reference
