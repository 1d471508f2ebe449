"""Whether two claims say the same."""

from __future__ import annotations

import time

import pytest

from faithbot.judge.matching import SAME_CLAIM, ClaimSignature, match_score


def is_same(one: str, other: str) -> bool:
    return match_score(ClaimSignature.of(one), ClaimSignature.of(other)) >= SAME_CLAIM


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The tent weighs 3 kg.", "The tent weighs 3000 g."),
        ("The warranty lasts two years.", "The warranty lasts 24 months."),
        ("Members can cancel within 30 days.", "Cancelling is possible for members within 30 days."),
        ("The movie was released in 1995.", "The film was released in 1995."),
        ("The plan does not cover cosmetic surgery.", "Cosmetic surgery is not covered by the plan."),
        ("In Spring the shop opens at 9.", "The shop of Contoso opens at 9 in spring."),
        ("The shop opened on March 5, 2023.", "The shop opened on 2023-03-05."),
        ("The skills needed are: communication and planning", "Needed are communication and planning skills."),
        ("Der Vertrag läuft 12 Monate.", "Die Laufzeit des Vertrags: 12 Monate, läuft."),
        ("保修期为2年。", "保修期是2年。"),
    ],
)
def test_a_reworded_claim_is_the_same(one: str, other: str) -> None:
    assert is_same(one, other)
    assert is_same(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The tent weighs 3 kg.", "The tent weighs 4 kg."),
        ("The plan covers cosmetic surgery.", "The plan does not cover cosmetic surgery."),
        ("Prices increased by 5 % in 2020.", "Prices decreased by 5 % in 2020."),
        ("The shop opened on March 5, 2023.", "The shop opened on 2023-04-05."),
        ("The shop opens on Monday.", "The shop opens on Tuesday."),
        ("The tent sleeps four people.", "The backpack has a rain cover."),
        ("The tent weighs 3 kg.", "The tent weighs 3 kg and sleeps 4."),
        ("The Standard plan covers visits to specialists.", "The Plus plan covers visits to specialists."),
        ("Under Alpha, claims are paid by Contoso.", "Under Alpha, claims are paid by Northwind."),
        ("Services that need prior approval are: home care", "Services that need prior approval are: infusion therapy"),
        ("保修期为2年。", "保修期为3年。"),
        ("保修包括水损坏。", "保修不包括水损坏。"),
    ],
)
def test_another_number_polarity_opposite_name_item_or_subject_is_another_claim(one: str, other: str) -> None:
    assert not is_same(one, other)
    assert not is_same(other, one)


def test_the_score_is_one_for_the_same_words_and_none_for_empty_claims() -> None:
    tent = ClaimSignature.of("The tent weighs 3 kg.")
    assert match_score(tent, tent) == 1.0
    assert match_score(ClaimSignature.of(""), ClaimSignature.of("")) == 0.0


def test_thousands_of_comparisons_are_fast() -> None:
    signatures = [
        ClaimSignature.of(f"The tent number {i} weighs {i} kilograms and sleeps {i} people.") for i in range(100)
    ]
    began = time.perf_counter()
    for one in signatures:
        for other in signatures:
            match_score(one, other)
    assert time.perf_counter() - began < 2
