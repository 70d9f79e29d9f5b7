"""What follows from the user's words without standing there."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rods.structure import transforms as tf

_SPOKEN = [
    "November 25th, 2026",
    "25th of November 2026",
    "Nov 25, 2026",
    "11/25/2026",
    "2026-11-25",
    "2026, 11/25",
    "november 25",
]


@pytest.mark.parametrize("text", _SPOKEN)
def test_a_date_is_one_date_however_it_is_written(text: str) -> None:
    (date,) = tf.dates(f"I leave on {text}.")
    assert date.matches(2026, 11, 25)
    assert not date.matches(2026, 11, 24)
    start, end = date.day_at
    assert date.spelling[start:end] == "25"


def test_a_date_with_its_year_does_not_match_another_year() -> None:
    (date,) = tf.dates("on March 3, 2026")
    assert not date.matches(2025, 3, 3)


@pytest.mark.parametrize("text", ["version 1.2.3", "room 4/5", "order 2026", "may I have 3 apples"])
def test_other_numbers_are_no_dates(text: str) -> None:
    assert not [d for d in tf.dates(text) if d.matches(2026, d.month, d.day) and d.year]


def test_numbers_are_read_with_separators_and_not_from_ids() -> None:
    text = "Pay $1,500.50 and 20 to USR001 by card 12-34, v2.0.1."
    assert [n for _, n in tf.numbers(text) if n in (1500.5, 20)] == [1500.5, 20.0]
    assert tf.numbers("USR001, v2, 12V and x_7") == []
    assert [n for _, n in tf.numbers("1,2,3 of 1,500,000, 7.")] == [1, 2, 3, 1_500_000, 7]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("five hundred shares", 500),
        ("two thousand and five", 2005),
        ("twenty-two items", 22),
        ("a dozen", 12),
        ("half of it", 0.5),
        ("nine", 9),
    ],
)
def test_numbers_in_words(text: str, number: float) -> None:
    assert number in tf.number_words(text)


@pytest.mark.parametrize(
    ("value", "operands", "name"),
    [
        (30, [15], "multiple"),
        (7.93, [7.926], "rounded"),
        (12, [5, 7], "sum"),
        (42, [6, 7], "product"),
    ],
)
def test_simple_calculations_are_named(value: float, operands: list[float], name: str) -> None:
    assert tf.arithmetic(value, operands) == name


def test_a_number_without_a_calculation_has_no_name() -> None:
    assert tf.arithmetic(97.31, [5, 7]) is None


def test_spelling_ignores_case_spaces_prefix_and_extension() -> None:
    words = tf.squash("Put it into Team Notes and tag RoadTrip")
    assert tf.respelled("TeamNotes.txt", words)
    assert tf.respelled("#RoadTrip", words)
    assert not tf.respelled("Minutes.txt", words)


@given(st.text("aB _-1"))
def test_squashing_twice_changes_nothing(text: str) -> None:
    assert tf.squash(tf.squash(text)) == tf.squash(text)
