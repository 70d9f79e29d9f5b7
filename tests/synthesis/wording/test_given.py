"""A value of an earlier result is called what the result calls it, whatever takes it."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from rods.interfaces import Environment
from rods.structure.leaves import Path, parse, walk
from rods.structure.trace import replay
from rods.synthesis.wording.brief import Brief, BriefCall, Value
from rods.synthesis.wording.composer import Composer
from rods.synthesis.wording.given import Given, given, noun_of, pointing, template_for
from rods.synthesis.wording.reference import known_as, pointed_at
from rods.types import SourceKind, ToolCall

STOCK = {"price": 725.89, "volume": 3.234, "MA(5)": 720.1}


@pytest.fixture(scope="module")
def bfcl() -> Environment:
    """Its train tasks."""
    module = pytest.importorskip("rods_bfcl.environment")
    return module.BfclEnvironment()  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def answers(bfcl: Environment) -> Mapping[str, Any]:
    """Tool -> the longest answer that a call of it gets in the references of some tasks."""
    found: dict[str, Any] = {}
    for task in bfcl.tasks("train")[::4]:
        trace = replay(bfcl, task)
        for call, result in zip(trace.calls, trace.results, strict=True):
            known = json.dumps(found.get(call.name, ""))
            if not result.error and len(result.content) > len(known):
                found[call.name] = parse(result.content)
    return found


def fields(answer: Any) -> Iterator[tuple[Path, Any]]:
    """What of an answer is told apart by its name: one place of each list."""
    for path, leaf in walk(answer):
        later = any(isinstance(step, int) and step > 0 for step in path)
        if leaf not in (None, "") and not isinstance(leaf, bool) and not later:
            yield path, leaf


def test_no_two_fields_of_an_answer_share_their_words(
    bfcl: Environment, answers: Mapping[str, Any]
) -> None:
    """Over every producer and every parameter that could take what it gives."""
    parameters = {p for spec in bfcl.tools().values() for p in spec.properties}
    pairs = 0
    for tool, answer in answers.items():
        nouns = (bfcl.phrase(tool) or pytest.fail(tool)).nouns
        places = [(path, leaf, given(answer, path)) for path, leaf in fields(answer)]
        for parameter in parameters:
            words: dict[tuple[Path, str], Path] = {}  # the record and the words -> the field
            for path, leaf, of in places:
                pairs += 1
                told = {template_for(nouns, of, parameter), pointing(nouns, of, parameter, leaf)}
                for text in told - {"", f"that {noun_of(Given(), parameter)}"}:
                    assert (path[:-1], text) not in words, (tool, parameter, path)
                    words[path[:-1], text] = path
    assert len(answers) > 50
    assert pairs > 5000


def test_the_price_is_no_word_for_a_volume() -> None:
    nouns = {"price": "the current price of {symbol}"}
    price, volume = (given(STOCK, (name,)) for name in ("price", "volume"))
    assert template_for(nouns, price, "amount") == "the current price of {symbol}"
    assert template_for(nouns, volume, "price") == ""
    assert pointing(nouns, volume, "price", 3.234) == "that volume"


def composed(bfcl: Environment, field: str, turns: tuple[int, int]) -> list[str]:
    """An order at what ``field`` of a stock says."""
    values = {"v1": Value("v1", "QUAS", "QUAS", turns[0], ""), "v2": Value("v2", 50, "50", 1, "")}
    user, result = SourceKind.USER, SourceKind.RESULT
    look = BriefCall(
        ToolCall(name="get_stock_info", arguments={"symbol": "QUAS"}),
        turns[0],
        {"symbol": user},
        {"symbol": "{v1}"},
        {},
        {},
    )
    order = {"order_type": "Buy", "symbol": "QUAS", "price": STOCK[field], "amount": 50}
    buy = BriefCall(
        ToolCall(name="place_order", arguments=order),
        turns[1],
        {"order_type": SourceKind.CONSTANT, "symbol": user, "amount": user, "price": result},
        {"symbol": "{v1}", "amount": "{v2}"},
        {"price": 0},
        {},
        {"price": given(STOCK, (field,))},
    )
    brief = Brief(turns[1] + 1, [look, buy], values)
    return list(Composer(bfcl.tools(), bfcl.phrase).compose(brief, random.Random(1)))


def test_an_order_names_the_field_that_its_price_comes_from(bfcl: Environment) -> None:
    assert "at the current price of {v1}" in composed(bfcl, "price", (0, 0))[0]
    assert "at the trading volume of {v1}" in composed(bfcl, "volume", (0, 0))[0]
    assert "at that price" in composed(bfcl, "price", (0, 1))[1]
    assert "at that volume" in composed(bfcl, "volume", (0, 1))[1]


@pytest.mark.parametrize(
    ("answer", "path", "parameter", "noun"),
    [
        ({"id": 3, "total": 4}, ("id",), "tweet_id", "tweet"),
        ({"order_id": 3, "price": 4}, ("order_id",), "order_id", "order"),
        ({"stock_list": ["A", "B"]}, ("stock_list", 1), "symbol", "stock"),
        ({"matches": ["a", "b"]}, ("matches", 0), "pattern", "match"),
        ({"file_content": "hello"}, ("file_content",), "message", "message"),
        ({"balance": 1, "card": 2}, ("balance",), "card_id", "balance"),
        ({"booking_id": "12", "transaction_id": "345"}, ("booking_id",), "booking_id", "booking"),
        ({"watchlist": ["A", "B"]}, ("watchlist", 1), "symbol", "symbol"),
        ("340", (("~", 0),), "day", "day"),
        ({"Alice": "U1", "Bob": "U2"}, ("Bob",), "receiver_id", "receiver"),
    ],
)
def test_a_value_is_called_after_its_field(
    answer: Any, path: Path, parameter: str, noun: str
) -> None:
    assert noun_of(given(answer, path), parameter) == noun


def test_a_parameter_names_a_value_only_where_the_answer_holds_no_other() -> None:
    nouns = {"phone": "{name}", "*": "phone of {name}"}
    alone = given("482", ())
    assert template_for(nouns, alone, "phone") == "{name}"
    assert template_for(nouns, alone, "amount") == "phone of {name}"
    assert template_for(nouns, given({"a": 1, "b": 2}, ("a",)), "phone") == ""


@pytest.mark.parametrize(
    ("value", "parameter", "words"),
    [
        ("AAPL", "symbol", "the symbol of my order"),
        ("U7", "receiver_id", "Michael"),
        ("c1", "card_id", "my card"),
        ("project", "folder", "the folder in workspace"),
        (88.34, "account_id", None),
        ("NEPT", "stock", None),  # only its price tells it from the others
    ],
)
def test_what_only_the_state_holds_is_called_by_what_a_person_knows(
    value: Any, parameter: str, words: str | None
) -> None:
    state: Any = {
        "orders": {"12345": {"symbol": "AAPL", "status": "Open", "id": 12345}},
        "users": {"Michael": "U7", "David": "U8"},
        "credit_card_list": {"c1": {"balance": 3.0}},
        "stocks": {"NEPT": {"price": 88.34}, "OMEG": {"price": 457.23}},
        "root": {
            "workspace": {"type": "d", "contents": {"project": {"type": "d", "contents": {}}}}
        },
    }
    assert known_as(parameter, value, state) == words


def test_one_of_several_is_told_by_its_own_name_or_number() -> None:
    listed = json.dumps({"stock_list": ["AAPL", "GOOG", "MSFT"]})
    assert pointed_at("stock", "symbol", "GOOG", listed, ("stock_list", 1)) == "the second stock"
    users = json.dumps({"Alice": "U1", "Bob": "U2"})
    assert pointed_at("user", "receiver_id", "U2", users, ("Bob",)) == "Bob"
    invoice = json.dumps({"booking_id": "12", "transaction_id": "345"})
    assert pointed_at("booking", "booking_id", "12", invoice, ("booking_id",)) is None
