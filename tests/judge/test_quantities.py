"""Numbers compared by value."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithbot.judge.quantities import Quantity, is_derived, quantities


def only(text: str) -> Quantity:
    (quantity,) = quantities(text)
    return quantity


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1,000 guests", "1000 guests"),
        ("1000 guests", "one thousand guests"),
        ("1.000 Gäste", "1000 Gäste"),
        ("1 000 guests", "1'000 guests"),
        ("30 %", "0.3"),
        ("30 percent", "30%"),
        ("2 h", "120 minutes"),
        ("2時間", "120 minutes"),
        ("3小时", "180 min"),
        ("5 km", "5000 m"),
        ("$1,500.50", "1500.5 dollars"),
        ("1.234,56 €", "1234.56 euros"),
        ("1.5 million", "1,500,000"),
        ("two years", "24 months"),
        ("twenty-one guests", "21 guests"),
        ("１２ guests", "12 guests"),
    ],
)
def test_the_same_value_written_differently(one: str, other: str) -> None:
    assert only(one).equals(only(other))
    assert not only(one).conflicts(only(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("600 guests", "800 guests"),
        ("in 1935", "in 1936"),
        ("20 days", "30 days"),
        ("2 hours", "2 days"),
        ("5 %", "6 %"),
        ("$20", "$50"),
        ("March 5", "5 of March and 6. März"[13:]),
    ],
)
def test_another_value_for_the_same_thing_conflicts(one: str, other: str) -> None:
    assert not only(one).equals(only(other))
    assert only(one).conflicts(only(other))


def test_numbers_of_different_things_do_not_conflict() -> None:
    assert not only("20 guests").conflicts(only("30 rooms"))
    assert not only("20 guests").conflicts(only("30 km"))


def test_dates_agree_across_notations() -> None:
    notations = [quantities(text) for text in ("March 5, 2020", "5 March 2020", "2020-03-05", "5. März 2020")]
    first = notations[0]
    assert all(any(quantity.equals(other) for other in first) for notation in notations for quantity in notation)


def test_what_is_only_numbered_or_counted_off_states_no_number() -> None:
    assert quantities("passage 3 and step 2") == ()
    assert quantities("one of the tents") == ()
    assert [quantity.values for quantity in quantities("boxes 1,2,3")] == [(1.0,), (2.0,), (3.0,)]


def test_sums_and_differences_of_stated_numbers_are_derived() -> None:
    stated = quantities("It costs 20 dollars plus 5 dollars of shipping.")
    assert is_derived(only("25 dollars"), stated)
    assert is_derived(only("15 dollars"), stated)
    assert not is_derived(only("35 dollars"), stated)


@given(st.text(max_size=200))
def test_any_text_has_numbers_or_none(text: str) -> None:
    assert all(quantity.values for quantity in quantities(text))


@given(st.integers(min_value=0, max_value=10**12))
def test_thousands_separators_change_nothing(number: int) -> None:
    assert only(f"{number:,} guests").equals(only(f"{number} guests"))
