"""Calls as short text, one a line: ``name value value optional= value``.

Values of required parameters stand in the schema's order, all others follow their name::

    add_event bake 12 note= "two words"

A value is JSON but for one shortcut: a string without spaces and quotes stands bare where the
schema wants a string, and where it could not be taken for another value. ``:`` before a value says
that JSON follows. Reading takes literals only; every way to be malformed raises
``MalformedCallError``.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from rods.types import JsonObject, ToolCall, ToolSpec

MAX_CHARS = 20_000  # of one message; a policy that says more is malformed, not slow

_NAME = re.compile(r"[^\W\d][\w.\-]*")
_KEY = re.compile(r"([^\W\d][\w.\-]*)=")
_WORD = re.compile(r'[^\s"=]+')
_BARE = re.compile(r'(?![\[{:])[^\s"=\ud800-\udfff]+')


class MalformedCallError(ValueError):
    """Text that is no call; the message is short, because a policy has to read it."""


def say_call(call: ToolCall, tools: Mapping[str, ToolSpec]) -> str:
    """The call as one line; ``read_call`` gives the same call back.

    Raises ValueError for a tool name that is no bare word.
    """
    if not _NAME.fullmatch(call.name):
        raise ValueError(f"The tool name {call.name!r} is not a word of letters, digits, '_-.'.")
    spec = tools.get(call.name)
    ordered = _leading(spec, call.arguments)
    words = [call.name, *(_say(call.arguments[name], spec, name) for name in ordered)]
    for name, value in call.arguments.items():
        if name not in ordered:
            key = name if _NAME.fullmatch(name) else json.dumps(name)
            words += [key + "=", _say(value, spec, name)]
    return " ".join(words)


def read_call(line: str, tools: Mapping[str, ToolSpec]) -> ToolCall:
    """The call that the line says; raises MalformedCallError."""
    name, _, rest = line.strip().partition(" ")
    spec = tools.get(name)
    if spec is None:
        raise MalformedCallError("unknown tool")
    order = iter(_required(spec))
    arguments: JsonObject = {}
    for key, raw in _arguments(rest):
        parameter = key if key is not None else next(order, None)
        if parameter is None:
            raise MalformedCallError("too many values")
        if parameter in arguments:
            raise MalformedCallError("a value is given twice")
        arguments[parameter] = _value(raw, spec, parameter)
    return ToolCall(name=name, arguments=arguments)


def read_string(text: str) -> tuple[str, str]:
    """The JSON string that ``text`` begins with, and what stands behind it."""
    value, rest = _load_prefix(text)
    if not isinstance(value, str):
        raise MalformedCallError("broken string")
    return value, rest


def read_json(text: str) -> Any:
    """The one JSON value that ``text`` is, without NaN, infinities and lone surrogates."""
    value, rest = _load_prefix(text.strip())
    if rest:
        raise MalformedCallError("broken JSON value")
    return value


# ------------------------------------------------------------------------------- saying
def _required(spec: ToolSpec) -> list[str]:
    return [name for name in spec.properties if name in spec.required]


def _leading(spec: ToolSpec | None, arguments: Mapping[str, Any]) -> list[str]:
    """Required parameters up to the first that is missing: only these may stand without a name."""
    names = []
    for name in _required(spec) if spec else ():
        if name not in arguments:
            break
        names.append(name)
    return names


def _is_string(spec: ToolSpec | None, parameter: str) -> bool:
    schema = spec.properties.get(parameter) if spec else None
    return isinstance(schema, dict) and schema.get("type") == "string"


def _say(value: Any, spec: ToolSpec | None, parameter: str) -> str:
    wants_string = _is_string(spec, parameter)
    if isinstance(value, str):
        bare = _BARE.fullmatch(value) and (wants_string or not _is_json(value))
        return value if bare else json.dumps(value)
    text = json.dumps(value, allow_nan=False)
    return text if text[0] in "[{" or not wants_string else ":" + text


def _is_json(text: str) -> bool:
    try:
        read_json(text)
    except MalformedCallError:
        return False
    return True


# ------------------------------------------------------------------------------- reading
class _Bare(str):
    """A value without quotes: the schema decides what it is."""

    __slots__ = ()


def _arguments(text: str) -> Iterator[tuple[str | None, Any]]:
    """Pairs of the parameter's name, if it is given, and its value."""
    key: str | None = None
    while text := text.lstrip():
        if key is None and (found := _KEY.match(text)):
            key, text = found.group(1), text[found.end() :]
            continue
        value, text = _next_value(text)
        if key is None and text.startswith("=") and isinstance(value, str):
            key, text = str(value), text[1:]
            continue
        if text and not text[0].isspace():
            raise MalformedCallError("broken value")
        yield key, value
        key = None
    if key is not None:
        raise MalformedCallError("a value is missing")


def _next_value(text: str) -> tuple[Any, str]:
    if text[0] == '"':
        return read_string(text)
    if text[0] in "[{:":
        return _load_prefix(text[1:] if text[0] == ":" else text)
    found = _WORD.match(text)
    if found is None:
        raise MalformedCallError("broken value")
    return _Bare(found.group()), text[found.end() :]


def _value(raw: Any, spec: ToolSpec, parameter: str) -> Any:
    if not isinstance(raw, _Bare):
        return raw
    if _is_string(spec, parameter):
        return str(raw)
    try:
        return read_json(raw)
    except MalformedCallError:
        return str(raw)


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text[:20]} is no JSON number")
    return value


def _no_constant(text: str) -> Any:
    raise ValueError(f"{text} is no JSON value")


_DECODER = json.JSONDecoder(parse_float=_finite, parse_constant=_no_constant)


def _load_prefix(text: str) -> tuple[Any, str]:
    try:
        value, end = _DECODER.raw_decode(text)
        json.dumps(value, ensure_ascii=False).encode()  # no lone surrogates
    except (ValueError, RecursionError) as error:
        raise MalformedCallError("broken JSON value") from error
    return value, text[end:]
