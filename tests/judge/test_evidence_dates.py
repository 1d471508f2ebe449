"""A day is the same day however it is written, and another day is another."""

from __future__ import annotations

import asyncio
import calendar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithbot.judge.evidence import EvidenceJudge
from faithbot.judge.number_guard import check_numbers

WRITTEN = [
    "2023-03-05",
    "2023-03-05T12:30:00Z",
    "March 5, 2023",
    "March 5th, 2023",
    "Mar. 5, 2023",
    "5 March 2023",
    "5. März 2023",
    "the 5th of March 2023",
]
OTHER_DAYS = ["March 6, 2023", "2023-03-06", "2023-03-06T05:00", "6th of March 2023"]
OTHER_MONTHS = ["April 5, 2023", "2023-04-05", "5 April 2023", "2023-05-03", "the 5th of May 2023"]
OTHER_YEARS = ["March 5, 2022", "2022-03-05", "5 March 2024"]
FRAME = "The Trail tent was released {} by Contoso."


def support(claim: str, passage: str) -> str | None:
    return asyncio.run(EvidenceJudge().check(claim, [passage, "It costs 20 dollars and ships within 5 days."])).support


@pytest.mark.parametrize("passage", WRITTEN)
@pytest.mark.parametrize("claim", [day for day in WRITTEN if "T12:30" not in day])
def test_the_same_day_is_found_however_it_is_written(claim: str, passage: str) -> None:
    assert support(FRAME.format(f"on {claim}"), FRAME.format(f"on {passage}")) == "supported"


@pytest.mark.parametrize("passage", WRITTEN)
@pytest.mark.parametrize("claim", [*OTHER_DAYS, *OTHER_MONTHS, *OTHER_YEARS])
def test_another_day_is_not(claim: str, passage: str) -> None:
    assert support(FRAME.format(f"on {claim}"), FRAME.format(f"on {passage}")) != "supported"


@pytest.mark.parametrize("claim", ["March 6, 2023", "April 5, 2023", "2023-03-06", "March 5, 2022"])
@pytest.mark.parametrize("passage", ["2023-03-05", "March 5, 2023", "5 March 2023"])
def test_another_day_in_the_place_of_the_stated_one_is_contradicted(claim: str, passage: str) -> None:
    assert support(FRAME.format(f"on {claim}"), FRAME.format(f"on {passage}")) == "contradicted"


def test_the_month_of_a_day_is_found() -> None:
    passage = FRAME.format("on 2023-03-05")
    assert support(FRAME.format("in March 2023"), passage) == "supported"
    assert support(FRAME.format("in April 2023"), passage) != "supported"
    assert support(FRAME.format("in March 2022"), passage) != "supported"


def test_a_day_is_no_sum_or_difference_of_days() -> None:
    passage = "The hall is closed from March 3 to March 8. It is painted then."
    assert support("The hall is closed from March 3 to March 8.", passage) == "supported"
    assert support("The hall is closed on March 5.", passage) != "supported"
    assert support("The hall is closed on March 11.", passage) != "supported"


@given(st.integers(1000, 2099), st.integers(1, 12), st.integers(1, 28), st.integers(1, 12), st.integers(1, 28))
def test_numbers_of_dates_agree_where_the_dates_do(year: int, month: int, day: int, other: int, other_day: int) -> None:
    stated = f"The road was opened on {year}-{month:02}-{day:02}."
    claim = f"The road was opened on {calendar.month_name[other]} {other_day}, {year}."
    assert (check_numbers(claim, [stated]) == "agree") == ((month, day) == (other, other_day))


@pytest.mark.parametrize("text", ["2023-13-15", "2023-03-32", "2023-00-10", "12023-03-05", "2023-03-051"])
def test_what_is_no_date_is_numbers(text: str) -> None:
    assert check_numbers("It happened on March 5, 2023.", [f"It happened: {text}."]) != "agree"


@given(st.text(alphabet="0123456789-T:., ofMarchth5", max_size=60))
def test_dates_that_break_off_are_read_too(text: str) -> None:
    assert check_numbers(text, [text]) in ("agree", None)
    assert check_numbers(f"on 2023-03-05{text}", ["on March 5, 2023"]) is not None
