"""What the world suggests for its parameters exists in it."""

from __future__ import annotations

from itertools import combinations, product
from typing import Any

import pytest
from rods_bfcl.environment import BfclEnvironment
from rods_bfcl.session import BfclSession
from rods_bfcl.suggestions import CLOSED, FIXED

from rods.types import Task, ToolCall


@pytest.fixture
def world(environment: BfclEnvironment) -> tuple[BfclSession, dict[str, Any]]:
    state: dict[str, Any] = {
        "classes": ["TravelAPI", "VehicleControlAPI", "TradingBot", "MessageAPI"],
        "config": {},
        "long_context": False,
    }
    task = Task(id="w", environment="bfcl", tools=(), turns=(), initial_state=state)
    return environment.open(task), state


def _fails(session: BfclSession, tool: str, **arguments: Any) -> bool:
    return session.call(ToolCall(name=tool, arguments=arguments)).error


def test_there_is_a_flight_between_all_suggested_airports(
    world: tuple[BfclSession, dict[str, Any]],
) -> None:
    session, _ = world
    airports = (CLOSED["get_flight_cost", "travel_from"], CLOSED["get_flight_cost", "travel_to"])
    for departure, arrival in product(*airports):
        flight = {"travel_from": departure, "travel_to": arrival, "travel_class": "economy"}
        assert not _fails(session, "get_flight_cost", travel_date="2026-10-10", **flight)


def test_cities_have_airports_and_zip_codes(world: tuple[BfclSession, dict[str, Any]]) -> None:
    session, _ = world
    for city in CLOSED["get_nearest_airport_by_city", "location"]:
        call = ToolCall(name="get_nearest_airport_by_city", arguments={"location": city})
        assert "Unknown" not in session.call(call).content
    found = []
    for city in CLOSED["get_zipcode_based_on_city", "city"]:
        call = ToolCall(name="get_zipcode_based_on_city", arguments={"city": city})
        found.append(session.call(call).content)
    codes = CLOSED["estimate_distance", "cityA"]
    assert found == [f'{{"zipcode": "{code}"}}' for code in codes]
    for a, b in combinations(codes, 2):
        assert not _fails(session, "estimate_distance", cityA=a, cityB=b)


def test_stocks_are_those_of_the_state(
    environment: BfclEnvironment, world: tuple[BfclSession, dict[str, Any]]
) -> None:
    session, state = world
    default = environment.suggest("get_stock_info", "symbol", state)
    assert len(default) == 11
    assert not any(_fails(session, "get_stock_info", symbol=s) for s in default)
    own = {**state, "config": {"TradingBot": {"stocks": {"AAPL": {}, "XYZ": {}}}}}
    assert environment.suggest("place_order", "symbol", own) == ("AAPL", "XYZ")
    assert environment.suggest("get_symbol_by_name", "name", own) == ("Apple",)


def test_users_are_closed_only_where_the_state_does_not_name_them(
    environment: BfclEnvironment, world: tuple[BfclSession, dict[str, Any]]
) -> None:
    session, state = world
    users = environment.suggest("get_user_id", "user", state)
    ids = environment.suggest("send_message", "receiver_id", state)
    assert [
        session.call(ToolCall(name="get_user_id", arguments={"user": u})).content for u in users
    ] == [f'{{"user_id": "{i}"}}' for i in ids]
    own = {**state, "config": {"MessageAPI": {"user_map": {"Zoe": "USR9"}}}}
    assert environment.suggest("get_user_id", "user", own) == ()


def test_every_suggestion_is_for_a_parameter_that_exists(environment: BfclEnvironment) -> None:
    specs = environment.tools()
    for tool, parameter in (*FIXED, *CLOSED):
        assert parameter in specs[tool].properties
    assert environment.suggest("cat", "file_name", {}) == ()
    assert environment.suggest("wc", "mode", {}) == ("l",)
