"""Recorded answers: one bad row never costs the others, and what comes out is always JSON."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

from faithbot.errors import UsageError
from faithbot.judge_file import AnswerRow, judge_file, read_rows
from faithbot.progress import Silent

if TYPE_CHECKING:
    from pathlib import Path

GOOD = {"id": "a", "question": "What does it burn?", "answer": "It burns gas.", "contexts": ["The stove burns gas."]}


def judge(folder: Path, content: str | bytes) -> list[dict[str, Any]]:
    file = folder / "answers.jsonl"
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    lines = asyncio.run(judge_file(file, "evidence", None, folder / "cache", Silent()))
    return [json.loads(line, parse_constant=pytest.fail) for line in lines]


BAD = {
    "broken": ("{not json", None, "line 3, column 2: not valid JSON: "),
    "list": ("[1]", None, "line 3: expected an object, found [1]"),
    "nested": ("[" * 100_000, None, "line 3: lists or objects are nested more than 50 levels deep"),
    "huge id": (json.dumps(GOOD).replace('"a"', "1" * 5000), None, "line 3: a number has too many digits"),
    "half a character in the id": (json.dumps(GOOD | {"id": "\ud800"}), None, "line 3: '\\ud800' holds half a char"),
    "half a character in the answer": (json.dumps(GOOD | {"answer": "\udfff"}), None, "line 3: '\\udfff' holds half"),
    "not a number": (json.dumps(GOOD | {"score": float("nan")}), None, "line 3: nan is not a number in JSON"),
    "true as id": (json.dumps(GOOD | {"id": True}), None, "line 3: id: must be a text or a whole number"),
    "list as id": (json.dumps(GOOD | {"id": [1]}), None, "line 3: id: must be a text or a whole number"),
    "no answer": (json.dumps(GOOD | {"id": 7, "answer": None}), 7, "line 3: answer: Input should be a valid string"),
    "bad context": (json.dumps(GOOD | {"contexts": ["x", 1]}), "a", "line 3: contexts.1: Input should be a valid"),
    "nothing": ("{}", None, "line 3: question: Field required"),
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
    assert read_rows(file) == {2: AnswerRow(**GOOD), 5: AnswerRow(**GOOD)}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", r"answers\.jsonl holds no row: expected one JSON object a line with question, answer and contexts\.$"),
        (
            "question,answer,contexts\na,b,c\n",
            r"answers\.jsonl holds no row that can be read: expected one JSON object a line with question, answer and "
            r"contexts; line 1, column 1: not valid JSON: Expecting value\.$",
        ),
        (json.dumps([GOOD], indent=1), r"expected one JSON object a line .*; line 1, column 2: not valid JSON"),
        (json.dumps([GOOD]), r"expected one JSON object a line .*; line 1: expected an object, found \[\{"),
        ('{"query": "A?"}', r"expected one JSON object a line .*; line 1: question: Field required"),
        (b"\n\xff", r"answers\.jsonl \(answers\), line 2: not valid UTF-8"),
    ],
)
def test_a_file_without_any_row_says_what_was_expected(tmp_path: Path, content: str | bytes, message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        judge(tmp_path, content)
    assert len(str(caught.value).splitlines()) == 1


def test_a_folder_is_not_a_file(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot read .*Is a directory"):
        read_rows(tmp_path)
