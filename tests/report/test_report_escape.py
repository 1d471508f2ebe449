"""Whatever somebody wrote: it reads the same in the comment, it stays in its place, and it calls nobody."""

from __future__ import annotations

import html
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_reader import read, shown, tags, token_types, tokens

from faithbot.plain_text import cut, one_line, plain
from faithbot.report.escape import BREAK, NUMBER, escape_code, escape_emphasised, escape_text, fence

HOSTILE_PIECES = (
    *(
        "@octocat",
        "@org/team",
        "a@b.org",
        "#1",
        "org/repo#12",
        "GH-7",
        "gh-7",
        "deadbeef",
        "0123456789abcdef" * 2,
        ":tada:",
    ),
    *(
        "https://evil.example/x",
        "HTTP://evil.example",
        "ftp://x.y",
        "www.evil.example",
        "mailto:a@b.org",
        ":+1:",
        "1234567",
    ),
    *(
        "[text](https://evil.example)",
        "![](https://evil.example/p.png)",
        "[^1]",
        "[ ]",
        "<https://evil.example>",
        "&#64;",
    ),
    *("- [x] ", "* ", "+ ", "# ", "1. ", "2) ", "> ", "=== ", "--- ", "***", "__", "~~", "*", "_", "`", "```", "~~~"),
    *("|", "\\", "\\|", "$", "$$x$$", "&amp;", "<b>", "</td>", "</details>", "<!-- faithbot -->", "<img src=x>"),
    *("\n", "\r\n", "\n\n", "\t", " ", "    ", "\u2028", "\u202e", "\u200b", "\u2060", "\ufeff", "\x00", "\x1b[31m"),
    *("\ud800", "é", "日本", "👩\u200d🚀", "word", "7", "."),
)

texts = st.one_of(st.text(), st.lists(st.one_of(st.sampled_from(HOSTILE_PIECES), st.text(max_size=3))).map("".join))

CALLS = re.compile(
    r"@\w|#\d|gh-\d|://|www\.|:[\w+-]+:|(?<![0-9a-f])[0-9a-f]{7,40}(?![0-9a-f])|[\u202a-\u202e\u2066-\u2069]",
    re.IGNORECASE,
)
"""What GitHub makes a link, a notification or an emoji of, in finished text."""


@given(texts)
@example("ends in a backslash \\")
@example("a | b \\| c `|`")
def test_a_table_cell_stays_one_cell_and_reads_like_the_original(text: str) -> None:
    table = f"| a | b | c |\n|---|---|---|\n| x | {escape_text(text, 10_000)} | y |\n"
    found = [token.type for token in tokens(table)]

    assert found.count("tr_open") == 2
    assert found.count("td_open") == 3
    assert read(table) == f"a\nb\nc\nx\n{one_line(text)}\ny"
    assert not token_types(table) & {
        "link_open",
        "image",
        "code_inline",
        "em_open",
        "strong_open",
        "s_open",
        "html_block",
    }
    assert tags(table) <= {"span"}


@given(texts)
@example("1. no list")
@example("# no heading")
@example("    no code")
def test_a_paragraph_stays_a_paragraph_and_reads_like_the_original(text: str) -> None:
    markdown = f"before\n\n{escape_text(text, 10_000)}\n\nafter"

    assert read(markdown).split("\n") == ["before", *([one_line(text)] if one_line(text) else []), "after"]
    assert token_types(markdown) <= {"paragraph_open", "inline", "text", "html_inline", "paragraph_close"}
    assert tags(markdown) <= {"span"}


@given(texts)
def test_nothing_in_the_finished_text_calls_anybody(text: str) -> None:
    assert not CALLS.search(shown(escape_text(text, 10_000)))


@pytest.mark.parametrize("call", [piece for piece in HOSTILE_PIECES if CALLS.search(piece)])
def test_each_known_call_is_broken_but_stays_readable(call: str) -> None:
    markdown = escape_text(f"see {call} now")

    assert BREAK in shown(markdown) or not CALLS.search(one_line(call))
    assert read(markdown) == one_line(f"see {call} now")


@given(texts)
def test_text_in_raw_html_such_as_a_summary_reads_like_the_original(text: str) -> None:
    escaped = escape_text(text, 10_000).replace("<span>$</span>", "$")

    assert "<" not in escaped
    assert html.unescape(escaped).replace(BREAK, "") == one_line(text)


def test_dollar_signs_make_no_formula() -> None:
    assert escape_text("from $5 to $9") == "from <span>$</span>5 to <span>$</span>9"


@given(texts)
def test_a_code_span_holds_the_text_and_nothing_else(text: str) -> None:
    markdown = f"a {escape_code(text, 10_000)} b"

    assert read(markdown) == f"a {one_line(text)} b"
    assert tags(markdown) <= {"code", "span"}


@given(texts)
def test_numbers_can_be_bold_without_a_change_in_the_text(text: str) -> None:
    numbers = set(NUMBER.findall(one_line(text)))
    markdown = f"| a |\n|---|\n| {escape_emphasised(text, numbers, 10_000)} |\n"

    assert read(markdown) == f"a\n{one_line(text)}"
    assert tags(markdown) <= {"span", "strong"}
    assert not CALLS.search(shown(markdown))


def test_only_the_given_numbers_are_bold() -> None:
    assert escape_emphasised("60 days, not 30 days", {"60"}) == "<strong>60</strong> days, not 30 days"


@given(texts)
@example("```\n````\n```")
def test_a_fence_holds_the_whole_text(text: str) -> None:
    markdown = f"before\n\n{fence(text, 'diff', max_lines=10_000, max_columns=10_000)}\n\nafter"
    blocks = [token for token in tokens(markdown) if token.type == "fence"]

    assert len(blocks) == 1
    assert shown(markdown).startswith("before")
    assert shown(markdown).endswith("after")
    assert [one_line(line) for line in blocks[0].content.splitlines()] == [
        one_line(line) for line in text.splitlines() or [""]
    ]
    assert not re.search(r"@\w|<!--\s*faithbot", blocks[0].content)


def test_a_fence_keeps_indentation_and_says_how_much_it_leaves_out() -> None:
    assert fence("\ta\n  b\nc\nd", max_lines=2) == "```\n\ta\n  b\n… 2 more lines\n```"


@given(texts, st.integers(min_value=1, max_value=50))
def test_a_cut_text_keeps_to_its_limit(text: str, limit: int) -> None:
    assert len(cut(one_line(text), limit)) <= limit


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("short enough", 12, "short enough"),
        ("cut at the end of a word", 12, "cut at the…"),
        ("unbreakable" * 3, 12, "unbreakable…"),
        ("two words", 4, "two…"),
    ],
)
def test_texts_are_cut_at_the_end_of_a_word_where_there_is_one(text: str, limit: int, expected: str) -> None:
    assert cut(text, limit) == expected


@given(texts)
def test_terminal_text_holds_no_control_character(text: str) -> None:
    assert not re.search(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", plain(text))


def test_escape_sequences_do_not_reach_a_terminal() -> None:
    assert plain("\x1b[31mred\x1b[0m\r\nnext\tcolumn") == "[31mred[0m next column"
