"""Call strings are read, never evaluated."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rods_bfcl.parsing import CallSyntaxError, ParsedCall, parse_call, render_call, to_tool_call

from rods.types import ToolCall


@pytest.mark.parametrize(
    ("text", "call"),
    [
        ("pwd()", ParsedCall("pwd")),
        ("cd('documents')", ParsedCall("cd", ("documents",))),
        ("  ls ( a = True )", ParsedCall("ls", (), {"a": True})),
        ("mean(numbers=[1, -2.5, 3e2])", ParsedCall("mean", (), {"numbers": [1, -2.5, 300.0]})),
        ("edit(u={'a': None})", ParsedCall("edit", (), {"u": {"a": None}})),
        ("echo(content='a' \"b\")", ParsedCall("echo", (), {"content": "ab"})),
        (r"grep(pattern='\d')", ParsedCall("grep", (), {"pattern": "\\d"})),
        ("cat('naïve.txt')", ParsedCall("cat", ("naïve.txt",))),
    ],
)
def test_a_call_with_literal_arguments_is_read(text: str, call: ParsedCall) -> None:
    assert parse_call(text) == call


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ls",
        "ls(",
        "ls();ls()",
        "x = ls()",
        "a.b()",
        "(ls)()",
        "ls()()",
        "ls(cd('x'))",
        "ls(a=x)",
        "ls(a=1+1)",
        "ls(a=f'{1}')",
        "ls(*[1])",
        "ls(**{'a': 1})",
        "ls(a=1, a=2)",
        "ls(a=[x for x in []])",
        "ls(a=lambda: 1)",
        "__import__('os').system('id')",
        "().__class__",
        "ｌｓ()",
        "ls(a=" + "9" * 5000 + ")",
        "ls(a=" + "(" * 5000 + ")" * 5000 + ")",
        "ls(a=" + "[" * 60 + "]" * 60 + ")",
        "ls(a=" + "-" * 60_000 + "1)",
        "ls(a=" + "1+" * 30_000 + "1)",
        "ls(a=b" + ".c" * 30_000 + ")",
        "echo(content='" + "a" * 1_000_000 + "')",
        "ls(a='\0')",
    ],
)
def test_everything_else_is_refused(text: str) -> None:
    with pytest.raises(CallSyntaxError):
        parse_call(text)


_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
_NAMES = st.sampled_from(["ls", "file_name", "a1", "x_"])


@given(_NAMES, st.dictionaries(_NAMES, _JSON))
def test_what_is_written_is_read_back(name: str, arguments: dict[str, Any]) -> None:
    call = ToolCall(name=name, arguments=arguments)
    assert to_tool_call(parse_call(render_call(call)), ()) == call


@given(st.text(max_size=60))
def test_any_text_is_a_call_or_an_error(text: str) -> None:
    try:
        call = parse_call(text)
    except CallSyntaxError:
        return
    assert call.name.isidentifier()


def test_literals_beyond_json_are_kept_for_recordings() -> None:
    call = parse_call("f({1, 2}, b'x', 1e999, ...)")
    assert call.positional[:2] == ({1, 2}, b"x")
    assert math.isinf(call.positional[2])


def test_positions_become_names() -> None:
    call = to_tool_call(parse_call("mv('a', destination='b')"), ("source", "destination"))
    assert call == ToolCall(name="mv", arguments={"source": "a", "destination": "b"})


@pytest.mark.parametrize("text", ["mv(1, 2, 3)", "mv(1, source=2)"])
def test_arguments_that_do_not_fit_the_signature_are_refused(text: str) -> None:
    with pytest.raises(CallSyntaxError):
        to_tool_call(parse_call(text), ("source", "destination"))
