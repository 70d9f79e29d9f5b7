"""Amounts lie near the numbers of the records that a call names."""

from __future__ import annotations

import random

import pytest

from rods.structure.planning.combining import in_keeping
from rods.structure.planning.records import RecordLearner, RecordRule
from rods.structure.planning.values import Draw
from rods.types import JsonObject, ToolCall

STATE: JsonObject = {
    "shop": {
        "stocks": {
            "AAPL": {"price": 200.0, "volume": 3.5, "open": True},
            "TSLA": {"price": 600.0, "volume": 1.5, "open": True},
            "OMEG": {"price": 450.0, "volume": 9.0, "open": True},
        }
    }
}
ORDERS = [("AAPL", 200.0, 5), ("TSLA", 606.0, 90), ("OMEG", 450.0, 40), ("AAPL", 198.0, 700)]


def order(symbol: str, price: float, amount: int) -> ToolCall:
    return ToolCall(name="order", arguments={"symbol": symbol, "price": price, "amount": amount})


def learned(orders: list[tuple[str, float, int]]) -> dict[str, list[RecordRule]]:
    learner = RecordLearner()
    for symbol, price, amount in orders:
        learner.watch(order(symbol, price, amount), STATE)
    return learner.rules()


(RULE,) = learned([*ORDERS, ("OMEG", 455.0, 2)])["order"]


def test_what_has_always_been_near_one_field_of_the_named_record_is_a_rule() -> None:
    assert RULE[:5] == ("order", "price", "symbol", ("shop", "stocks"), "price")
    assert (RULE.low, RULE.high) == (0.99, pytest.approx(455 / 450))


@pytest.mark.parametrize(
    "orders",
    [ORDERS, [("AAPL", 200.0, 5)] * 9, [*ORDERS, ("OMEG", 900.0, 2)]],
    ids=["too few", "always the same", "too wide"],
)
def test_few_equal_or_wide_ones_are_none(orders: list[tuple[str, float, int]]) -> None:
    assert not learned(orders)


@pytest.mark.parametrize(
    ("arguments", "holds"),
    [
        ({"symbol": "TSLA", "price": 610}, True),
        ({"symbol": "TSLA", "price": 1.5}, False),
        ({"symbol": "AAPL", "price": 610}, False),
        ({"symbol": "none of them", "price": 1.5}, True),
        ({"price": 1.5}, True),
    ],
)
def test_a_rule_says_nothing_where_no_record_is_named(
    arguments: dict[str, str | float], holds: bool
) -> None:
    assert RULE.holds(arguments, STATE) is holds


def test_a_price_that_the_user_says_is_brought_near_the_record_and_a_result_stays() -> None:
    said = {"symbol": Draw("TSLA"), "price": Draw(0.24, ("0.24",), plain=True)}
    for seed in range(20):
        changed = list(in_keeping([RULE], [said], STATE, random.Random(seed)))
        for drawn in changed:
            value = drawn["price"].value
            assert isinstance(value, float)
            assert 560 < value < 650
            assert drawn["price"].said == (str(int(value)) if value.is_integer() else repr(value),)
        assert 600.0 in [drawn["price"].value for drawn in changed]
    taken = [{"symbol": Draw(name), "price": Draw(200.0)} for name in ("TSLA", "AAPL")]
    kept = list(in_keeping([RULE], taken, STATE, random.Random(0)))
    assert [drawn["symbol"].value for drawn in kept] == ["AAPL", "TSLA"]  # what fits comes first


def test_an_amount_stays_whole() -> None:
    said = {"symbol": Draw("OMEG"), "price": Draw(7, ("7",), plain=True)}
    changed = [d["price"].value for d in in_keeping([RULE], [said], STATE, random.Random(3))]
    assert all(isinstance(value, int) and 420 < value < 480 for value in changed)
