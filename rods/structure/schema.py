"""Does a call fit its tool's JSON Schema? Simulators accept nonsense, so nobody else asks.

The part of JSON Schema that tools use: type, enum, required, items, properties, bounds, length.
A schema is compiled to closures once; a check costs a few microseconds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sized
from typing import Any

from rods.types import ToolCall, ToolSpec

Problem = str | None
Checker = Callable[[Any], Problem]

_TYPES: dict[str, Callable[[Any], bool]] = {
    "string": lambda v: isinstance(v, str),
    "integer": lambda v: isinstance(v, int) and not isinstance(v, bool),
    "number": lambda v: isinstance(v, int | float) and not isinstance(v, bool),
    "boolean": lambda v: isinstance(v, bool),
    "array": lambda v: isinstance(v, list | tuple),
    "object": lambda v: isinstance(v, dict),
    "null": lambda v: v is None,
}


class CallValidator:
    """Checks calls against the specifications of one environment."""

    def __init__(self, specs: Mapping[str, ToolSpec]) -> None:
        self._checkers = {
            spec.name: {name: compiled(schema) for name, schema in spec.properties.items()}
            for spec in specs.values()
        }
        self._required = {spec.name: frozenset(spec.required) for spec in specs.values()}

    def problem(self, call: ToolCall) -> Problem:
        """What is wrong with the call; None: nothing."""
        checkers = self._checkers.get(call.name)
        if checkers is None:
            return f"there is no tool {call.name!r}"
        if missing := self._required[call.name] - call.arguments.keys():
            return f"{call.name} lacks {sorted(missing)}"
        for name, value in call.arguments.items():
            if name not in checkers:
                return f"{call.name} has no parameter {name!r}"
            if found := checkers[name](value):
                return f"{call.name}({name}): {found}"
        return None


def compiled(schema: Any) -> Checker:
    """A function that names the first violation of ``schema`` by a value."""
    if not isinstance(schema, dict):
        return lambda value: None
    checks = [*_type_checks(schema), *_bound_checks(schema), *_nested_checks(schema)]
    if len(checks) == 1:
        return checks[0]

    def check(value: Any) -> Problem:
        for one in checks:
            if found := one(value):
                return found
        return None

    return check


def _type_checks(schema: dict[str, Any]) -> list[Checker]:
    checks: list[Checker] = []
    named = schema.get("type")
    names = [named] if isinstance(named, str) else list(named or [])
    tests = [_TYPES[name] for name in names if name in _TYPES]
    optional = "default" in schema and schema["default"] is None
    if tests:
        checks.append(
            lambda v: (
                None
                if any(test(v) for test in tests) or (v is None and optional)
                else f"{v!r} is no {' or '.join(names)}"
            )
        )
    if isinstance(schema.get("enum"), list):
        allowed = schema["enum"]
        checks.append(lambda v: None if v in allowed else f"{v!r} is none of {allowed}")
    return checks


def _bound_checks(schema: dict[str, Any]) -> list[Checker]:
    checks: list[Checker] = []
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None or high is not None:
        bottom = float("-inf") if low is None else low
        top = float("inf") if high is None else high
        checks.append(
            lambda v: (
                None
                if not _TYPES["number"](v) or bottom <= v <= top
                else f"{v!r} is not within {low} and {high}"
            )
        )
    if isinstance(schema.get("pattern"), str):
        wanted = re.compile(schema["pattern"])
        checks.append(
            lambda v: (
                None
                if not isinstance(v, str) or wanted.search(v)
                else f"{v!r} does not match {wanted.pattern}"
            )
        )
    for key, sign in (("minItems", 1), ("minLength", 1), ("maxItems", -1), ("maxLength", -1)):
        if isinstance(schema.get(key), int):
            checks.append(_length_check(key, schema[key], sign))
    return checks


def _length_check(key: str, limit: int, sign: int) -> Checker:
    kind: tuple[type[Sized], ...] = (list, tuple) if key.endswith("Items") else (str,)
    return lambda v: (
        None
        if not isinstance(v, kind) or sign * len(v) >= sign * limit
        else f"{key} is {limit}, not {len(v)}"
    )


def _nested_checks(schema: dict[str, Any]) -> list[Checker]:
    checks: list[Checker] = []
    if isinstance(schema.get("items"), dict):
        item = compiled(schema["items"])
        checks.append(
            lambda v: (
                next((p for p in map(item, v) if p), None) if isinstance(v, list | tuple) else None
            )
        )
    if isinstance(schema.get("properties"), dict):
        fields = {name: compiled(part) for name, part in schema["properties"].items()}
        required = frozenset(schema.get("required") or ())
        checks.append(lambda v: _object_problem(v, fields, required))
    return checks


def _object_problem(value: Any, fields: dict[str, Checker], required: frozenset[str]) -> Problem:
    if not isinstance(value, dict):
        return None
    if missing := required - value.keys():
        return f"lacks {sorted(missing)}"
    return next((p for n, v in value.items() if n in fields and (p := fields[n](v))), None)
