"""What is wrong with settings, in the words of their reader: values, keys, paths."""

from __future__ import annotations

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


def expected(message: str) -> str:
    """Pydantic's sentence as the second half of ours."""
    return (
        message.removeprefix("Value error, ").replace("Input should be", "expected", 1).rstrip(".")
    )


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
