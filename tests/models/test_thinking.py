"""Reasoning at the start of a reply is not part of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithbot.models.protocol import TokenLogprob
from faithbot.models.thinking import visible_reply


@pytest.mark.parametrize(
    ("raw", "visible"),
    [
        ("Paris.", "Paris."),
        ("<think>France?</think>\n\nParis.", "Paris."),
        ("\n<think>\nFrance?\n</think>\nParis.", "Paris."),
        ("<think></think>Paris.", "Paris."),
        ("</think>\n\nParis.", "Paris."),
        ("France, then.\n</think>\n\nParis.", "Paris."),
        ("<think>The limit came before the en", ""),
        ("France, then.\n</think>", ""),
        ("Write <think> to start and </think> to end.", "Write <think> to start and </think> to end."),
        ("The tag </think> ends it.", "The tag </think> ends it."),
        ("  Paris.", "  Paris."),
        ("", ""),
    ],
)
def test_only_the_answer_is_visible(raw: str, visible: str) -> None:
    assert visible_reply(raw, None) == (visible, None)


def test_the_tokens_of_the_thinking_go_with_it() -> None:
    pieces = ["<think>", "Hm", "</think>", "\n\n", "YES", "."]
    tokens = tuple(TokenLogprob(token=piece, logprob=-0.1) for piece in pieces)
    text, left = visible_reply("".join(pieces), tokens)
    assert text == "YES."
    assert left is not None
    assert [token.token for token in left] == ["YES", "."]


@given(st.text().filter(lambda text: "think>" not in text))
def test_a_reply_without_tags_stays_as_it_is(text: str) -> None:
    assert visible_reply(text, None) == (text, None)


@given(st.text(alphabet="ab \n").map(str.strip), st.text(alphabet="ab \n"))
def test_the_answer_behind_a_block_is_whole(answer: str, thought: str) -> None:
    assert visible_reply(f"<think>{thought}</think>\n{answer}", None)[0] == answer
