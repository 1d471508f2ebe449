"""Documents become chunks: by glob, in a fixed order, with their place in the text."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithbot.corpus import document_text, load_chunks, match_documents
from faithbot.errors import UsageError
from faithbot.repository import open_snapshot
from faithbot.retrieval import BM25Index, tokens
from git_repository import make_repository

if TYPE_CHECKING:
    from faithbot.snapshots import Snapshot

MANUALS = Path(__file__).parents[2] / "shared" / "data" / "golden" / "contoso-chat" / "manuals"


def snapshot(folder: Path, files: dict[str, str | bytes]) -> Snapshot:
    return open_snapshot(make_repository(folder / "repo", files), "main")


def test_globs_select_documents_in_the_order_of_their_paths(tmp_path: Path) -> None:
    side = snapshot(
        tmp_path, {"docs/b.md": "b", "docs/sub/a.txt": "a", "docs/c.md": "c", "x.md": "x", "docs/d.py": "d"}
    )
    assert list(match_documents(side, ["docs/**/*.md", "docs/**/*.txt"], "here")) == [
        "docs/b.md",
        "docs/c.md",
        "docs/sub/a.txt",
    ]
    assert list(match_documents(side, ["docs/**/*.{md,txt}", "!docs/c.md"], "here")) == ["docs/b.md", "docs/sub/a.txt"]


def test_each_pattern_must_match_something(tmp_path: Path) -> None:
    side = snapshot(tmp_path, {"docs/a.md": "a"})
    with pytest.raises(UsageError, match=r"^here: no file on main matches 'doc/\*\.md' \(of 1 files in git\)"):
        match_documents(side, ["docs/*.md", "doc/*.md"], "here")
    with pytest.raises(UsageError, match="the `!` patterns leave no document"):
        match_documents(side, ["docs/*.md", "!docs/**"], "here")


def test_hidden_files_are_chosen_by_name_and_left_out_by_any_pattern(tmp_path: Path) -> None:
    side = snapshot(tmp_path, {"docs/a.md": "a", "docs/.b.md": "b", "docs/.c.md": "c"})
    assert match_documents(side, ["docs/*.md"], "here") == ["docs/a.md"]
    assert match_documents(side, ["docs/*.md", "docs/.*.md", "!docs/*c.md"], "here") == ["docs/.b.md", "docs/a.md"]


@pytest.mark.parametrize("pattern", ["docs/{1..5000}.md", "!docs/{1..5000}.md", "{a,b}" * 20])
def test_a_pattern_that_stands_for_too_many_is_named(tmp_path: Path, pattern: str) -> None:
    side = snapshot(tmp_path, {"docs/a.md": "a"})
    with pytest.raises(UsageError, match=rf"^here: '{re.escape(pattern)}' stands for more than 1,000 patterns"):
        match_documents(side, ["docs/*.md", pattern], "here")


def test_a_file_that_is_no_document_is_named(tmp_path: Path) -> None:
    side = snapshot(tmp_path, {"docs/a.md": "a", "docs/b.pdf": b"%PDF\0"})
    with pytest.raises(UsageError, match=r"docs/b\.pdf is none of \.md"):
        match_documents(side, ["docs/*"], "here")


def test_chunks_fit_and_say_where_they_stand(tmp_path: Path) -> None:
    side = open_snapshot(
        make_repository(tmp_path / "repo", {p.name: p.read_text() for p in MANUALS.glob("*.md")}), "main"
    )
    paths = list(side.paths())
    chunks = load_chunks(side, paths, 800, 100)
    texts = {path: document_text(path, content, "main") for path, content in side.read_many(paths).items()}
    assert len(chunks) > 300
    assert all(len(chunk.text) <= 800 for chunk in chunks)
    assert all(texts[chunk.document][chunk.start :].startswith(chunk.text) for chunk in chunks)
    assert [chunk.document for chunk in chunks] == sorted(chunk.document for chunk in chunks)


def test_html_keeps_its_structure_and_loses_its_scripts() -> None:
    html = b"<style>p{}</style><h1>Returns</h1><script>var x</script><ul><li>30 days</li></ul><p>a &amp; b</p>"
    text = document_text("page.html", html, "main")
    assert "# Returns" in text
    assert "* 30 days" in text
    assert "a & b" in text
    assert "var x" not in text
    assert "p{}" not in text


@pytest.mark.parametrize(
    ("html", "problem"),
    [("<div>" * 900 + "deep" + "</div>" * 900, "nested too deeply"), ("<ol start=²><li>x</ol>", "invalid literal")],
)
def test_html_that_cannot_be_converted_is_named(html: str, problem: str) -> None:
    with pytest.raises(UsageError, match=rf"^page\.html \(main\): cannot be read as HTML: .*{problem}"):
        document_text("page.html", html.encode(), "main")


def test_search_finds_the_manual_of_the_product(tmp_path: Path) -> None:
    side = open_snapshot(
        make_repository(tmp_path / "repo", {p.name: p.read_text() for p in MANUALS.glob("*.md")}), "main"
    )
    index = BM25Index(load_chunks(side, list(side.paths()), 800, 100))
    found = index.search("what is the waterproof rating of the TrailMaster X4 Tent's rainfly?", 3)
    assert found[0].document == "product_info_1.md"
    assert len(found) == 3
    assert found == index.search("what is the waterproof rating of the TrailMaster X4 Tent's rainfly?", 5)[:3]


def test_a_question_without_a_known_word_retrieves_nothing(tmp_path: Path) -> None:
    side = snapshot(tmp_path, {"a.md": "the stove is blue"})
    assert BM25Index(load_chunks(side, ["a.md"], 100, 0)).search("zzz yyy?", 4) == []


def test_documents_of_punctuation_only_retrieve_nothing(tmp_path: Path) -> None:
    side = snapshot(tmp_path, {"a.md": "!!! ???", "b.md": "..."})
    assert BM25Index(load_chunks(side, ["a.md", "b.md"], 100, 0)).search("what?", 4) == []


def test_scripts_without_spaces_are_searched_by_pairs_of_characters() -> None:
    assert tokens("返品は30日 e.g. Don't") == ["返品", "品は", "30", "日", "e", "g", "don", "t"]


@given(st.text())
def test_tokens_never_fail_and_never_hold_spaces(text: str) -> None:
    assert all(token.strip() == token and token for token in tokens(text))
