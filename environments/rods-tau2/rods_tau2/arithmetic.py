"""The tool ``calculate`` without ``eval``: sums, differences, products, quotients and powers.

Upstream gives the model's text to ``eval``, where ``9**9**9**9`` never ends.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping

_LONGEST = 500  # characters
_LARGEST_EXPONENT = 64
_OPERATORS: Mapping[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
}


def calculate(expression: str) -> str:
    """The value, rounded to two decimals, as upstream writes it; ValueError if there is none."""
    if not isinstance(expression, str) or len(expression) > _LONGEST:
        raise ValueError(f"Expected an expression of at most {_LONGEST} characters")
    if not all(char in "0123456789+-*/(). " for char in expression):
        raise ValueError("Invalid characters in expression")
    try:
        tree = ast.parse(expression.strip(), mode="eval")
        return str(round(float(_value(tree.body)), 2))
    except (SyntaxError, RecursionError, MemoryError) as error:
        raise ValueError("Invalid expression") from error
    except (ArithmeticError, TypeError) as error:
        raise ValueError(str(error)) from error


def _value(node: ast.expr) -> float:
    match node:
        case ast.Constant(value=int() | float()):
            number: float = node.value  # type: ignore[assignment]
            return number
        case ast.UnaryOp(op=ast.USub()):
            return -_value(node.operand)
        case ast.UnaryOp(op=ast.UAdd()):
            return _value(node.operand)
        case ast.BinOp(op=ast.Pow()):
            return _power(_value(node.left), _value(node.right))
        case ast.BinOp() if type(node.op) in _OPERATORS:
            return _OPERATORS[type(node.op)](_value(node.left), _value(node.right))
    raise ValueError("Invalid expression")


def _power(base: float, exponent: float) -> float:
    if abs(exponent) > _LARGEST_EXPONENT or abs(base) > 1e6:
        raise ValueError("The power is too large")
    value = base**exponent
    if not isinstance(value, int | float):
        raise ValueError("The power is no real number")
    return value
