"""Citations: which bracket cites, and whether its passage was given."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithbot.judge.citations import check_citations

FILES = ["docs/tents.md", "Benefit_Options.pdf#page=3", "docs/company policy.md"]

VALID = [
    # an answer, the names of its passages, what it cites
    ("The tent is dry [1]. It is blue [3].", [None, None, None], ["1", "3"]),
    ("It is dry[1][2].", [None, None], ["1", "2"]),
    ("It is dry [1, 2] and [1-3].", [None] * 3, ["1", "2", "1", "2", "3"]),
    ("It is dry [doc2], [Doc 2], [Source: 2], [document_2], [#2], [^2].", [None] * 2,
     ["doc2", "Doc 2", "2", "document_2", "#2", "^2"]),
    ("It is dry (Passage 2), (source: 1).", [None] * 2, ["Passage 2", "1"]),
    ("It is dry 【2†source】.", [None] * 2, ["2"]),
    ("It is dry 【4:0†tents.md】.", FILES, ["tents.md"]),
    ("帐篷防水【1】，可退货【文档2】。", [None] * 2, ["1", "文档2"]),
    ("帐篷防水（来源：tents.md）。", FILES, ["tents.md"]),
    ("It is dry [docs/tents.md], [tents.md], [Tents], [./docs/tents.md], [tents.md#water].", FILES,
     ["docs/tents.md", "tents.md", "Tents", "./docs/tents.md", "tents.md#water"]),
    ("It is dry (source: tents.md).", FILES, ["tents.md"]),
    ("You have 30 days [Benefit_Options.pdf#page=3], [benefit_options.pdf].", FILES,
     ["Benefit_Options.pdf#page=3", "benefit_options.pdf"]),
    ("You have 30 days [company policy.md].", FILES, ["company policy.md"]),
    ("A helmet [34] and [KB-7].", ["34", "KB-7"], ["34", "KB-7"]),
    ("See [https://example.com/a].", ["https://example.com/a"], ["https://example.com/a"]),
]  # fmt: skip

FABRICATED = [
    ("The tent is dry [4].", [None, None, None], ["4"]),
    ("The tent is dry [doc7].", [None, None, None], ["doc7"]),
    ("The tent is dry [1].", [], ["1"]),
    ("The tent is dry [doc2].", ["doc1", "doc7"], ["doc2"]),
    ("The tent is dry 【9†source】 (Passage 8) [^7] [1-5].", [None] * 4, ["9", "Passage 8", "^7", "5"]),
    ("A helmet [3] and [KB-8].", ["34", "KB-7"], ["3", "KB-8"]),
    ("It is dry [boats.md] (source: docs/boats.md).", FILES, ["boats.md", "docs/boats.md"]),
    ("It is dry [other/tents.md].", FILES, ["other/tents.md"]),
    ("You have 30 days [Benefit_Options.pdf#page=4].", FILES, ["Benefit_Options.pdf#page=4"]),
    ("You have 30 days [tents.md, boats.md].", FILES, ["boats.md"]),
]

NO_CITATION = [
    "See [the manual](tents9.md) and ![a picture](9.png) and [9](https://example.com) and [[9]](#nine).",
    "- [x] packed\n- [ ] washed\n- [X] dried",
    "Use `a[9]` or `see [doc9]`.",
    "```python\nfirst = rows[9]\n[doc9]\n```",
    "The value a[9] of the list x[10].",
    "They recieved [sic] it [...] and [emphasis added] [citation needed].",
    "In [2019] it rained; [Figure 9], [Table 9], [page 9], [step 9], [v2.1].",
    "It is dry[^9].\n\n[^9]: As the label on the tent says.",
    "Open (see the settings) and (config.yml) and (9).",
    "[INST] [/INST] [END DATA] [] [[ ]]",
]


@pytest.mark.parametrize(("answer", "sources", "cited"), VALID)
def test_a_given_passage_may_be_cited_by_place_name_or_number(
    answer: str, sources: list[str | None], cited: list[str]
) -> None:
    citations = check_citations(answer, sources)
    assert list(citations.valid) == cited
    assert citations.fabricated == ()


@pytest.mark.parametrize(("answer", "sources", "cited"), FABRICATED)
def test_what_was_not_given_is_fabricated(answer: str, sources: list[str | None], cited: list[str]) -> None:
    assert list(check_citations(answer, sources).fabricated) == cited


@pytest.mark.parametrize("answer", NO_CITATION)
def test_other_brackets_cite_nothing(answer: str) -> None:
    assert check_citations(answer, ["docs/tents.md", None]) == ((), ())


def test_a_file_name_tells_nothing_where_no_passage_has_a_name() -> None:
    assert check_citations("It is dry [tents.md].", [None, None]) == ((), ())
    assert check_citations("It is dry [tents.md].", []).fabricated == ("tents.md",)


def test_what_a_passage_itself_cites_was_read_and_not_made_up() -> None:
    texts = ["Waterloo was lost in 1815 [12], as boats.md tells."]
    assert check_citations("It was lost [12][boats.md].", ["docs/tents.md"], texts).valid == ("12", "boats.md")
    assert check_citations("It was lost [18].", ["docs/tents.md"], texts).fabricated == ("18",)


@given(
    st.text(alphabet="[]()【】†:#^,-x19 .md\n`", max_size=200), st.lists(st.sampled_from([None, "a.md", "doc1", ""]))
)
def test_any_text_is_read(answer: str, sources: list[str | None]) -> None:
    citations = check_citations(answer, sources)
    assert all(label in answer or label.isdecimal() for label in (*citations.valid, *citations.fabricated))


@pytest.mark.parametrize("piece", ["[", "[1-", "【", "`", "(source: ", "[a.md#", "[^", "[1]: "])
def test_long_answers_take_linear_time(piece: str) -> None:
    began = time.perf_counter()
    check_citations((piece * 20_000)[:20_000], FILES)
    assert time.perf_counter() - began < 2
