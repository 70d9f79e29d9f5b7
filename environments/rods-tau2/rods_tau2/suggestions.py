"""What synthesis without a language model knows of these worlds: fixed values, and phrases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rods.types import JsonValue, Phrase

FIXED: Mapping[tuple[str, str], JsonValue] = {}
PHRASES: Mapping[str, Phrase] = {}


def suggest(tool: str, parameter: str) -> Sequence[JsonValue]:
    """The one value that fits the words of the task; empty: any name will do."""
    key = (tool, parameter)
    return (FIXED[key],) if key in FIXED else ()
