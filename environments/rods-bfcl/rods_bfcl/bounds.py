"""What a call may be given: whatever is beyond these bounds is a failed call, never a hang."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

MAX_TEXT = 65_536  # characters of one call's arguments
MAX_SHORT = 8_192  # a text so short that no function has parameters enough to pass MAX_TEXT
MAX_ITEMS = 20_000  # values in one call's arguments
MAX_DEPTH = 32
MAX_BITS = 1024  # of an integer argument: the range of a float
MAX_RESULT_BITS = 14_000  # of a power: Python does not print more than 4 300 digits anyway
MAX_PRECISION = 1_000  # decimal digits
MAX_PLACES = 5_000


class OutOfBoundsError(ValueError):
    """An argument is too large, too long or too deep."""


def check_arguments(arguments: Mapping[Any, Any]) -> Mapping[Any, Any]:
    """Arguments that share no container with the caller's; OutOfBoundsError beyond the bounds."""
    for value in arguments.values():
        kind = type(value)
        if kind is str:
            if len(value) > MAX_SHORT:
                break
        elif kind is int:
            if value.bit_length() > MAX_BITS:
                break
        elif kind is not float and kind is not bool:
            break
    else:
        return arguments  # a few scalars: almost every call
    budget = [MAX_ITEMS, MAX_TEXT]
    return {name: _copy(value, budget, MAX_DEPTH) for name, value in arguments.items()}


def _copy(value: Any, budget: list[int], depth: int) -> Any:
    kind = type(value)
    if kind is str or kind is bytes:
        budget[1] -= len(value)
    elif kind is int:
        if value.bit_length() > MAX_BITS:
            raise OutOfBoundsError(f"a number has at most {MAX_BITS} bits")
    elif kind in (list, tuple, set, frozenset, dict):
        if depth == 0:
            raise OutOfBoundsError(f"arguments are nested at most {MAX_DEPTH} deep")
        budget[0] -= len(value)
        if budget[0] < 0:
            raise OutOfBoundsError(f"a call has at most {MAX_ITEMS} values")
        return _copy_container(value, budget, depth - 1)
    if budget[1] < 0:
        raise OutOfBoundsError(f"a call has at most {MAX_TEXT} characters")
    return value


def _copy_container(value: Any, budget: list[int], depth: int) -> Any:
    if isinstance(value, dict):
        return {_copy(k, budget, depth): _copy(v, budget, depth) for k, v in value.items()}
    return type(value)(_copy(item, budget, depth) for item in value)


def bound_power(base: Any, exponent: Any) -> None:
    """The power of two integers stays printable."""
    if isinstance(base, int) and isinstance(exponent, int) and exponent > 0:
        bits = base.bit_length() * exponent if abs(base) > 1 else 1
        if bits > MAX_RESULT_BITS:
            raise OutOfBoundsError("the result has too many digits")


def bound_precision(precision: Any) -> None:
    """At most MAX_PRECISION digits; mpmath takes strings and floats too."""
    try:
        digits = float(precision)
    except (TypeError, ValueError):
        return  # upstream answers
    if not math.isfinite(digits) or abs(digits) > MAX_PRECISION:
        raise OutOfBoundsError(f"a precision is at most {MAX_PRECISION} digits")


def bound_rounding(number: Any, decimal_places: Any) -> None:
    """Rounding an integer to -n places computes 10 ** n."""
    if isinstance(number, int) and isinstance(decimal_places, int) and decimal_places < -MAX_PLACES:
        raise OutOfBoundsError(f"a number is rounded to at least {-MAX_PLACES} places")
