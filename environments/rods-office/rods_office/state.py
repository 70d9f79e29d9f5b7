"""The office as plain JSON: collections of flat records, and what a turn changed in them.

A record never nests and ids are values, not keys, so consistent renaming of any value keeps the
world intact, and the order of a listing survives every JSON store.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rods.types import JsonObject

Value = str | int
Record = dict[str, Value]
State = dict[str, list[Record]]

#: Collection -> the fields of its records. ``fresh`` queues the ids of what will be created.
COLLECTIONS: Mapping[str, tuple[str, ...]] = {
    "files": ("name", "text"),
    "contacts": ("name", "phone"),
    "inbox": ("phone", "text"),
    "sent": ("phone", "text"),
    "events": ("id", "title", "day"),
    "items": ("id", "name", "price"),
    "orders": ("id", "item", "count"),
    "accounts": ("id", "owner", "balance"),
    "fresh": ("id",),
}

Keys = list[list[tuple[str, Value]]]
Delta = dict[str, tuple[Keys, Keys]]


class Refused(Exception):  # noqa: N818 - a refusal is an answer, not a fault
    """A tool cannot do what was asked; its text is the policy's answer. The state is untouched."""


def empty() -> State:
    """An office with nothing in it."""
    return {name: [] for name in COLLECTIONS}


def copied(state: JsonObject | State) -> State:
    """A copy that shares nothing with ``state``; collections it lacks are empty."""
    source: Mapping[str, Any] = state
    return {name: [record.copy() for record in source.get(name, ())] for name in COLLECTIONS}


def find(records: Sequence[Record], field: str, value: Value) -> Record | None:
    """The first record whose ``field`` is ``value``."""
    for record in records:
        if record[field] == value:
            return record
    return None


def get(state: State, collection: str, field: str, value: Value) -> Record:
    """The record, or a refusal that names its collection."""
    record = find(state[collection], field, value)
    if record is None:
        raise Refused(f"not in {collection}")
    return record


def absent(state: State, collection: str, field: str, value: Value) -> None:
    """Refuse if the record exists."""
    if find(state[collection], field, value) is not None:
        raise Refused(f"already in {collection}")


def fresh_id(state: State, prefix: str) -> str:
    """Take the next queued id of that kind; the office refuses when none is left."""
    for index, record in enumerate(state["fresh"]):
        if str(record["id"])[0] == prefix:
            return str(state["fresh"].pop(index)["id"])
    raise Refused("full")


def delta(before: State, after: State) -> Delta:
    """What changed, per collection: (records gone, records come), whatever their order.

    A record created in between is compared without its id: which id comes next depends on what
    earlier turns created, and an earlier mistake must not spoil this turn.
    """
    created = {record["id"] for record in before["fresh"]}
    changed: Delta = {}
    for name, old in before.items():
        new = after[name]
        if name != "fresh" and old != new:
            gone, come = _difference(old, new)
            if gone or come:
                changed[name] = (_keys(gone, set()), _keys(come, created))
    return changed


def _difference(old: list[Record], new: list[Record]) -> tuple[list[Record], list[Record]]:
    gone, come = old.copy(), []
    for record in new:
        if record in gone:
            gone.remove(record)
        else:
            come.append(record)
    return gone, come


def _keys(records: list[Record], created: set[Value]) -> Keys:
    named = ({**r, "id": "new"} if r.get("id") in created else r for r in records)
    return sorted([sorted(r.items()) for r in named], key=str)
