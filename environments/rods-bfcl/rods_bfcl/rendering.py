"""The text of a result, exactly as the official executor writes it."""

from __future__ import annotations

import json
from typing import Any

ERROR_PREFIX = "Error during execution:"


_PREWRITTEN: dict[int, tuple[Any, str]] = {}  # id -> a value that nothing changes, as JSON


def prewrite(value: Any) -> None:
    """Write a large constant as JSON once; results that hold it are then put together quickly."""
    _PREWRITTEN[id(value)] = (value, json.dumps(value))


def render(value: Any) -> str:
    """Text as it is, a dict as JSON where it can be, everything else as ``str`` does it."""
    if type(value) is str:
        return value
    if type(value) is dict:
        try:
            return _json(value)
        except (TypeError, ValueError, RecursionError):  # e.g. an mpf, or a number of 5 000 digits
            return str(value)
    return str(value)


def _json(value: dict[Any, Any]) -> str:
    if not any(id(item) in _PREWRITTEN for item in value.values()):
        return json.dumps(value)
    fields = []
    for key, item in value.items():
        known = _PREWRITTEN.get(id(item))
        fields.append(f"{json.dumps(str(key))}: {known[1] if known else json.dumps(item)}")
    return "{" + ", ".join(fields) + "}"


def is_failure(value: Any) -> bool:
    """The world answered with an error of its own: ``{"error": ...}`` or ``[{"error": ...}]``."""
    if type(value) is list and len(value) == 1:
        value = value[0]
        if type(value) is str:
            return value.startswith("Error: ")
    return type(value) is dict and "error" in value
