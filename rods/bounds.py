"""What a call may be given in worlds that run others' code: what is beyond is a failed call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_CHARACTERS = (
    16_384  # of all texts together: such code may compare one with every record of a table
)
_VALUES = 2_000
_DEPTH = 16


def beyond_bounds(arguments: Mapping[str, Any]) -> str | None:
    """Why the arguments are too large; None: they are not."""
    characters, values = 0, 0
    level: list[Any] = [arguments]
    for _ in range(_DEPTH):
        below: list[Any] = []
        for item in level:
            values += 1
            if isinstance(item, str):
                characters += len(item)
            elif isinstance(item, Mapping):
                below += [*item.keys(), *item.values()]
            elif isinstance(item, list):
                below += item
            elif isinstance(item, int) and item.bit_length() > 1024:
                return "A number has too many digits"
        if characters > _CHARACTERS or values + len(below) > _VALUES:
            return "The arguments are too long"
        if not below:
            return None
        level = below
    return "The arguments are nested too deeply"
