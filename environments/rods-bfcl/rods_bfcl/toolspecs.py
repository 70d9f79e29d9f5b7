"""BFCL's function documents as tool specifications with JSON Schema parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rods.types import Effect, ToolSpec
from rods_bfcl.asset import Asset
from rods_bfcl.upstream import CLASS_FILES

_TYPES = {"dict": "object", "float": "number", "tuple": "array"}

# Functions that leave every public attribute as it was. Those that draw from the generator of the
# world (current speed, outside temperature) or move the working directory are not among them: they
# change what later calls give, though the official checker does not compare it.
READS = frozenset(
    """
    pwd ls cat find wc sort grep du tail diff
    absolute_value add divide imperial_si_conversion logarithm max_value mean min_value multiply
    percentage power round_number si_unit_conversion square_root standard_deviation subtract
    sum_values
    get_message_stats get_user_id list_users message_get_login_status search_messages
    view_messages_sent
    get_tweet get_tweet_comments get_user_stats get_user_tweets list_all_following
    posting_get_login_status search_tweets
    get_ticket get_user_tickets ticket_get_login_status
    filter_stocks_by_price get_account_info get_available_stocks get_current_time get_order_details
    get_order_history get_stock_info get_symbol_by_name get_transaction_history get_watchlist
    notify_price_change trading_get_login_status
    compute_exchange_rate contact_customer_support get_all_credit_cards get_booking_history
    get_budget_fiscal_year get_credit_card_balance get_flight_cost get_nearest_airport_by_city
    list_all_airports retrieve_invoice travel_get_login_status verify_traveler_information
    check_tire_pressure displayCarStatus display_log estimate_distance
    estimate_drive_feasibility_by_mileage find_nearest_tire_shop gallon_to_liter
    get_outside_temperature_from_weather_com get_zipcode_based_on_city liter_to_gallon
    """.split()
)


def load_toolspecs(asset: Asset) -> dict[str, dict[str, ToolSpec]]:
    """Class -> function name -> specification, in the order of the documents."""
    return {
        name: {
            str(document["name"]): _spec(document)
            for document in asset.lines(f"bfcl_eval/data/multi_turn_func_doc/{file}.json")
        }
        for name, file in CLASS_FILES.items()
    }


def _spec(document: Mapping[str, Any]) -> ToolSpec:
    name = str(document["name"])
    effect: Effect = "read" if name in READS else "write"
    return ToolSpec(
        name=name,
        description=document["description"],
        parameters=_schema(document["parameters"]),
        effect=effect,
    )


def _schema(documented: Mapping[str, Any]) -> dict[str, Any]:
    """BFCL's type names as JSON Schema's; a default given as the text "None" is null."""
    schema = dict(documented)
    schema["type"] = _TYPES.get(schema["type"], schema["type"])
    if "properties" in schema:
        schema["properties"] = {n: _schema(p) for n, p in schema["properties"].items()}
    if "items" in schema:
        schema["items"] = _schema(schema["items"])
    if schema.get("default") == "None":
        schema["default"] = None
    return schema
