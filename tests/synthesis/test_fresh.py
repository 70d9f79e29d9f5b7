"""New values look like the old ones and can be read."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rods.synthesis.fresh import Dice, cased, spelled, with_day

_NAMES = [
    "final_report.pdf",
    "USR001",
    "abc123xyz",
    "card_4893",
    "NVDA",
    "DylanProject.txt",
    "#RoadTrip",
    "@CarlinaYates",
    "Michael Thompson",
    "john1234",
    "Quarter1_Reports",
    "mthompson",
    "12446",
]


def shape(text: str) -> str:
    """Case, digits and separators, without lengths of words."""
    text = re.sub(r"[A-Z]{2,}", "U", text)
    text = re.sub(r"[A-Z]?[a-z]+", lambda m: "T" if m[0][0].isupper() else "l", text)
    return re.sub(r"\d", "9", text)


@given(st.sampled_from(_NAMES), st.integers())
def test_a_new_name_keeps_the_pattern_and_is_another(name: str, seed: int) -> None:
    new = Dice(random.Random(seed)).renamed(name)
    assert new != name
    assert shape(new) == shape(name)
    if "." in name:
        assert new.endswith(name[name.rindex(".") :])


@given(st.sampled_from(_NAMES), st.integers())
def test_no_word_without_a_vowel_is_made_up(name: str, seed: int) -> None:
    new = Dice(random.Random(seed)).renamed(name)
    old_words = set(re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name))
    made = set(re.findall(r"[A-Z]?[a-z]+|[A-Z]+", new)) - old_words
    assert all(re.search("[aeiouy]", word.lower()) for word in made)


def test_parts_that_are_equal_stay_equal_in_one_draw() -> None:
    dice = Dice(random.Random(3))
    one, two = dice.renamed("report1.txt"), dice.renamed("report2.txt")
    assert one.replace("1", "2") == two
    card, number = dice.renamed("card_4893"), dice.renamed("1234-5678-9012-4893")
    assert number.endswith(card[-4:])
    assert dice.renamed("Final Report") == cased(dice.renamed("final"), "F") + " " + cased(
        one[: one.index("1")], "R"
    )


def test_taken_words_are_not_used() -> None:
    first = Dice(random.Random(1)).renamed("folder")
    again = Dice(random.Random(1), {first}).renamed("folder")
    assert again != first


def test_articles_stay_right() -> None:
    for seed in range(50):
        assert Dice(random.Random(seed)).renamed("archive")[0] in "aeiou"
        assert Dice(random.Random(seed)).renamed("folder")[0] not in "aeiou"


def test_persons_get_the_names_of_persons() -> None:
    first, last = Dice(random.Random(0)).renamed("Michael Thompson").split()
    assert first.istitle()
    assert last.istitle()


@pytest.mark.parametrize(
    "text", ["Urgent Flight Cancellation", "The report is final.", "what a day!", "Billing Concern"]
)
def test_a_phrase_keeps_case_and_end(text: str) -> None:
    new = Dice(random.Random(5)).phrase(text)
    assert new != text
    assert new[0].isupper() == text[0].isupper()
    assert (new[-1] if new[-1] in ".!?" else "") == (text[-1] if text[-1] in ".!?" else "")


@given(st.one_of(st.integers(10, 10**9), st.decimals(1, 10_000, places=2).map(float)))
def test_a_new_number_is_near_and_as_round(old: int | float) -> None:
    new = Dice(random.Random(int(old))).number(old)
    assert type(new) is type(old)
    assert abs(new - old) <= 0.3 * abs(old) + 1
    for step in (10, 100):
        if old % step == 0 and old >= 10 * step:
            assert new % step == 0


def test_small_counts_stay_small() -> None:
    drawn = {Dice(random.Random(seed)).number(4) for seed in range(50)}
    assert drawn == {2, 3, 5, 6}


def test_a_huge_number_costs_nothing() -> None:
    assert Dice(random.Random(0)).number(3 * 10**15) != 3 * 10**15


@pytest.mark.parametrize(
    ("number", "spelling", "expected"),
    [(1200, "1,500", "1,200"), (120, "150.0", "120.0"), (90, "100", "90"), (2.75, "3.10", "2.75")],
)
def test_numbers_are_spelled_alike(number: float, spelling: str, expected: str) -> None:
    assert spelled(number, spelling) == expected


@pytest.mark.parametrize(
    ("spelling", "at", "day", "expected"),
    [
        ("November 25th, 2026", (9, 11), 2, "November 2nd, 2026"),
        ("2026-11-25", (8, 10), 2, "2026-11-02"),
        ("3/9/2026", (2, 3), 12, "3/12/2026"),
        ("11/15/2026", (3, 5), 3, "11/03/2026"),
        ("1st of May", (0, 1), 11, "11th of May"),
    ],
)
def test_dates_keep_their_form(spelling: str, at: tuple[int, int], day: int, expected: str) -> None:
    assert with_day(spelling, at, day) == expected
