"""The text of a result, exactly as the official executor writes it."""

from __future__ import annotations

import json
from typing import Any

ERROR_PREFIX = "Error during execution:"


def render(value: Any) -> str:
    """Text as it is, a dict as JSON where it can be, everything else as ``str`` does it."""
    if type(value) is str:
        return value
    if type(value) is dict:
        try:
            return json.dumps(value)
        except (TypeError, ValueError, RecursionError):  # e.g. an mpf, or a number of 5 000 digits
            return str(value)
    return str(value)


def is_failure(value: Any) -> bool:
    """The world answered with an error of its own: ``{"error": ...}`` or ``[{"error": ...}]``."""
    if type(value) is list and len(value) == 1:
        value = value[0]
        if type(value) is str:
            return value.startswith("Error: ")
    return type(value) is dict and "error" in value
