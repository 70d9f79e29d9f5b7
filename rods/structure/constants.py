"""Values that belong to a parameter rather than to a task."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from rods.structure.leaves import Scalar, walk
from rods.types import Task, ToolSpec

Key = tuple[str, Scalar]  # the type keeps 1 apart from True and "1"
Constants = Mapping[tuple[str, str], frozenset[Key]]  # (tool, parameter) -> values

_USUAL, _USES = 0.8, 8  # a value with this share of at least so many uses is the usual one


def key(value: Scalar) -> Key:
    """The value with its type; integers and floats of equal value are one."""
    return ("text", value) if isinstance(value, str) else ("number", value)


def constants(specs: Mapping[str, ToolSpec], tasks: Iterable[Task] = ()) -> Constants:
    """Enum values and defaults of the schemas, and what nearly all references of ``tasks`` use.

    A simulator's unwritten constants (a pedal's position of 1.0) are found only by the latter. Ids
    are not: a world that counts from a fixed number repeats them in every task.
    """
    found = {
        (spec.name, name): set(_declared(schema))
        for spec in specs.values()
        for name, schema in spec.properties.items()
    }
    for parameter, counts in _uses(tasks).items():
        value, count = counts.most_common(1)[0]
        usual = count >= _USES and count >= _USUAL * counts.total()
        if usual and not _looks_like_id(value[1]):
            found.setdefault(parameter, set()).add(value)
    return {parameter: frozenset(values) for parameter, values in found.items()}


def _declared(schema: Any) -> Iterable[Key]:
    parts = (schema, schema.get("items")) if isinstance(schema, dict) else ()
    for part in parts:
        if isinstance(part, dict):
            values = [*(part.get("enum") or []), part.get("default")]
            yield from (key(v) for v in values if isinstance(v, str | int | float))


def _uses(tasks: Iterable[Task]) -> Mapping[tuple[str, str], Counter[Key]]:
    counts: dict[tuple[str, str], Counter[Key]] = defaultdict(Counter)
    for task in tasks:
        for turn in task.turns:
            for call in turn.reference:
                for parameter, argument in call.arguments.items():
                    leaves = (leaf for _, leaf in walk(argument) if leaf is not None)
                    counts[call.name, parameter].update(map(key, leaves))
    return counts


def _looks_like_id(value: Scalar) -> bool:
    if isinstance(value, str):
        return sum(ch.isdigit() for ch in value) >= 2 or " " in value
    return isinstance(value, int | float) and abs(value) >= 100
