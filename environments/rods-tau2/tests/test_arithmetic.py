"""``calculate`` gives upstream's answers, and ends."""

from __future__ import annotations

import pytest
from rods_tau2.arithmetic import calculate


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("2 + 2", "4.0"),
        ("(153.23 - 46.85) * 2", "212.76"),
        ("-3 / 4", "-0.75"),
        ("7 // 2", "3.0"),
        ("2**3", "8.0"),
        (" 1", "1.0"),
    ],
)
def test_a_value_is_rounded_to_two_decimals(expression: str, value: str) -> None:
    assert calculate(expression) == value


@pytest.mark.parametrize(
    "expression",
    ["", "2 +", "9**9**9**9", "1/0", "(" * 400, "__import__('os')", "1" * 501, "(1, 2)", "1.2.3"],
)
def test_what_has_no_value_is_an_error(expression: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        calculate(expression)
