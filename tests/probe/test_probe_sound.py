"""A sound rewriting says the same in another way: same numbers, same clauses."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from probe_sentences import standing_in, words_of

from faithbot.judge.quantities import quantities
from faithbot.probe.number_words import spelled
from faithbot.probe.sound import other_spelling, reordered, with_neighbour

WORDS = words_of(["the do it we"])


@pytest.mark.parametrize(
    ("text", "rewritten"),
    [
        ("A tour costs 1,000 yen.", {"A tour costs 1000 yen."}),
        ("A year has 31536000 moments, or 86400 too.", {"A year has 31536000 moments, or 86,400 too."}),
        ("Groups have 12 riders.", {"Groups have twelve riders."}),
        ("It has two doors.", {"It has 2 doors."}),
        ("We keep 30 % of it.", {"We keep 0.3 of it."}),
        ("Members save 10% today.", {"Members save 10 percent today."}),
        ("It takes 2 hours.", {"It takes two hours.", "It takes 120 minutes."}),
        ("A 2-year warranty.", {"A two-year warranty.", "A 24-month warranty."}),
        ("The fee is $250.", {"The fee is 250 dollars."}),
        ("The tour starts at 18:00.", {"The tour starts at 6 pm."}),
        ("Continue with step 3.", {None}),
        ("Call 555 0142 now.", {None}),
        ("The X4 is green.", {None}),
        ("It was built in 1526.", {None}),
        ("He paid $2 million.", {None}),
        ("They drive 25 miles an hour.", {"They drive twenty-five miles an hour."}),
    ],
)
def test_numbers_are_written_in_another_way(text: str, rewritten: set[str | None]) -> None:
    assert {other_spelling(text, random.Random(seed)) for seed in range(30)} == rewritten


@given(
    number=st.integers(2, 99),
    unit=st.sampled_from(["hours", "weeks", "km", "kg", "riders", "%", "% of them"]),
    seed=st.integers(),
)
def test_a_rewritten_number_keeps_its_value(number: int, unit: str, seed: int) -> None:
    text = f"The rule says {number} {unit}."
    rewritten = other_spelling(text, random.Random(seed))
    assert rewritten not in (None, text)
    (before,), (after,) = quantities(text), quantities(str(rewritten))
    assert before.equals(after)


@given(st.one_of(st.integers(2, 99), st.sampled_from([100, 700, 1000, 12_000, 3_000_000])))
def test_a_spelled_number_is_read_back(value: int) -> None:
    (read,) = quantities(f"{spelled(value)} riders")
    assert read.values == (value,)


def test_what_takes_many_words_is_not_spelled() -> None:
    assert [spelled(value) for value in (101, 1250, -3)] == [None, None, None]


@pytest.mark.parametrize(
    ("text", "rewritten"),
    [
        ("If the bike is late, we charge a fee.", "We charge a fee if the bike is late."),
        ("Do not store the tent when it is wet.", "When it is wet, do not store the tent."),
        ("Clean it and dry it when it is wet.", None),
        ("If it rains, the tour is cancelled, but the fee is paid back.", None),
        ("In 1947, the country became free.", "The country became free in 1947."),
        ("We sell tents, boots, and stoves.", "We sell stoves, boots, and tents."),
        ("The shop is at the pier.", None),
    ],
)
def test_clauses_and_lists_are_reordered(text: str, rewritten: str | None) -> None:
    assert reordered(text, WORDS) == rewritten


def test_reordering_keeps_every_word() -> None:
    text = "If the bike is late, we charge a fee."
    rewritten = reordered(text, WORDS)
    assert sorted(re.findall(r"\w+", str(rewritten).casefold())) == sorted(re.findall(r"\w+", text.casefold()))


def test_a_neighbour_is_a_sentence_of_another_given_passage() -> None:
    sentence = standing_in("Helmets are free.", "The deposit is paid in cash.")
    neighbour, stranger = standing_in("The deposit is paid in cash."), standing_in("The tour starts at noon.")
    assert with_neighbour(sentence, [stranger, sentence], WORDS, random.Random(1)) is None
    assert with_neighbour(sentence, [stranger, neighbour], WORDS, random.Random(1)) == (
        "Helmets are free; the deposit is paid in cash."
    )
