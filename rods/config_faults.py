"""What is wrong with settings, in the words of their reader: values, keys, paths."""

from __future__ import annotations

import json
import types
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

SHOWN = 120  # characters of a faulty value in a message


def innermost(error: ValidationError) -> list[dict[str, Any]]:
    """The faults, without those of a container that only lacks its faulty items."""
    faults: list[dict[str, Any]] = [dict(fault) for fault in error.errors()]
    places = [fault["loc"] for fault in faults]
    return [
        fault
        for fault, loc in zip(faults, places, strict=True)
        if fault["type"] != "too_short"
        or not any(len(p) > len(loc) and p[: len(loc)] == loc for p in places)
    ]


def shown(value: Any) -> str:
    """The value as Python writes it, cut where it is long."""
    try:
        return cut(repr(value))
    except ValueError:  # a number with more digits than Python converts
        return "a gigantic number"


def cut(text: str) -> str:
    """The text, or its beginning where it is long."""
    return f"{text[:SHOWN]}..." if len(text) > SHOWN else text


def expected(fault: Mapping[str, Any], model: type[BaseModel]) -> str:
    """Pydantic's sentence as the second half of ours; what Python calls a tuple is a list."""
    wanted = _annotation(model, fault["loc"])
    if fault["type"] in ("tuple_type", "list_type"):
        return f"expected a list, such as {_list_like(wanted, fault['input'])}"
    if fault["type"] in ("model_type", "dict_type", "model_attributes_type"):
        inner = next(_models(wanted), None)
        return f"expected a table{f', such as {_table_like(inner)}' if inner else ''}"
    if fault["type"] == "too_short":
        least = fault["ctx"]["min_length"]
        return f"expected at least {least} item{'s' if least != 1 else ''}"
    message: str = fault["msg"]
    return (
        message.removeprefix("Value error, ").replace("Input should be", "expected", 1).rstrip(".")
    )


def deeper(model: type[BaseModel], table: str, key: str) -> str:
    """Where a key that is unknown in a table does exist: a hint, or nothing."""
    for name, info in model.model_fields.items():
        inner = next(_models(info.annotation), None)
        if inner is None or key not in inner.model_fields:
            continue
        if get_origin(info.annotation) in (tuple, list):
            return f"It belongs to {table}.{name}: -o '{table}.{name}=[{{{key}=...}}]'."
        return f"It belongs to {table}.{name}: -o {table}.{name}.{key}=..."
    return ""


def _annotation(model: type[BaseModel], loc: Sequence[str | int]) -> Any:
    """The type of what is expected at ``loc``; None where that cannot be told."""
    found: Any = model
    for part in loc:
        if isinstance(part, int):
            found = next(iter(get_args(found)), None)
            continue
        inner = next(_models(found), None)
        info = inner.model_fields.get(part) if inner else None
        found = info.annotation if info else None
    return found


def _list_like(wanted: Any, given: Any) -> str:
    """An example of a list of this type: of what was given, where that may be its item."""
    inner = next(_models(wanted), None)
    if inner is not None:
        return f"[{_table_like(inner, given if isinstance(given, Mapping) else None)}]"
    return f"[{_toml(given)}]" if isinstance(given, str) else '["...", "..."]'


def _table_like(model: type[BaseModel], given: Mapping[str, Any] | None = None) -> str:
    """An example of a table: what was given, or two of its fields with their defaults."""
    fields = {name: info.default for name, info in model.model_fields.items()}
    plain = [(k, v) for k, v in fields.items() if isinstance(v, str | int | float) and v != ""]
    known = [(k, v) for k, v in (given or {}).items() if k in fields]
    return f"{{{', '.join(f'{k} = {_toml(v)}' for k, v in known or plain[:2])}}}"


def _toml(value: Any) -> str:
    return cut(json.dumps(value, default=str))


def leaves(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[Any, Any]]:
    """Every plain value inside tables and lists, with its path."""
    inside: Any = ()
    if isinstance(value, Mapping):
        inside = value.items()
    elif isinstance(value, list | tuple):
        inside = enumerate(value)
    else:
        yield path, value
    for key, item in inside:
        yield from leaves(item, (*path, key))


def is_path(model: type[BaseModel], path: Sequence[str | int]) -> bool:
    """Whether the field at ``path`` holds paths."""
    names = [part for part in path if isinstance(part, str)]
    for name in names:
        info = model.model_fields.get(name)
        if info is None:
            return False
        if name == names[-1]:
            return Path in (info.annotation, *get_args(info.annotation))
        model = next(_models(info.annotation), BaseModel)
    return False


def known_keys(model: type[BaseModel], loc: Sequence[str | int]) -> list[str]:
    """The keys known at ``loc`` inside a model; empty where it is no model."""
    for part in loc:
        if isinstance(part, str):
            info = model.model_fields.get(part)
            inner = next(_models(info.annotation), None) if info else None
            if inner is None:
                return []
            model = inner
    return list(model.model_fields)


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    elif get_origin(annotation) in (Union, types.UnionType, tuple, list, dict):
        for argument in get_args(annotation):
            yield from _models(argument)
