"""A call fits its schema, or it is said why not; jsonschema is the judge."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rods.structure.schema import CallValidator, compiled
from rods.types import ToolCall, ToolSpec

_SCHEMAS: list[dict[str, Any]] = [
    {"type": "string"},
    {"type": "integer", "minimum": 1, "maximum": 5},
    {"type": "number"},
    {"type": "boolean"},
    {"type": ["string", "null"]},
    {"enum": ["a", 2]},
    {"type": "array", "items": {"type": "string"}, "maxItems": 2},
    {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}},
    {"type": "object", "properties": {"k": {"type": "integer"}}, "required": ["k"]},
    {"type": "string", "pattern": "^[a-c]+$", "minLength": 2},
    {},
]
_VALUES = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(-9, 9), st.just(1.5), st.text("abcz", max_size=3)
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from("kx"), inner, max_size=2)
    ),
    max_leaves=5,
)


@settings(max_examples=150)
@given(st.sampled_from(_SCHEMAS), _VALUES)
def test_the_verdict_is_that_of_jsonschema(schema: dict[str, Any], value: Any) -> None:
    valid = jsonschema.Draft202012Validator(schema).is_valid(value)
    assert (compiled(schema)(value) is None) == valid


_SPEC = ToolSpec(
    name="mv",
    description="",
    parameters={
        "type": "object",
        "properties": {
            "source": {"type": "string"},
            "mode": {"type": "string", "enum": ["f", "i"]},
            "level": {"type": "integer", "default": None},
        },
        "required": ["source"],
    },
)


@pytest.mark.parametrize(
    ("name", "arguments", "problem"),
    [
        ("mv", {"source": "a"}, None),
        ("mv", {"source": "a", "level": None}, None),
        ("mv", {}, "lacks"),
        ("mv", {"source": 1}, "is no string"),
        ("mv", {"source": "a", "mode": "x"}, "is none of"),
        ("mv", {"source": "a", "to": "b"}, "no parameter 'to'"),
        ("cp", {}, "no tool 'cp'"),
    ],
)
def test_calls(name: str, arguments: dict[str, Any], problem: str | None) -> None:
    found = CallValidator({"mv": _SPEC}).problem(ToolCall(name=name, arguments=arguments))
    assert (found is None) if problem is None else (found is not None and problem in found)
