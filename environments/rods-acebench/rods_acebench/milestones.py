"""Milestones of the answers as calls, where they are calls: about two fifths are not.

They are texts such as ``[send_message(sender_name='Eve', message='Don't')]``. What does not parse
as calls with literal arguments is no reference; nothing is ever evaluated.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Any

from rods.types import ToolCall


def references(milestones: Sequence[Any]) -> Iterator[tuple[ToolCall, ...]]:
    """Each way of the answers that parses as a whole."""
    ways = milestones if any(isinstance(m, list) for m in milestones) else [milestones]
    for way in ways:
        calls = _calls(way)
        if calls:
            yield calls


def _calls(way: Sequence[Any]) -> tuple[ToolCall, ...] | None:
    try:
        return tuple(call for text in way for call in parse_calls(str(text)))
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        return None


def parse_calls(text: str) -> list[ToolCall]:
    """``[name(key=literal, ...), ...]``; a ValueError or SyntaxError otherwise."""
    body = ast.parse(text.strip(), mode="eval").body
    nodes = body.elts if isinstance(body, ast.List) else [body]
    return [_call(node) for node in nodes]


def _call(node: ast.expr) -> ToolCall:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.args:
        raise ValueError("not a call with named arguments")
    arguments = {str(k.arg): ast.literal_eval(k.value) for k in node.keywords if k.arg}
    if len(arguments) != len(node.keywords):
        raise ValueError("arguments have names, each once")
    return ToolCall(name=node.func.id, arguments=arguments)
