"""Values that go together: rules that train tasks never break, and draws that keep them."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence

from rods.structure.planning.relations import (
    Relation,
    RelationLearner,
    misfit,
    suggestions,
)
from rods.structure.trace import Trace
from rods.types import JsonValue, ToolCall, ToolResult

QUOTE, BOOK = "quote", "book"


def call(name: str, **arguments: JsonValue) -> ToolCall:
    return ToolCall(name=name, arguments=arguments)


def trip(origin: str, goal: str, price: float, budget: float) -> list[tuple[ToolCall, object]]:
    """A quote, a booking of the same route, and a budget of a few times the price."""
    return [
        (call(QUOTE, origin=origin, goal=goal), {"price": price}),
        (call(BOOK, origin=origin, goal=goal, budget=budget), {"booked": True}),
    ]


def trace(steps: Sequence[tuple[ToolCall, object]]) -> Trace:
    results = tuple(ToolResult(content=json.dumps(answer)) for _, answer in steps)
    calls = tuple(made for made, _ in steps)
    return Trace((0,) * len(calls), calls, results, {}, {})


def learned(*trips: Sequence[tuple[ToolCall, object]]) -> dict[str, list[Relation]]:
    learner = RelationLearner()
    for steps in trips:
        learner.watch(trace(steps))
    return learner.relations()


TRIPS = [
    trip("BRN", "OSL", 100.0, 210.0),
    trip("OSL", "LIM", 400.0, 900.0),
    trip("LIM", "BRN", 300.0, 750.0),
    trip("OSL", "BRN", 120.0, 300.0),
    trip("BRN", "LIM", 350.0, 800.0),
]
RULES = learned(*TRIPS)


def test_what_is_always_equal_never_equal_or_near_becomes_a_rule() -> None:
    origin = RULES["book origin"]
    assert Relation("equal", QUOTE, "origin") in origin
    assert Relation("different", QUOTE, "goal") in origin
    (near,) = RULES["book budget"]
    assert (near.kind, near.earlier, near.pattern) == ("near", QUOTE, ("price",))
    assert (near.low, near.high) == (2.1, 2.5)


def test_one_exception_or_too_few_cases_are_no_rule() -> None:
    other = trip("BRN", "OSL", 100.0, 900.0)
    other[1] = (call(BOOK, origin="LIM", goal="OSL", budget=900.0), {})
    rules = learned(*TRIPS, other)
    assert Relation("equal", QUOTE, "origin") not in rules["book origin"]
    assert "book budget" not in rules  # 2.1 to 9 times the price is near nothing
    assert learned(*TRIPS[:4]).get("book origin", []) == []


def test_values_that_could_never_meet_are_no_rule() -> None:
    steps: list[list[tuple[ToolCall, object]]] = [
        [(call(QUOTE, origin=f"a{n}"), {}), (call(BOOK, goal=f"b{n}"), {})] for n in range(6)
    ]
    assert learned(*steps) == {}


def test_a_value_is_held_against_the_calls_so_far() -> None:
    calls, answers = [call(QUOTE, origin="BRN", goal="OSL")], [{"price": 200}]
    broken = {
        place: misfit(RULES["book origin"], place, calls, answers) for place in ("BRN", "OSL")
    }
    assert broken == {"BRN": 0, "OSL": 2}  # not where the quote begins, and where it ends
    assert misfit(RULES["book budget"], 480, calls, answers) == 0
    assert misfit(RULES["book budget"], 4800, calls, answers) == 1
    assert misfit(RULES["book origin"], "OSL", [], []) == 0


def test_values_that_keep_the_rules_are_suggested() -> None:
    calls, answers = [call(QUOTE, origin="BRN", goal="OSL")], [{"price": 200}]
    assert list(suggestions(RULES["book origin"], calls, answers, random.Random(0))) == ["BRN"]
    (budget,) = suggestions(RULES["book budget"], calls, answers, random.Random(0))
    assert isinstance(budget, float)
    assert 420 <= budget <= 500


def test_of_two_quotes_the_later_one_is_booked() -> None:
    quotes = [call(QUOTE, origin="BRN", goal="OSL"), call(QUOTE, origin="OSL", goal="LIM")]
    equal = [Relation("equal", QUOTE, "origin")]
    assert misfit(equal, "OSL", quotes, [{}, {}]) == 0
    assert misfit(equal, "BRN", quotes, [{}, {}]) == 1
    different = [Relation("different", QUOTE, "goal")]
    assert misfit(different, "OSL", quotes, [{}, {}]) == 1  # was the goal of one of them
