"""What arguments look like: their types, how they are said, and variety among them."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from typing import Any

from rods.structure.constants import key
from rods.structure.leaves import Scalar

_LOOKED_AT = 24  # values of one parameter


def is_kind(value: Any, kind: str) -> bool:
    """The value is of this JSON type."""
    if kind == "string":
        return isinstance(value, str) and value != ""
    if kind == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if kind == "number":
        return isinstance(value, int | float) and not isinstance(value, bool)
    if kind == "boolean":
        return isinstance(value, bool)
    return isinstance(value, dict) if kind == "object" else True


def is_small(leaf: Scalar) -> bool:
    """A number that stands everywhere by chance."""
    return isinstance(leaf, int | float) and float(leaf).is_integer() and abs(leaf) < 100


def is_prose(value: Any) -> bool:
    """A text of several words."""
    return isinstance(value, str) and value.count(" ") >= 2


def typed(value: Any, kind: str) -> Any:
    """The value as an argument of this type: keys are text, and answers of digits are numbers."""
    if kind in ("integer", "number") and isinstance(value, str) and value.isdigit():
        return int(value)
    if kind == "string" and isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return value


def silent(leaf: Scalar, allowed: frozenset[tuple[str, Scalar]]) -> bool:
    """Nobody needs to say the leaf: it is a constant, or holds no letter and no digit."""
    if leaf is None or isinstance(leaf, bool):
        return True
    return key(leaf) in allowed or (isinstance(leaf, str) and not any(c.isalnum() for c in leaf))


def can_be_said(leaf: Scalar) -> bool:
    """A text can state the leaf."""
    if isinstance(leaf, str):
        return any(c.isalnum() for c in leaf)
    return leaf is not None and leaf >= 0


def spelled(leaf: Scalar) -> str:
    """As a text states it."""
    if isinstance(leaf, float):
        return str(int(leaf)) if leaf.is_integer() else repr(leaf)
    return str(leaf)


def scaled(seen: Sequence[Any], kind: str) -> list[Any]:
    """A tenth and a half of the amounts that were seen, where these are round themselves."""
    amounts = [v for v in seen if isinstance(v, int | float) and not isinstance(v, bool)]
    whole = [int(v) // by for by in (10, 2) for v in amounts[:6] if v >= 20 and v % by == 0]
    return whole if kind == "integer" else [float(v) for v in whole]


def unique(values: Iterable[Any]) -> list[Any]:
    """The values without repeats, in order."""
    return list({repr(value): value for value in values}.values())


def shuffled(values: Sequence[Any], rng: random.Random) -> list[Any]:
    """Some of the values in a random order: all that anybody will look at."""
    return rng.sample(values, min(len(values), _LOOKED_AT))
