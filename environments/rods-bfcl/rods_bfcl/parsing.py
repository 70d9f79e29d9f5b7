"""Call strings as BFCL records them, ``name(literals)``, read without ever evaluating them."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rods.types import ToolCall

MAX_CHARACTERS = 65_536  # the longest call in the benchmark has some 500
MAX_DEPTH = 32

_MAY_WARN = re.compile(r"\\|\d[A-Za-z_]")  # unknown escapes, and numbers that run into a word
_OPENING = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\s*\(")


class CallSyntaxError(ValueError):
    """The text is not one call with literal arguments."""


@dataclass(frozen=True, slots=True)
class ParsedCall:
    """A call with literal arguments; they need not be JSON (sets, bytes, complex numbers)."""

    name: str
    positional: tuple[Any, ...] = ()
    named: Mapping[str, Any] = field(default_factory=dict)


def parse_call(text: str) -> ParsedCall:
    """The call that ``text`` is: one name, literal arguments and nothing else."""
    if len(text) > MAX_CHARACTERS:
        raise CallSyntaxError(f"a call has at most {MAX_CHARACTERS} characters, not {len(text)}")
    source = text.lstrip(" \t")
    if not _OPENING.match(source):
        raise CallSyntaxError("a call reads name(parameter=value, ...)")
    node = _expression(source)
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        raise CallSyntaxError("a call reads name(parameter=value, ...)")
    return ParsedCall(
        name=node.func.id,
        positional=tuple(_literal(argument) for argument in node.args),
        named=_named(node.keywords),
    )


def _expression(source: str) -> ast.expr:
    try:
        if not _MAY_WARN.search(source):
            return _syntax_tree(source)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _syntax_tree(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise CallSyntaxError(str(error) or type(error).__name__) from error


def _syntax_tree(source: str) -> ast.expr:
    """The tree and nothing more: no code is made of it."""
    return ast.parse(source, mode="eval").body


def _named(keywords: Sequence[ast.keyword]) -> dict[str, Any]:
    named: dict[str, Any] = {}
    for keyword in keywords:
        if keyword.arg is None or keyword.arg in named:
            raise CallSyntaxError(f"keyword argument repeated or unpacked: {keyword.arg}")
        named[keyword.arg] = _literal(keyword.value)
    return named


def _literal(node: ast.expr) -> Any:
    if isinstance(node, ast.Constant):
        return node.value
    _check_depth(node, MAX_DEPTH)
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError) as error:
        raise CallSyntaxError("arguments are literals, not expressions") from error


def _check_depth(node: ast.AST, allowed: int) -> None:
    if allowed < 0:
        raise CallSyntaxError(f"arguments are nested more than {MAX_DEPTH} deep")
    for child in ast.iter_child_nodes(node):
        _check_depth(child, allowed - 1)


def to_tool_call(call: ParsedCall, parameters: Sequence[str]) -> ToolCall:
    """The same call with every argument named, in the order of the implementation's signature."""
    if len(call.positional) > len(parameters):
        raise CallSyntaxError(f"{call.name} takes {len(parameters)} arguments")
    arguments = dict(zip(parameters, call.positional, strict=False))
    if set(arguments) & set(call.named):
        raise CallSyntaxError(f"{call.name} got an argument twice")
    return ToolCall(name=call.name, arguments=arguments | dict(call.named))


def render_call(call: ToolCall) -> str:
    """The call as BFCL writes it; ``parse_call`` reads it back."""
    arguments = ", ".join(f"{name}={value!r}" for name, value in call.arguments.items())
    return f"{call.name}({arguments})"
