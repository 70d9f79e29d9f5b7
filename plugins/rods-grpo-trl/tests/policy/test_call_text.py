"""Calls as text: whatever can be called can be said, and whatever is said is read or malformed."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rods_grpo_trl.call_text import MalformedCallError, read_call, say_call

from rods.types import ToolCall, ToolSpec

TYPES: dict[str, Any] = {"string": str, "integer": int, "number": float, "array": list}
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
PARAMETERS = st.text(min_size=1, max_size=8) | st.sampled_from(["title", "a.b", "x=y", "true"])
NAMES = st.from_regex(r"[a-zA-Z_][\w.\-]{0,10}", fullmatch=True)


@st.composite
def specs(draw: st.DrawFn) -> ToolSpec:
    """Any tool: parameters of any name and type, some of them required."""
    names = draw(st.lists(PARAMETERS, max_size=4, unique=True))
    properties = {n: {"type": draw(st.sampled_from([*TYPES]))} for n in names}
    required = [n for n in names if draw(st.booleans())]
    schema: Any = {"type": "object", "properties": properties, "required": required}
    return ToolSpec(name=draw(NAMES), description="", parameters=schema)


@given(st.data())
def test_every_call_comes_back_from_its_text(data: st.DataObject) -> None:
    spec = data.draw(specs())
    keys = st.sampled_from([*spec.properties]) | PARAMETERS if spec.properties else PARAMETERS
    arguments = data.draw(st.dictionaries(keys, JSON, max_size=4))
    call = ToolCall(name=spec.name, arguments=arguments)
    tools = {spec.name: spec}
    line = say_call(call, tools)
    assert "\n" not in line
    back = read_call(line, tools)
    assert _canonical(back) == _canonical(call)


def _canonical(call: ToolCall) -> str:
    """JSON, because ``1 == True == 1.0`` in Python."""
    return json.dumps([call.name, call.arguments], sort_keys=True)


@given(st.text())
def test_any_text_is_a_call_or_malformed(text: str) -> None:
    with contextlib.suppress(MalformedCallError):
        read_call(f"write {text}", {"write": WRITE})


WRITE = ToolSpec(
    name="write",
    description="",
    parameters={
        "type": "object",
        "properties": {
            "title": {"type": "string"},
            "lines": {"type": "integer"},
            "tags": {"type": "array"},
        },
        "required": ["title", "lines"],
    },
)


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ({"title": "bake", "lines": 3}, "write bake 3"),
        ({"title": "12", "lines": 3}, "write 12 3"),
        ({"title": "two words", "lines": 3}, 'write "two words" 3'),
        ({"title": "a", "lines": 3, "tags": ["b"]}, 'write a 3 tags= ["b"]'),
        ({"title": 12, "lines": "3"}, 'write :12 "3"'),
        ({"lines": 3}, "write lines= 3"),
        ({"title": "", "lines": None}, 'write "" null'),
    ],
)
def test_calls_read_like_short_commands(arguments: dict[str, Any], line: str) -> None:
    assert say_call(ToolCall(name="write", arguments=arguments), {"write": WRITE}) == line


@pytest.mark.parametrize(
    "line",
    [
        "",
        "erase bake",
        "write a 1 2",
        "write a title= b",
        "write a lines=",
        'write "a',
        'write "a"b',
        "write [1, 2",
        "write a :1e999",
        "write a :NaN",
        "write " + "[" * 5000,
        "write a " + ":" + "9" * 5000,
        'write "\\ud800" 1',
        "__import__('os')",
    ],
)
def test_what_is_no_call_is_malformed(line: str) -> None:
    with pytest.raises(MalformedCallError) as caught:
        read_call(line, {"write": WRITE})
    assert len(str(caught.value)) < 60  # a policy has to read it


def test_a_tool_name_with_spaces_cannot_be_said() -> None:
    with pytest.raises(ValueError, match="not a word"):
        say_call(ToolCall(name="write it"), {})
