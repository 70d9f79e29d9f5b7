"""What a variant keeps: words and numbers of records that name no person, place or thing.

A request speaks of them ("the cheaper one", "stainless steel"), and totals that have to be said
are sums of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rods.types import JsonObject, JsonValue

_ENTITIES = frozenset(
    {
        *("first_name", "last_name", "email", "dob", "address1", "address2", "zip"),
        *("user_id", "order_id", "orders", "reservation_id", "reservations"),
        *("item_id", "item_ids", "product_id", "tracking_id"),
        *("id", "payment_id", "payment_method_id"),
    }
)


def constants(state: JsonObject) -> set[JsonValue]:
    """The values of the state's records that stand under no key of an entity."""
    return set(_kept(state.get("records"), ""))


def _kept(value: Any, key: str) -> Iterator[JsonValue]:
    if isinstance(value, dict):
        for name, child in value.items():
            yield from _kept(child, name)
    elif isinstance(value, list):
        for child in value:
            yield from _kept(child, key)
    elif value is not None and key not in _ENTITIES:
        yield value
