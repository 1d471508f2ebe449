"""JSON that people wrote: what is read can be written again, what is not is one line with its place."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithbot.errors import UsageError
from faithbot.json_text import MAX_DEPTH, parse_json

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
TEXTS = st.text(st.characters(codec="utf-8"))
VALUES = st.recursive(SCALARS | TEXTS, lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner), max_leaves=10)


@given(VALUES, st.booleans(), st.sampled_from([None, 2]))
def test_every_value_is_read_as_it_was_written(value: object, escaped: bool, indent: int | None) -> None:
    assert parse_json(json.dumps(value, ensure_ascii=escaped, indent=indent), "f") == value


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a" 1}', r"^f\.json, column 6: not valid JSON: Expecting ':' delimiter\.$"),
        ('{\n"a" 1}', r"^f\.json, line 2, column 5: not valid JSON: Expecting ':' delimiter\.$"),
        ("", r"^f\.json, column 1: not valid JSON: Expecting value\.$"),
        ("1" * 5000, r"^f\.json: a number has too many digits: write it as a text, in quotes\.$"),
        ("NaN", r"^f\.json: nan is not a number in JSON: write a finite one, or null\.$"),
        ('{"a": [-Infinity]}', r"^f\.json: -inf is not a number in JSON"),
        ("1e999", r"^f\.json: inf is not a number in JSON"),
        (
            r'["\ud83d\ude00", "half \ud83d smile"]',
            r"^f\.json: 'half \\ud83d smile' holds half a character: write both",
        ),
        (r'{"a": {"\udc00": 1}}', r"^f\.json: '\\udc00' holds half a character"),
        ("[" * 100_000, r"^f\.json: lists or objects are nested more than 50 levels deep: flatten them\.$"),
        ('{"a":' * 51 + "1" + "}" * 51, r"^f\.json: lists or objects are nested more than 50 levels deep"),
    ],
)
def test_an_error_says_where_and_what_to_do(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse_json(text, "f.json")


def test_the_deepest_value_that_is_read_can_be_written_again() -> None:
    text = "[" * MAX_DEPTH + "]" * MAX_DEPTH
    assert json.dumps(parse_json(text, "f")) == text


@given(st.text(st.sampled_from('[]{}:,"\\ud8019.eE-+ntrfaN \n') | st.characters()))
def test_any_text_is_read_or_refused_in_one_line(text: str) -> None:
    refusal = "f"
    try:
        json.dumps(parse_json(text, "f"), ensure_ascii=False, allow_nan=False).encode()
    except UsageError as error:
        refusal = str(error)
    assert refusal.startswith("f")
    assert len(refusal.splitlines()) == 1
