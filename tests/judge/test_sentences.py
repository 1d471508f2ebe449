"""Answers to the sentences that state a fact; splitting with exact spans."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithbot.judge.sentences import plain_text, statements, states_fact
from faithbot.judge.splitting import finished_part, split_sentences


def split(text: str) -> list[str]:
    return [text[span.start : span.end] for span in split_sentences(text)]


@pytest.mark.parametrize(
    "sentence",
    [
        "Use a stove, e.g. a gas stove, outdoors.",
        "The tent weighs 3.5 kg.",
        "Ask Dr. Miller about it.",
        "See https://example.com/a.b?c=d. for more",
        "Open report.final.pdf before noon.",
        "J. R. R. Tolkien wrote it.",
        "It costs approx. 20 euros.",
        "The meeting is at 5 p.m. on Monday.",
        "Der Laden öffnet am 5. März wieder.",
    ],
)
def test_dots_inside_a_sentence_do_not_end_it(sentence: str) -> None:
    assert split(sentence) == [sentence]


def test_sentences_end_at_marks_list_items_and_blank_lines() -> None:
    text = "One is here. Two is there! Is three?\n\nFour\n- five\n- six\n1. seven"
    assert split(text) == ["One is here.", "Two is there!", "Is three?", "Four", "- five", "- six", "1. seven"]


def test_a_wrapped_line_goes_on() -> None:
    text = "The Northwind Standard plan covers preventive care services and also\nEmergency services in the state."
    assert len(split(text)) == 1


def test_unspaced_scripts_end_at_their_own_marks() -> None:
    assert split("保修期为两年。不包括水损坏！可以退货吗？") == ["保修期为两年。", "不包括水损坏！", "可以退货吗？"]


def test_sentences_glued_together_and_inline_bullets_are_told_apart() -> None:
    assert split("You pay the fee.Tips for members follow.") == ["You pay the fee.", "Tips for members follow."]
    assert split("Duties: · Lead the team · Plan the year") == ["Duties:", "· Lead the team", "· Plan the year"]


@given(st.text(max_size=300))
def test_spans_are_ordered_and_hold_all_text_but_white_space(text: str) -> None:
    spans = split_sentences(text)
    ends = [0, *(span.end for span in spans)]
    starts = [*(span.start for span in spans), len(text)]
    assert all(span.start < span.end for span in spans)
    gaps = [text[end:start] for end, start in zip(ends, starts, strict=True)]
    assert all(not gap.strip() for gap in gaps)


@given(st.text(max_size=300))
def test_any_text_gives_statements_without_an_error(text: str) -> None:
    assert all(statement.strip() for statement in statements(text))


@pytest.mark.parametrize(
    "sentence",
    [
        "Sure!",
        "Hello there!",
        "I hope this helps!",
        "Let me know if you have any other questions.",
        "Feel free to ask.",
        "Is there anything else you would like to know?",
        "Would you like a tent as well?",
        "Here are the details:",
        "If you have any questions, please let me know.",
        "I'm happy to help you with that.",
        "Happy trails!",
        "Ich hoffe, das hilft.",
        "N'hésitez pas à demander.",
        "希望这对您有帮助！",
        "That's great!",
        "🎉🎉",
        "---",
    ],
)
def test_greetings_offers_questions_and_filler_state_no_fact(sentence: str) -> None:
    assert not states_fact(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "The tent weighs 3 kg.",
        "If you cancel within 30 days, you get a full refund.",
        "Hiking boots are waterproof.",
        "You can return it for 30 days.",
        "Sure-Grip soles are included.",
        "No, the tent is not waterproof.",
    ],
)
def test_what_can_be_checked_states_a_fact(sentence: str) -> None:
    assert states_fact(sentence)


def test_marks_citations_and_links_are_removed() -> None:
    raw = "**The tent** is `waterproof` [doc1.pdf#page=3], see [the manual](https://x.org/a_(b)) 【4†source】."
    assert plain_text(raw) == "The tent is waterproof, see the manual."


def test_only_sentences_that_state_something_are_statements() -> None:
    answer = "Sure! The tent weighs 3 kg [tent.md]. It sleeps four.\n\nLet me know if you need more!"
    assert statements(answer) == ["The tent weighs 3 kg.", "It sleeps four."]


def test_short_list_items_are_read_with_the_line_that_introduces_them() -> None:
    answer = "The plan covers:\n\n- Acupuncture\n- Emergency room visits at any hospital in the state"
    assert statements(answer) == [
        "The plan covers: Acupuncture",
        "Emergency room visits at any hospital in the state",
    ]


def test_tables_give_their_rows_and_headings_nothing() -> None:
    answer = "## Prices\n\n| Tent | Price |\n|---|---|\n| Alpine | 350 dollars |\n"
    assert statements(answer) == ["Alpine, 350 dollars"]


def test_a_code_block_is_one_statement() -> None:
    assert statements("Run this.\n\n```bash\npip install x\nx run\n```") == ["Run this.", "pip install x x run"]


@pytest.mark.parametrize(
    "piece", ["a", "**", "| a ", "[", "(", "no ", "a. ", "e.g. ", "\n", "```\n", "不", "the documents do not "]
)
def test_long_answers_take_linear_time(piece: str) -> None:
    answer = (piece * 20_000)[:20_000]
    began = time.perf_counter()
    statements(answer)
    assert time.perf_counter() - began < 2


@pytest.mark.parametrize(
    "sentence",
    [
        "They",
        "I'm",
        "I'm an AI designed to assist with your needs.",
        "I'm ready to assist you.",
        "I'm sorry for the confusion, I'm here to assist you with any questions.",
        "I'm glad you're interested in the jacket.",
        "I can assist with any product recommendations.",
        "A wise and clever question, my friend.",
    ],
)
def test_fragments_and_talk_of_the_assistant_about_itself_state_no_fact(sentence: str) -> None:
    assert not states_fact(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "I'm sorry, returns are not accepted after 30 days.",
        "I'm the owner of three shops.",
        "The assistant is trained in first aid.",
        "It is 30.",
        "两年。",
    ],
)
def test_short_and_personal_sentences_with_a_fact_are_kept(sentence: str) -> None:
    assert states_fact(sentence)


@pytest.mark.parametrize(
    ("text", "finished"),
    [
        ("It costs 32 euros. The deposit is 2", "It costs 32 euros."),
        ("It costs 32 euros.\n\n- one\n- tw", "It costs 32 euros.\n\n- one"),
        ('He said: "It is closed."', 'He said: "It is closed."'),
        ("保修期为两年。不包括水", "保修期为两年。"),
        ("The battery of an electric bike", "The battery of an electric bike"),
        ("", ""),
    ],
)
def test_what_broke_off_loses_its_unfinished_sentence(text: str, finished: str) -> None:
    assert finished_part(text) == finished


@given(st.text(max_size=200))
def test_the_finished_part_is_a_beginning_of_the_text(text: str) -> None:
    assert text.startswith(finished_part(text))
