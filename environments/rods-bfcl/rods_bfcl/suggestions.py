"""Values that a parameter can take in this world, for those who redraw the entities of a task.

Three sorts: values that must not change, because the user's words paraphrase them or the rest of
the task hangs on them (one value); closed worlds, whose simulators know a few names only (several
values, chosen so that most pairs of them work together); and everything else, which is free.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rods.types import JsonObject, JsonValue

FIXED: Mapping[tuple[str, str], JsonValue] = {
    ("activateParkingBrake", "mode"): "engage",
    ("adjustClimateControl", "mode"): "auto",
    ("adjustClimateControl", "unit"): "celsius",
    ("authenticate_travel", "grant_type"): "read_write",
    ("book_flight", "travel_class"): "economy",
    ("compute_exchange_rate", "base_currency"): "USD",
    ("compute_exchange_rate", "target_currency"): "EUR",
    ("create_ticket", "priority"): 1,
    ("displayCarStatus", "option"): "fuel",
    ("get_available_stocks", "sector"): "Technology",
    ("get_budget_fiscal_year", "includeRemoved"): "true",
    ("get_flight_cost", "travel_class"): "economy",
    ("get_user_tickets", "status"): "Open",
    ("imperial_si_conversion", "unit_in"): "km",
    ("imperial_si_conversion", "unit_out"): "miles",
    ("lockDoors", "door"): ["driver", "passenger", "rear_left", "rear_right"],
    ("logarithm", "precision"): 10,
    ("place_order", "order_type"): "Buy",
    ("pressBrakePedal", "pedalPosition"): 1.0,
    ("purchase_insurance", "insurance_type"): "comprehensive",
    ("round_number", "decimal_places"): 2,
    ("setHeadlights", "mode"): "on",
    ("si_unit_conversion", "unit_in"): "km",
    ("si_unit_conversion", "unit_out"): "m",
    ("square_root", "precision"): 10,
    ("startEngine", "ignitionMode"): "START",
    ("wc", "mode"): "l",
}

# There is a flight from each of the first to each of the second.
_DEPARTURES = ("SFO", "LAX", "JFK", "ORD", "BOS", "RMS", "SBK")
_ARRIVALS = ("MPC", "SVP", "SHD", "SSV", "OKD", "WLB", "CRH", "ATV", "PHV", "GFD")
_AIRPORT_CITIES = (
    *("San Francisco", "Los Angeles", "New York", "Chicago", "Boston", "Rivermist", "Stonebrook"),
    *("Maplecrest", "Silverpine", "Shadowridge", "Sunset Valley", "Oakendale", "Willowbend"),
    *("Crescent Hollow", "Autumnville", "Pinehaven", "Greenfield"),
)
# The cities between all of which the vehicle's map knows a distance, and their zip codes.
_MAP_CITIES = ("Rivermist", "Stonebrook", "San Francisco")
_MAP_ZIPCODES = ("83214", "74532", "94016")

CLOSED: Mapping[tuple[str, str], Sequence[JsonValue]] = {
    ("book_flight", "travel_from"): _DEPARTURES,
    ("book_flight", "travel_to"): _ARRIVALS,
    ("get_flight_cost", "travel_from"): _DEPARTURES,
    ("get_flight_cost", "travel_to"): _ARRIVALS,
    ("get_nearest_airport_by_city", "location"): _AIRPORT_CITIES,
    ("get_zipcode_based_on_city", "city"): _MAP_CITIES,
    ("estimate_distance", "cityA"): _MAP_ZIPCODES,
    ("estimate_distance", "cityB"): _MAP_ZIPCODES,
    ("setCruiseControl", "speed"): tuple(range(30, 105, 5)),
}

_TICKERS = frozenset(
    {
        ("add_to_watchlist", "stock"),
        ("get_stock_info", "symbol"),
        ("place_order", "symbol"),
        ("remove_stock_from_watchlist", "symbol"),
    }
)
COMPANIES: Mapping[str, str] = {
    "Apple": "AAPL",
    "Google": "GOOG",
    "Tesla": "TSLA",
    "Microsoft": "MSFT",
    "Nvidia": "NVDA",
    "Zeta Corp": "ZETA",
    "Alpha Tech": "ALPH",
    "Omega Industries": "OMEG",
    "Quasar Ltd.": "QUAS",
    "Neptune Systems": "NEPT",
    "Synex Solutions": "SYNX",
}
_RECEIVERS = frozenset(
    {
        ("delete_message", "receiver_id"),
        ("message_login", "user_id"),
        ("send_message", "receiver_id"),
    }
)
DEFAULT_USERS: Mapping[str, str] = {
    "Alice": "USR001",
    "Bob": "USR002",
    "Catherine": "USR003",
    "Daniel": "USR004",
}


def suggest(tool: str, parameter: str, state: JsonObject) -> Sequence[JsonValue]:
    """Values for the parameter in a world with this initial state; empty: any name will do."""
    key = (tool, parameter)
    if key in FIXED:
        return (FIXED[key],)
    if key in CLOSED:
        return CLOSED[key]
    if key in _TICKERS:
        return _listed(state)
    if key == ("get_symbol_by_name", "name"):
        listed = set(_listed(state))
        return tuple(name for name, symbol in COMPANIES.items() if symbol in listed)
    if "user_map" not in _config(state, "MessageAPI"):  # users that the state can rename are free
        if key == ("get_user_id", "user"):
            return tuple(DEFAULT_USERS)
        if key in _RECEIVERS:
            return tuple(DEFAULT_USERS.values())
    return ()


def _listed(state: JsonObject) -> tuple[str, ...]:
    """The symbols of the stocks that can be traded."""
    stocks = _config(state, "TradingBot").get("stocks")
    return tuple(stocks) if isinstance(stocks, dict) and stocks else tuple(COMPANIES.values())


def _config(state: JsonObject, class_name: str) -> Mapping[str, Any]:
    config = state.get("config")
    own = config.get(class_name) if isinstance(config, dict) else None
    return own if isinstance(own, dict) else {}
