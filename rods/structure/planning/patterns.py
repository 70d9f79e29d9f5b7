"""Places in states and answers, alike over tasks: keys that are data become ``*``.

A pattern is a tuple of steps: a field's name, ``*`` for any key or index, ``#key`` at the end for
the keys themselves, ``~`` for the words of a text.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rods.structure.leaves import Path, Scalar, tokens

Pattern = tuple[str, ...]
ANY, KEY, WORD = "*", "#key", "~"
_MANY = 400  # leaves of one value that are looked at
_LONG = 2000  # characters of a text that are cut into words


def places(value: Any, at: Pattern = ()) -> Iterator[tuple[Pattern, Scalar]]:
    """Every scalar and every data key with its pattern."""
    if isinstance(value, dict):
        keyed, alike = is_keyed(value), _alike(value)
        for key, item in value.items():
            yield (*at, KEY), key
            yield from places(item, (*at, ANY if keyed else key))
            if alike and not keyed:  # fields, or names and their values: both are possible
                yield (*at, ANY), item
    elif isinstance(value, list | tuple):
        for item in value:
            yield from places(item, (*at, ANY))
    else:
        yield at, value
        if isinstance(value, str) and 1 < len(value) <= _LONG and not value.isalnum():
            words = list(tokens(value))
            if len(words) > 1:
                yield from (((*at, WORD), word) for word in words)


def is_keyed(value: dict[str, Any]) -> bool:
    """The keys are data: entries of one shape, or names that no programmer gives to fields.

    A few strange names among numbers and texts are fields all the same: a quote has a price, a
    volume and an MA(5).
    """
    items = list(value.values())
    strange = sum(not key.replace("_", "a").isalnum() or key[:1].isdigit() for key in value)
    if strange:
        return 2 * strange >= len(items) or any(isinstance(item, dict | list) for item in items)
    if len(items) < 2 or not all(isinstance(item, dict) for item in items):
        return False
    first = items[0].keys()
    return all(item.keys() == first for item in items)


def _alike(value: dict[str, Any]) -> bool:
    """Scalars of one type throughout."""
    kinds = {type(item) for item in value.values()}
    return len(value) > 1 and len(kinds) == 1 and not kinds & {dict, list, bool}


def values_at(value: Any, pattern: Pattern) -> list[Scalar]:
    """All scalars at the pattern, in document order."""
    found = [value]
    for step in pattern:
        found = [item for one in found for item in _step(one, step)]
        if not found:
            return []
    return [item for item in found if not isinstance(item, dict | list)]


def _step(value: Any, step: str) -> Iterator[Any]:
    if step == WORD:
        if isinstance(value, str) and len(value) <= _LONG:
            yield from tokens(value)
    elif isinstance(value, dict):
        if step == KEY:
            yield from value
        elif step == ANY:
            yield from list(value.values())[:_MANY]
        elif step in value:
            yield value[step]
    elif isinstance(value, list) and step == ANY:
        yield from value[:_MANY]


def pattern_of(answer: Any, path: Path) -> Pattern:
    """The pattern of a path within ``answer``."""
    steps: list[str] = []
    for step in path:
        if isinstance(step, tuple):
            steps.append(KEY if step[0] == "key" else WORD)
            break
        if isinstance(answer, dict):
            steps.append(ANY if is_keyed(answer) else str(step))
        else:
            steps.append(ANY)
        answer = answer[step]
    return tuple(steps)
