"""A derived value is said in its plain form, and one of several things without its name."""

from __future__ import annotations

import json

import pytest

from rods.structure.in_words import number_in_words
from rods.structure.leaves import Path, find
from rods.structure.transforms import dates, number_words
from rods.synthesis.wording.reference import known_as, pointed_at
from rods.synthesis.wording.spoken import fill, plain_form, quoted, spelling

TABLES = {"nearest": {"Boston": "BOS", "City of Boston": "BOS", "Berlin": "BER"}}


def test_the_plain_form_is_never_the_literal() -> None:
    assert plain_form("BOS", TABLES) == "Boston"
    assert plain_form("annual_report.txt", TABLES) == "annual report"
    spoken = plain_form("2026-11-15", TABLES)
    assert spoken == "November 15, 2026"
    assert next(iter(dates(spoken))).matches(2026, 11, 15)
    assert plain_form("report", TABLES) is None
    assert plain_form(7.93, TABLES) is None


@pytest.mark.parametrize("number", [0, 7, 20, 42, 100, 215, 1000, 20_418])
def test_numbers_in_words_are_read_back(number: int) -> None:
    words = number_in_words(number)
    assert words is not None
    assert float(number) in number_words(words)


def test_quotes_stand_where_the_end_of_a_value_is_unclear() -> None:
    assert quoted("v1", "Alice", terse=False) == "{v1}"
    assert quoted("v1", "report.pdf", terse=False) == "'{v1}'"
    assert quoted("v1", "it's the last one", terse=False) == '"{v1}"'
    assert quoted("v1", "report.pdf", terse=True) == "{v1}"


def test_filling_leaves_unknown_placeholders_and_writes_numbers_bare() -> None:
    assert fill("{v1} and {v9}", {"v1": spelling(5.0)}) == "5 and {v9}"


FILES = json.dumps(["old.txt", "annual_report.txt"])
ORDERS = json.dumps([{"id": 1, "stock": "AAPL"}, {"id": 2, "stock": "GOOG"}])


@pytest.mark.parametrize(
    ("parameter", "value", "content", "words"),
    [
        ("file_name", "annual_report.txt", FILES, "the annual report file"),
        ("order_id", 2, ORDERS, "the order with the stock GOOG"),
        ("event", "e2", "e1 lunch 3; e2 dinner 4", "the event with dinner"),
        ("number", 7, "[5, 7, 9]", "the second number"),
        ("order_id", 1, json.dumps({"id": 1, "stock": "AAPL"}), None),
    ],
)
def test_one_of_several_results_is_pointed_at(
    parameter: str, value: str | int, content: str, words: str | None
) -> None:
    answer = content if parameter == "event" else json.loads(content)
    path: Path | None = find(answer, value)
    assert path is not None
    noun = parameter.removesuffix("_id").removesuffix("_name")
    assert pointed_at(noun, parameter, value, content, path) == words


def test_what_only_the_state_holds_is_told_by_what_stands_beside_it() -> None:
    orders = {"12": {"stock": "AAPL"}, "13": {"stock": "GOOG"}}
    assert known_as("order_id", "13", {"orders": orders}) == "the order with the stock GOOG"
    assert known_as("card_id", "card_1", {"cards": {"card_1": {"limit": 5}}}) == "my card"
    users = {"users": {"Alice": "USR001", "Bob": "USR002"}}
    assert known_as("receiver_id", "USR002", users) == "Bob"
    assert known_as("amount", 5, {"cards": {"card_1": {"limit": 5}}}) is None
    assert known_as("code", "XK", {"codes": ["XA", "XK"]}) is None
