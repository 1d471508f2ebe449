"""A planted fault changes one thing, really is a fault, and is not planted where that cannot be known."""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from probe_sentences import standing_in, words_of

from faithbot.judge.quantities import quantities
from faithbot.probe.faults_of_numbers import other_date, other_number, other_unit
from faithbot.probe.faults_of_wording import (
    negated,
    opposite,
    other_name,
    refusal_turned,
    with_addition,
    without_condition,
)

if TYPE_CHECKING:
    from faithbot.probe.material import Sentence

SEEDS = st.integers(0, 2**32).map(random.Random)


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("Helmets cost 5 euros a day.", r"Helmets cost (\d+) euros a day\."),
        ("It is paid within two weeks.", r"It is paid within (\w+) weeks\."),
        ("The fee is $1,250.", r"The fee is \$(\d,\d{3})\."),
        ("Members save 30% of it.", r"Members save (\d{2})% of it\."),
        ("The pole weighs 1.5 kg in all.", r"The pole weighs (\d\.\d) kg in all\."),
        ("The 2-year warranty starts today.", r"The (\d+)-year warranty starts today\."),
        ("审计日志保留365天。", r"审计日志保留(\d{3})天。"),
    ],
)
@given(rng=SEEDS)
def test_another_number_is_written_like_the_old_one(text: str, pattern: str, rng: random.Random) -> None:
    fault = other_number(standing_in(text), rng)
    assert fault is not None
    assert fault != text
    assert re.fullmatch(pattern, fault)


@given(rng=SEEDS)
def test_the_other_number_stands_in_no_passage_by_any_name(rng: random.Random) -> None:
    passages = ["Seven nights.", "Some take three nights.", "Four nights, five nights, six nights or two nights."]
    fault = other_number(standing_in("A tour takes 1,000 nights.", *passages), rng)
    assert fault is not None
    (value,) = quantities(fault)
    assert not any(value.equals(stated) for passage in passages for stated in quantities(passage))


@given(rng=SEEDS)
def test_the_other_number_is_no_sum_of_two_stated_ones(rng: random.Random) -> None:
    fault = other_number(standing_in("It takes 3 days and 4 days more."), rng)
    assert fault is not None
    assert "7 days" not in fault
    assert " 1 days" not in fault


@pytest.mark.parametrize(
    "text",
    [
        "The TrailMaster X4 is green.",
        "Call 555 0142 for a mechanic.",
        "It opens at 9:00 every day.",
        "Continue with step 3 of this list.",
        "One of them was built in 1526.",
        "Use release 1.2.3 or STD-2026.",
        "It was fixed on March 3 at last.",
    ],
)
def test_what_is_no_number_of_anything_is_left_alone(text: str) -> None:
    assert other_number(standing_in(text), random.Random(1)) is None


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("The empire was founded in 1526.", r"The empire was founded in (\d{4})\."),
        ("The shop is closed on Sundays.", r"The shop is closed on (\w+)days\."),
        ("It ends in November each year.", r"It ends in ([A-Z]\w+) each year\."),
        ("The tour starts at 10:00 sharp.", r"The tour starts at (\d\d:00) sharp\."),
        ("The office opens at 9 am.", r"The office opens at (\d+) am\."),
        ("Valid from 2024-05-17 on.", r"Valid from 2024-05-(\d\d) on\."),
    ],
)
@given(rng=SEEDS)
def test_another_date(text: str, pattern: str, rng: random.Random) -> None:
    fault = other_date(standing_in(text), rng)
    assert fault is not None
    assert fault != text
    assert re.fullmatch(pattern, fault)


def test_a_verb_is_no_month_and_a_length_no_year() -> None:
    for text in ("You May stay, or March home.", "The coat withstands 2000 mm of water."):
        assert other_date(standing_in(text), random.Random(1)) is None


def test_a_date_that_another_passage_holds_is_not_planted() -> None:
    days = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
    assert other_date(standing_in("It closes on Sunday.", *days), random.Random(1)) is None


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("A mechanic comes within 90 minutes.", "A mechanic comes within 90 hours."),
        ("The 2-year warranty starts today.", "The 2-month warranty starts today."),
        ("The seat costs 5 euros.", "The seat costs 5 dollars."),
        ("The fee is $500 at most.", "The fee is €500 at most."),
        ("Members get a 10% discount.", "Members get a $10 discount."),
        ("It covers 80 square meters.", None),
        ("A long walk takes a while.", None),
        ("It holds 100 lbs (45 kg) of gear.", "It holds 100 lbs (45 g) of gear."),
    ],
)
def test_another_unit(text: str, fault: str | None) -> None:
    assert other_unit(standing_in(text), random.Random(1)) == fault


def test_a_unit_with_which_the_statement_is_true_is_not_planted() -> None:
    assert other_unit(standing_in("It takes 4 months.", "It takes 4 years."), random.Random(1)) is None


CITIES = ["He was born in Agra.", "They met in Panipat.", "The fort in Delhi is red.", "His wife was Mumtaz Mahal."]


def test_a_name_gives_way_to_one_of_the_same_kind_that_no_passage_holds() -> None:
    sentence = standing_in(CITIES[0], CITIES[1])
    assert other_name(sentence, words_of(CITIES), random.Random(1)) == "He was born in Delhi."


def test_there_is_no_other_name_where_all_stand_in_the_passages_or_are_of_another_kind() -> None:
    assert other_name(standing_in(CITIES[0], *CITIES[1:3]), words_of(CITIES), random.Random(1)) is None
    assert other_name(standing_in("The red fort is old."), words_of(CITIES), random.Random(1)) is None


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("Repairs of normal wear are free.", "Repairs of normal wear are not free."),
        ("The deposit can be paid in cash.", "The deposit cannot be paid in cash."),
        ("The warranty covers broken poles.", "The warranty does not cover broken poles."),
        ("Clean the tent with mild soap.", "Do not clean the tent with mild soap."),
        ("Store it dry, as mould may grow else.", None),
        ("Store it dry, as mould grows else.", "Do not store it dry."),
        ("All bikes are insured at night.", None),
        ("It is open on Fridays only.", None),
        ("Bikes that are broken will be repaired.", None),
        ("The fee is not paid back.", None),
        ("Groups sleep outside.", None),
    ],
)
def test_a_statement_is_denied_where_it_is_clear_what_is_denied(text: str, fault: str | None) -> None:
    assert negated(text) == fault


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("Pay before the tour starts.", "Pay after the tour starts."),
        ("Taking it apart is difficult.", "Taking it apart is easy."),
        ("It is a difficult tour.", "It is an easy tour."),
        ("Come before noon or after six.", None),
        ("Do not pay before the tour.", None),
        ("The Before-Sunrise tour is fine.", None),
        ("A bike is red.", None),
    ],
)
def test_an_opposite_takes_the_place_of_a_word(text: str, fault: str | None) -> None:
    assert opposite(text, random.Random(1)) == fault


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("If the item is broken, a refund will be paid.", "A refund will be paid."),
        ("The deposit is paid back in cash when the bike returns.", "The deposit is paid back in cash."),
        ("Do not touch the burner when it is hot.", "Do not touch the burner."),
        ("If the item is gone, we may offer another one.", None),
        ("Check the valve if the stove leaks.", None),
        ("Close the lid if necessary.", None),
        ("Visits are covered only if approved and paid, or if urgent.", None),
        ("The shop opens at nine in the morning.", None),
    ],
)
def test_a_condition_is_dropped(text: str, fault: str | None) -> None:
    assert without_condition(text) == fault


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("The warranty does not cover water damage.", "The warranty covers water damage."),
        ("Personal expenses are not eligible for it.", "Personal expenses are eligible for it."),
        ("Such receipts won't be accepted.", "Such receipts will be accepted."),
        ("Dogs cannot come along.", "Dogs can come along."),
        ("The deposit is non-refundable.", "The deposit is refundable."),
        ("Do not use it indoors, as gas collects.", "Use it indoors."),
        ("Storage: Do not fold the chair.", "Storage: Fold the chair."),
        ("Do not store it wet: Dry the tent before.", None),
        ("This includes, but is not limited to, meals.", None),
        ("If you do not pay, we charge a fee.", None),
        ("It does not cover damage without proof.", None),
        ("The warranty covers tears.", None),
    ],
)
def test_a_refusal_becomes_a_claim(text: str, fault: str | None) -> None:
    assert refusal_turned(text) == fault


def test_an_addition_comes_from_another_document_and_is_not_known_to_the_passages() -> None:
    sentence = standing_in("The harbour tour starts on Saturday.", "A helmet is free for every guest.")
    same_document = standing_in("The harbour tour includes lunch.")
    known = standing_in("A helmet is free for guests.", document="b.md")
    points_back = standing_in("It costs twenty euros in winter.", document="b.md")
    unknown = standing_in("The deposit is paid back in cash.", document="b.md")
    words = words_of(["the deposit a helmet it"])

    def add(*others: Sentence) -> str | None:
        return with_addition(sentence, others, words, random.Random(1))

    assert add(same_document, known, points_back) is None
    assert add(same_document, known, points_back, unknown) == (
        "The harbour tour starts on Saturday; the deposit is paid back in cash."
    )
