"""Arguments that would make others' code hang are refused with a reason."""

from __future__ import annotations

from typing import Any

import pytest

from rods.bounds import beyond_bounds


def nested(depth: int) -> Any:
    value: Any = "x"
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"text": "x" * 1_000_000}, "too long"),
        ({"texts": ["x" * 9_000, "y" * 9_000]}, "too long"),
        ({"y" * 20_000: 1}, "too long"),
        ({"items": list(range(5_000))}, "too long"),
        ({"deep": nested(100_000)}, "nested too deeply"),
        ({"number": 10**400}, "too many digits"),
    ],
)
def test_what_is_too_large_is_named(arguments: dict[str, Any], why: str) -> None:
    assert why in (beyond_bounds(arguments) or "")


@pytest.mark.parametrize("arguments", [{}, {"a": None, "b": [True, 1.5, {"c": "x" * 1_000}]}])
def test_what_a_model_usually_says_passes(arguments: dict[str, Any]) -> None:
    assert beyond_bounds(arguments) is None
