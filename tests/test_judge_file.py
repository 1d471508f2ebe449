"""Recorded answers: one bad row never costs the others, and what comes out is always JSON."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

from faithbot.errors import UsageError
from faithbot.judge.protocol import Judgement
from faithbot.judge_file import AnswerRow, judge_file, read_rows, summary
from faithbot.progress import Silent
from faithbot.systems.protocol import Context

if TYPE_CHECKING:
    from pathlib import Path

GOOD = {"id": "a", "question": "What does it burn?", "answer": "It burns gas.", "contexts": ["The stove burns gas."]}

EXPECTED = r"expected one JSON object a line, a JSON list or a \.csv table, with question, answer and contexts"


def judge(folder: Path, content: str | bytes, name: str = "answers.jsonl") -> list[dict[str, Any]]:
    file = folder / name
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    judged = asyncio.run(judge_file(file, "evidence", None, folder / "cache", Silent()))
    return [json.loads(line, parse_constant=pytest.fail) for line in judged.lines]


BAD = {
    "broken": ("{not json", None, "line 3, column 2: not valid JSON: "),
    "list": ("[1]", None, "line 3: expected an object, found [1]"),
    "nested": ("[" * 100_000, None, "line 3: lists or objects are nested more than 50 levels deep"),
    "nested in a column": (
        json.dumps(GOOD | {"x": 0}).replace("0}", "[" * 60 + "]" * 60 + "}"),
        None,
        "line 3: lists or",
    ),
    "huge id": (json.dumps(GOOD).replace('"a"', "1" * 5000), None, "line 3: a number has too many digits"),
    "half a character in the id": (json.dumps(GOOD | {"id": "\ud800"}), None, "line 3: '\\ud800' holds half a char"),
    "half a character in the answer": (json.dumps(GOOD | {"answer": "\udfff"}), None, "line 3: '\\udfff' holds half"),
    "endless number": (json.dumps(GOOD).replace('"a"', "1e999"), None, "line 3: inf is not a number in JSON"),
    "true as id": (json.dumps(GOOD | {"id": True}), None, "line 3: the id must be a text, found true"),
    "list as id": (json.dumps(GOOD | {"id": [1]}), None, "line 3: the id must be a text, found [1]"),
    "no answer": (json.dumps(GOOD | {"id": 7, "answer": None}), 7, "line 3: no answer: expected as answer, response"),
    "no contexts": (
        json.dumps({"id": 0, "question": "?", "answer": "!"}),
        0,
        "line 3: no contexts: expected as contexts, context, retrieved_contexts, retrieval_context, ",
    ),
    "context of other keys": (
        json.dumps(GOOD | {"contexts": [{"foo": "The stove burns gas."}]}),
        "a",
        "line 3: a context has no text: expected as text, content, page_content, pageContent, passage_text, document, "
        "found foo",
    ),
    "NaN as answer": (json.dumps(GOOD | {"answer": float("nan")}), "a", "line 3: no answer"),
    "number as answer": (json.dumps(GOOD | {"answer": 5}), "a", "line 3: the answer must be a text, found 5"),
    "list as question": (
        json.dumps(GOOD | {"question": ["?"]}),
        "a",
        'line 3: the question must be a text, found ["?"]',
    ),
    "number as contexts": (json.dumps(GOOD | {"contexts": 5}), "a", "line 3: the contexts must be a list of texts"),
    "bad context": (json.dumps(GOOD | {"contexts": ["x", 1]}), "a", "line 3: a context must be a text or an object"),
    "two answers": (
        json.dumps(GOOD | {"response": "No."}),
        "a",
        "line 3: `answer` and `response` may each be the answer",
    ),
    "nothing": ("{}", None, "line 3: no question: expected as question, query, user_input"),
}


@pytest.mark.parametrize(("line", "identifier", "reason"), BAD.values(), ids=BAD)
def test_a_bad_row_is_unscored_with_its_line_and_the_others_are_judged(
    tmp_path: Path, line: str, identifier: object, reason: str
) -> None:
    first, bad, last = judge(tmp_path, "\n".join([json.dumps(GOOD), "", line, json.dumps(GOOD)]))
    assert (first["id"], first["faithfulness"], last["faithfulness"]) == ("a", 1, 1)
    assert (bad["id"], bad["faithfulness"], bad["claims"]) == (identifier, None, [])
    assert bad["unscored"].startswith(reason)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_encodings_are_those_of_golden_sets(tmp_path: Path, encoding: str) -> None:
    text = json.dumps(GOOD | {"id": "café"}, ensure_ascii=False) + "\r\n"
    assert judge(tmp_path, text.encode(encoding))[0]["id"] == "café"


def test_rows_are_known_by_their_line(tmp_path: Path) -> None:
    file = tmp_path / "answers.jsonl"
    file.write_text(f"\n{json.dumps(GOOD)}\n\n\n{json.dumps(GOOD)}\n")
    row = AnswerRow("a", "What does it burn?", "It burns gas.", (Context(text="The stove burns gas."),))
    assert read_rows(file) == {"line 2": row, "line 5": row}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            "",
            rf"answers\.jsonl holds no row: {EXPECTED}\.$",
        ),
        (
            "question,answer,contexts\na,b,c\n",
            rf"answers\.jsonl holds no row that can be read: {EXPECTED}; line 1, column 1: not valid JSON: Expecting",
        ),
        ("[]", r"answers\.jsonl holds no row: expected"),
        ("[1]", rf"{EXPECTED}; item 1: expected an object, found 1\.$"),
        ('[{"question": "?"}\n', r"answers\.jsonl, line 2, column 1: not valid JSON"),
        ('{"query": "A?"}', rf"{EXPECTED}; line 1: no answer: expected as answer"),
        (b"\n\xff", r"answers\.jsonl \(answers\), line 2: not valid UTF-8"),
    ],
)
def test_a_file_without_any_row_says_what_was_expected(tmp_path: Path, content: str | bytes, message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        judge(tmp_path, content)
    assert len(str(caught.value).splitlines()) == 1


def test_what_is_not_a_file_is_told_once_and_in_words(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        read_rows(tmp_path)
    assert str(caught.value) == f"cannot read {tmp_path}: Is a directory."


def test_a_list_is_read_item_by_item(tmp_path: Path) -> None:
    first, bad, last = judge(tmp_path, json.dumps([GOOD, 5, GOOD | {"id": None}], indent=1))
    assert (first["id"], first["faithfulness"], last["id"], last["faithfulness"]) == ("a", 1, None, 1)
    assert bad["unscored"] == "item 2: expected an object, found 5."


def test_a_table_is_read_by_its_header(tmp_path: Path) -> None:
    table = 'question,answer,contexts\nWhat?,It burns gas.,"[""The stove burns gas.""]"\nWhat?,,The stove burns gas.\n'
    judged, empty = judge(tmp_path, table, "answers.CSV")
    assert (judged["id"], judged["faithfulness"]) == (None, 1)
    assert empty["unscored"] == "the answer is empty"


def test_an_answer_of_nothing_and_one_of_spaces_are_both_empty(tmp_path: Path) -> None:
    rows = [GOOD, GOOD | {"answer": ""}, GOOD | {"answer": "   "}]
    assert [row["unscored"] for row in judge(tmp_path, "\n".join(map(json.dumps, rows)))] == [
        None, "the answer is empty", "the answer is empty",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("judgements", "line"),
    [
        (
            [
                Judgement(faithfulness=1),
                Judgement(faithfulness=0.5),
                Judgement(abstained=True),
                Judgement(unscored="x"),
            ],
            "mean faithfulness 0.75 over 2 of 4 answers; 1 abstained, 1 unscored",
        ),
        ([Judgement(abstained=True)], "no faithfulness: 0 of 1 answer scored; 1 abstained, 0 unscored"),
    ],
)
def test_the_last_line_sums_up(judgements: list[Judgement], line: str) -> None:
    assert summary(judgements) == line


@pytest.mark.parametrize(
    "row",
    [
        {"user_input": "What?", "response": "It burns gas.", "retrieved_contexts": ["The stove burns gas."]},
        {"input": "What?", "actual_output": "It burns gas.", "retrieval_context": ["The stove burns gas."]},
        {"query": "What?", "result": "It burns gas.", "source_documents": [{"page_content": "The stove burns gas."}]},
        {"question": "What?", "answer": "It burns gas.", "context": "The stove burns gas."},
        {"question": "What?", "answer": "It burns gas.", "contexts": '["The stove burns gas."]'},
        GOOD | {"faithfulness": float("nan"), "metadata": {"tags": [None]}},
    ],
)
def test_the_column_names_of_other_tools_are_known(tmp_path: Path, row: dict[str, Any]) -> None:
    (judged,) = judge(tmp_path, json.dumps(row))
    assert judged["faithfulness"] == 1
    assert judged["claims"][0]["evidence"] == "The stove burns gas."


@pytest.mark.parametrize("contexts", [[], [""], ["\n"]])
def test_an_invented_answer_over_nothing_scores_0_and_a_refusal_abstains(tmp_path: Path, contexts: list[str]) -> None:
    rows = [GOOD | {"contexts": contexts}, GOOD | {"contexts": contexts, "answer": "The documents do not say."}]
    invented, refused = judge(tmp_path, "\n".join(map(json.dumps, rows)))
    assert (invented["faithfulness"], invented["claims"][0]["support"]) == (0, "not_found")
    assert (refused["faithfulness"], refused["abstained"], refused["claims"]) == (None, True, [])


def test_a_citation_of_what_was_not_given_is_told(tmp_path: Path) -> None:
    contexts = [{"text": "The stove burns gas.", "source": "docs/stoves.md"}]
    (judged,) = judge(tmp_path, json.dumps(GOOD | {"answer": "It burns gas [stoves.md][doc7].", "contexts": contexts}))
    assert (judged["faithfulness"], judged["fabricated_citations"]) == (1, ["doc7"])
