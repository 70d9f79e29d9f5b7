"""Leaves of JSON values and of the text that tools answer with, each with a path.

A path is a tuple of keys and indices. Inside a string the last element is ``("~", i)``: the i-th
token of that string. The same path read from another result gives the value that took its place.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

Path = tuple[Any, ...]
Scalar = str | int | float | bool | None

_TOKEN = re.compile(
    r"'([^'\n]{1,200})'|\"([^\"\n]{1,200})\"|(-?\d+(?:\.\d+)?)(?![\w.])|([^\s,;:()\[\]{}'\"]+)"
)


def walk(value: Any, path: Path = ()) -> Iterator[tuple[Path, Scalar]]:
    """Every scalar in a JSON value with its path, in document order."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from walk(item, (*path, key))
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from walk(item, (*path, index))
    else:
        yield path, value


def tokens(text: str) -> Iterator[str]:
    """The tokens of a plain text: quoted strings without quotes, numbers, other words."""
    return (found[found.lastindex or 0] for found in _TOKEN.finditer(text))


def parse(content: str) -> Any:
    """A tool's answer as JSON where it is JSON, else the text itself."""
    if content[:1] in '{["-0123456789tfn':
        try:
            return json.loads(content)
        except ValueError:
            return content
    return content


def find(answer: Any, value: Scalar) -> Path | None:
    """Where a parsed answer holds ``value``: as a leaf, as a key, or as a token of a string."""
    inside: Path | None = None
    for path, leaf in walk(answer):
        if same(leaf, value):
            return path
        if inside is None and isinstance(leaf, str) and str(value) in leaf:
            inside = _find_token(leaf, value, path)
    return inside or _find_key(answer, value)


def read(answer: Any, path: Path) -> Scalar:
    """The scalar at ``path``; LookupError where the answer has another shape."""
    for step in path:
        if isinstance(step, tuple):
            mark, index = step
            answer = _nth(answer if mark == "key" else tokens(answer), index)
        else:
            answer = answer[step]
    if isinstance(answer, dict | list):
        raise LookupError(f"no scalar at {path}")
    return answer  # type: ignore[no-any-return]


def _nth(items: Iterable[Any], index: int) -> Any:
    for item in islice(items, index, None):
        return item
    raise LookupError(f"there is no item {index}")


def same(leaf: Scalar, value: Scalar) -> bool:
    """Equal as an argument would be: numbers by value, strings exactly, never a boolean as 0."""
    if isinstance(leaf, bool) or isinstance(value, bool):
        return leaf is value
    if isinstance(leaf, str) or isinstance(value, str):
        return str(leaf) == str(value) and leaf is not None and value is not None
    return leaf == value


def like(value: Scalar, model: Scalar) -> Scalar:
    """``value`` in the type of ``model``; ValueError where it cannot be."""
    if isinstance(model, bool) or model is None:
        return model
    if isinstance(model, str):
        return value if isinstance(value, str) else _spell(value)
    number = float(value) if value is not None else 0.0
    if isinstance(model, int):
        if number != int(number):
            raise ValueError(f"{value!r} is no integer")
        return int(number)
    return number


def _spell(value: Scalar) -> str:
    return json.dumps(value) if isinstance(value, bool) or value is None else str(value)


def _find_token(text: str, value: Scalar, path: Path) -> Path | None:
    for index, token in enumerate(tokens(text)):
        if token == str(value):
            return (*path, ("~", index))
    return None


def _find_key(answer: Any, value: Scalar, path: Path = ()) -> Path | None:
    """Data-keyed dictionaries: the key itself is the value, found by its position."""
    if isinstance(answer, dict):
        for index, (key, item) in enumerate(answer.items()):
            if same(key, value):
                return (*path, ("key", index))
            if isinstance(item, dict | list) and (found := _find_key(item, value, (*path, key))):
                return found
    elif isinstance(answer, list):
        for index, item in enumerate(answer):
            if isinstance(item, dict | list) and (found := _find_key(item, value, (*path, index))):
                return found
    return None
