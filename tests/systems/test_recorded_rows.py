"""Recorded results as people's tools write them: which column is what, and what is refused rather than guessed."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithbot.errors import UsageError
from faithbot.systems.recorded_rows import RecordedRow, read_recorded

PASSAGES = ["The warranty lasts two years.", "Stoves, 'tents' and\n\"lamps\" can be returned."]


def read(*rows: dict[str, Any], **fields: Any) -> list[RecordedRow]:
    return list(read_recorded("\n".join(map(json.dumps, rows)), "run.jsonl", "main", fields))


def passages_of(contexts: Any) -> list[str]:
    (row,) = read({"question": "How long?", "answer": "Two years.", "contexts": contexts})
    return [context.text for context in row.contexts or ()]


def table(*rows: dict[str, str], delimiter: str = ",") -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, rows[0].keys(), delimiter=delimiter)
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


@pytest.mark.parametrize(
    "row",
    [
        {"question": "How long?", "answer": "Two years.", "contexts": PASSAGES},
        {"question": "How long?", "truth": "2 years", "answer": "Two years.", "context": json.dumps(PASSAGES)},
        {"user_input": "How long?", "reference": "2 years", "response": "Two years.", "retrieved_contexts": PASSAGES},
        {"input": "How long?", "actualOutput": "Two years.", "retrievalContext": PASSAGES},
        {"query": "How long?", "result": "Two years.", "source_documents": [{"page_content": p} for p in PASSAGES]},
    ],
)
def test_the_columns_of_known_tools_are_found(row: dict[str, Any]) -> None:
    (found,) = read(row)
    assert (found.question, found.answer) == ("How long?", "Two years.")
    assert [context.text for context in found.contexts or ()] == PASSAGES


def test_other_columns_are_named_by_the_configuration() -> None:
    row = {"prompt": "How long?", "answer": "2 years", "said": "Two years.", "data_points": PASSAGES}
    (found,) = read(row, question="prompt", answer="said", contexts="data_points")
    assert (found.question, found.answer, len(found.contexts or ())) == ("How long?", "Two years.", 2)


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_a_list_in_a_cell_is_read_as_json_or_as_python_writes_it(delimiter: str) -> None:
    rows = [
        {"question": "How long?", "answer": "Two years.", "contexts": repr(PASSAGES)},
        {"question": "And tents?", "answer": "Yes.", "contexts": json.dumps(PASSAGES)},
    ]
    found = list(read_recorded(table(*rows, delimiter=delimiter), "run.csv", "main", {}))
    assert [[context.text for context in row.contexts or ()] for row in found] == [PASSAGES, PASSAGES]


@given(st.lists(st.text(st.characters(codec="utf-8"), min_size=1), min_size=2))
def test_any_list_survives_python_s_way_of_writing_it(passages: list[str]) -> None:
    assert passages_of(repr(passages)) == passages


@pytest.mark.parametrize(
    "cell",
    [
        "['one passage' 'another']",  # numpy: Python would join the two
        "['one passage'\n 'another']",
        "['one', ..., 'last']",
        "[Document(page_content='one')]",
        "['one', nan]",
        "['one, 'another']",
        "[" * 1000 + "]" * 1000,
        r"['\ud800']",
    ],
)
def test_what_looks_like_a_list_and_is_none_is_refused(cell: str) -> None:
    with pytest.raises(UsageError, match=r"^run\.jsonl \(main\), line 1: .*(list|character|text)"):
        passages_of(cell)


def test_a_text_is_one_passage_even_where_it_starts_with_a_bracket() -> None:
    assert passages_of("[doc1] The warranty lasts two years.") == ["[doc1] The warranty lasts two years."]


def test_a_text_of_passages_under_their_documents_is_parted() -> None:
    text = "plus.pdf#page=4:  Providers matter.\n\nA second paragraph.\n\nstandard.pdf:  Care is covered."
    (row,) = read({"question": "What?", "answer": "This.", "context": text})
    assert [(context.source, context.text) for context in row.contexts or ()] == [
        ("plus.pdf#page=4", "Providers matter.\n\nA second paragraph."),
        ("standard.pdf", "Care is covered."),
    ]


def test_a_passage_of_a_list_may_stand_under_its_document() -> None:
    texts = ["warranty.pdf#page=2: The warranty lasts 2 years.", "docs/stoves.md:\nIt burns gas."]
    (row,) = read({"question": "What?", "answer": "This.", "contexts": texts})
    assert [(context.source, context.text) for context in row.contexts or ()] == [
        ("warranty.pdf#page=2", "The warranty lasts 2 years."),
        ("docs/stoves.md", "It burns gas."),
    ]


@pytest.mark.parametrize(
    "text",
    ["Note: the stove burns gas.", "At 9.30: breakfast.", "Stove v2.15: it burns gas.", "see a.pdf: gas.", "a.pdf:gas"],
)
def test_a_passage_with_a_colon_is_not_under_a_document(text: str) -> None:
    (row,) = read({"question": "What?", "answer": "This.", "contexts": [text]})
    assert [(context.source, context.text) for context in row.contexts or ()] == [(None, text)]


def test_an_object_holds_a_passage_a_key() -> None:
    (row,) = read({"question": "?", "answer": "!", "context": json.dumps({"34": {"name": "Helmet"}, "a.md": "Red."})})
    assert [(context.source, context.text) for context in row.contexts or ()] == [
        ("34", '{"name": "Helmet"}'),
        ("a.md", "Red."),
    ]


@pytest.mark.parametrize("contexts", [None, "", [], "[]"])
def test_no_passage_is_told_from_an_empty_one(contexts: Any) -> None:
    assert passages_of(contexts) == []


def test_a_row_without_passages_does_not_tell_them_and_an_empty_list_does() -> None:
    untold, empty = read({"question": "?", "answer": "!"}, {"question": "?", "answer": "!", "contexts": []})
    assert (untold.contexts, empty.contexts) == (None, ())


def test_what_a_data_frame_calls_nan_is_missing() -> None:
    text = '{"question": "?", "answer": NaN, "contexts": ["x"], "groundedness": NaN}'
    (row,) = read_recorded(text, "run.jsonl", "main", {})
    assert (row.answer, row.columns["groundedness"]) == (None, None)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"answer": "Two years.", "contexts": []}, r"no question \(this row has answer, contexts\): name its column"),
        ({"question": "?", "answer": "!", "response": "."}, "`answer` and `response` may each be the answer"),
        ({"question": "?", "answer": ["!"]}, r'the answer must be a text, found \["!"\]'),
        ({"question": "?", "answer": "!", "contexts": [3]}, "a context must be a text or an object"),
        (
            {"question": "?", "answer": "!", "contexts": [{"foo": "x"}]},
            "a context has no text: expected as text, content",
        ),
        ({"question": "?", "answer": "!", "contexts": 3}, "the contexts must be a list of texts, found 3"),
    ],
)
def test_a_row_that_leaves_doubt_is_refused_with_its_place(row: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=rf"^run\.jsonl \(main\), line 1: {message}"):
        read(row)


def test_a_column_that_is_named_must_exist() -> None:
    with pytest.raises(UsageError, match=r"no column `said`, which `fields\.answer` names"):
        read({"question": "?", "answer": "!"}, answer="said")


def test_a_table_that_is_broken_names_its_line() -> None:
    with pytest.raises(UsageError, match=r"^run\.csv \(main\), line 3: more cells than the header"):
        list(read_recorded("question,answer\nHow long?,2\nWhy,so,many\n", "run.csv", "main", {}))
