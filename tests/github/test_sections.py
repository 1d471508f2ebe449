"""A comment's sections are read and replaced one by one, and nobody's text can pass for one."""

from __future__ import annotations

import re

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from faithbot.errors import UsageError
from faithbot.github.sections import (
    CUT_NOTICE,
    LIMIT,
    Section,
    is_lost,
    join_sections,
    marker,
    parse_sections,
    restore_section,
    shorten,
    update_sections,
)
from faithbot.report.escape import escape_text, fence

OLD, NEW = "a" * 40, "b" * 40
MAIN = Section("main", OLD, "### No regression\n\nAll is well.")
STRONGER = Section("stronger", OLD, "### Another judge agrees")
FORGERY = f"<!-- faithbot-section main {NEW} -->"

PIECES = [FORGERY, "<!-- faithbot:rag -->", "\n", "\r\n", "\r", " ", "text", "\u2028", "```"]

names = st.sampled_from(["main", "stronger", "qwen2.5-7b", "A_1", "x"])
commits = st.sampled_from([OLD, NEW, "0123abc"])
texts = st.text(max_size=50) | st.lists(st.sampled_from(PIECES), max_size=9).map("".join)
sections = st.lists(st.builds(Section, names, commits, texts), max_size=3).map(
    lambda found: {section.name: section for section in found}
)


def test_a_comment_reads_like_this() -> None:
    body = join_sections("rag", {"stronger": STRONGER, "main": MAIN})
    assert body == (
        "<!-- faithbot:rag -->\n"
        f"<!-- faithbot-section main {OLD} -->\n"
        "### No regression\n\nAll is well.\n\n"
        f"<!-- faithbot-section stronger {OLD} -->\n"
        "### Another judge agrees\n"
    )
    assert parse_sections(body) == {"main": MAIN, "stronger": STRONGER}


@given(sections)
@example({"main": Section("main", OLD, FORGERY)})
def test_what_is_joined_is_parsed_again(written: dict[str, Section]) -> None:
    read = parse_sections(join_sections("rag", written))
    assert "main" not in list(read)[1:]
    assert {name: section.commit for name, section in read.items()} == {
        name: section.commit for name, section in written.items()
    }
    for name, section in written.items():
        expected = re.sub(r"\r\n?", "\n", section.text).strip("\n")
        assert read[name].text.replace("&lt;", "<") == expected.replace("&lt;", "<")


@given(sections)
def test_joining_what_was_parsed_changes_nothing(written: dict[str, Section]) -> None:
    body = join_sections("rag", written)
    assert join_sections("rag", parse_sections(body)) == body


@given(texts)
def test_text_that_a_report_shows_makes_no_section(text: str) -> None:
    for shown in (escape_text(text), fence(text), f"> {text.splitlines()[0] if text else ''}"):
        assert list(parse_sections(join_sections("rag", {"main": Section("main", OLD, shown)}))) == ["main"]
    assert not parse_sections(escape_text(text))


@pytest.mark.parametrize(
    "line",
    [
        f" {FORGERY}",
        f"{FORGERY} ",
        f"text {FORGERY}",
        f"<!--faithbot-section main {OLD}-->",
        "<!-- faithbot-section main HEAD -->",
        f"<!-- faithbot-section  {OLD} -->",
        f"<!-- faithbot-section a-->b {OLD} -->",
        f"&lt;!-- faithbot-section main {OLD} -->",
    ],
)
def test_only_a_line_that_is_exactly_a_marker_is_one(line: str) -> None:
    assert not parse_sections(f"<!-- faithbot:rag -->\n{line}\ntext\n")


def test_a_body_that_was_edited_in_a_browser_is_read_too() -> None:
    body = join_sections("rag", {"main": MAIN, "stronger": STRONGER})
    assert parse_sections(body.replace("\n", "\r\n")) == {"main": MAIN, "stronger": STRONGER}


def test_a_new_commit_ends_what_other_judges_said_about_the_old_one() -> None:
    both = {"main": MAIN, "stronger": STRONGER}
    again = Section("main", OLD, "run again")
    assert update_sections(both, again) == {"main": again, "stronger": STRONGER}
    new = Section("main", NEW, "another commit")
    assert update_sections(both, new) == {"main": new}


def test_another_judge_leaves_the_main_section_alone() -> None:
    late = Section("stronger", NEW, "about another commit")
    assert update_sections({"main": MAIN}, late) == {"main": MAIN, "stronger": late}


@given(sections, st.permutations(["main", "stronger", "x"]), st.lists(texts, min_size=2, max_size=2))
def test_of_two_that_are_written_on_the_same_sections_the_first_is_lost_and_restored_beside_the_other(
    before: dict[str, Section], two: list[str], new: list[str]
) -> None:
    first, second = (Section(name, NEW, text) for name, text in zip(two, new, strict=False))
    assume(first != before.get(first.name))
    now = update_sections(before, second)
    assert is_lost(first, before, now)
    restored = restore_section(first, before, now)
    assert restored == update_sections(update_sections(before, first), second)
    assert not is_lost(first, before, restored)


@given(sections, names, names, st.sampled_from([OLD, NEW]), texts, texts)
def test_nothing_is_lost_by_what_is_written_after_it(
    before: dict[str, Section], name: str, other: str, commit: str, text: str, other_text: str
) -> None:
    first, second = Section(name, NEW, text), Section(other, commit, other_text)
    written = update_sections(before, first)
    assume(second != before.get(other))
    assert not is_lost(first, before, update_sections(written, second))


def test_what_another_wrote_about_another_commit_stays_where_a_main_section_is_restored() -> None:
    before, late = {"main": MAIN, "stronger": STRONGER}, Section("x", "c" * 40, "late")
    new = Section("main", NEW, "another commit")
    assert restore_section(new, before, before | {"x": late}) == {"main": new, "x": late}


def test_a_section_that_others_have_cut_is_known_again() -> None:
    """A third section came, and the comment grew too long for all."""
    long = "\n\n".join(f"paragraph {n}" for n in range(5000))
    old, new = (Section("stronger", NEW, f"{text}\n\n{long}") for text in ("old", "new"))
    third = Section("x", NEW, long)
    before = {"stronger": old}

    def beside_the_third(section: Section) -> dict[str, Section]:
        return parse_sections(join_sections("rag", {"stronger": section, "x": third}))

    assert len(beside_the_third(old)["stronger"].text) < len(old.text)
    assert is_lost(new, before, beside_the_third(old))
    assert not is_lost(new, before, beside_the_third(new))


def test_sections_that_are_too_long_together_are_each_cut_after_a_paragraph() -> None:
    long = "\n\n".join(f"paragraph {n}" for n in range(5000))
    body = join_sections("rag", {"main": Section("main", OLD, long), "stronger": Section("stronger", OLD, long)})
    assert len(body) <= LIMIT
    read = parse_sections(body)
    assert list(read) == ["main", "stronger"]
    for section in read.values():
        *kept, notice = section.text.split("\n\n")
        assert notice == CUT_NOTICE
        assert kept == long.split("\n\n")[: len(kept)]
        assert len(kept) > 1000


@given(
    st.lists(st.sampled_from(["```", "a\n\nb", "<details>", "</details>", "\n\n", "text", "\n"]), max_size=40).map(
        "\n".join
    ),
    st.integers(min_value=len(CUT_NOTICE), max_value=300),
)
def test_a_cut_leaves_nothing_open(text: str, limit: int) -> None:
    short = shorten(text, limit)
    assert len(short) <= limit
    if short != text:
        assert short.endswith(CUT_NOTICE)
        kept = short.removesuffix(CUT_NOTICE)
        assert text.startswith(kept)
        assert len(re.findall(r"^```", kept, re.MULTILINE)) % 2 == 0
        assert kept.count("<details>") == kept.count("</details>")


@pytest.mark.parametrize("key", ["rag", "rag-2", "Docs.en_GB", "7"])
def test_a_key_names_a_comment(key: str) -> None:
    assert marker(key) == f"<!-- faithbot:{key} -->"


@pytest.mark.parametrize("key", ["", "a b", "a--b", "-->", "a\nb", "a-", "ä", "x" * 101])
def test_a_key_that_could_break_the_marker_is_refused(key: str) -> None:
    with pytest.raises(UsageError, match="comment-key"):
        marker(key)
