"""Closed tables of a world: what its lookup tools answer for each value they accept.

A user says "San Francisco", the argument is "SFO": no text holds the code, but a tool maps one to
the other. Every read-only tool with one text parameter whose values the environment suggests is
such a table.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from rods.errors import WorldError
from rods.interfaces import Environment, Session
from rods.structure.leaves import parse, walk
from rods.types import JsonValue, Task, ToolCall, ToolSpec

_MOST = 200  # values a table is asked for
_PATIENCE = 3  # outages of a tool before they are the world's


def lookup_tables(environment: Environment) -> dict[str, dict[str, str]]:
    """Tool -> value it accepts -> the one text it answers; tools with other answers: none.

    A world that is out of order in one task is asked in the next; one that is in so many is a
    WorldError: without its table, what it answers would count as the user's own words.
    """
    tables: dict[str, dict[str, str]] = {}
    asked: set[tuple[str, tuple[str, ...]]] = set()
    outages: Counter[str] = Counter()
    for task, spec, phrases in _questions(environment):
        if (spec.name, phrases) in asked:
            continue
        try:
            tables.setdefault(spec.name, {}).update(_table(environment, task, spec, phrases))
            asked.add((spec.name, phrases))
        except WorldError:
            outages[spec.name] += 1
            if outages[spec.name] == _PATIENCE:
                raise
    return {name: table for name, table in tables.items() if len(table) > 1}


def suggested_values(environment: Environment) -> frozenset[str]:
    """Every text that the environment suggests for some parameter in some train task.

    They are public by contract: an evaluation task that uses one holds nothing back.
    """
    seen: set[tuple[JsonValue, ...]] = set()
    for task in environment.tasks("train"):
        for name in task.tools_at(len(task.turns)):
            for parameter in environment.tools()[name].properties:
                values = environment.suggest(name, parameter, task.initial_state)
                seen.add(tuple(v for v in values if isinstance(v, str)))
    return frozenset(str(value) for values in seen for value in values)


def _questions(environment: Environment) -> Iterator[tuple[Task, ToolSpec, tuple[str, ...]]]:
    """The lookup tools of each train task, with the values to ask them for."""
    wanted = {spec.name: spec for spec in environment.tools().values() if _is_lookup(spec)}
    for task in environment.tasks("train") if wanted else ():
        for name in sorted(wanted.keys() & set(task.tools)):
            phrases = _phrases(environment, task, wanted[name])
            if len(phrases) > 1:
                yield task, wanted[name], phrases


def _is_lookup(spec: ToolSpec) -> bool:
    if spec.effect != "read" or len(spec.properties) != 1:
        return False
    (schema,) = spec.properties.values()
    return isinstance(schema, dict) and schema.get("type") == "string"


def _phrases(environment: Environment, task: Task, spec: ToolSpec) -> tuple[str, ...]:
    (parameter,) = spec.properties
    values = environment.suggest(spec.name, parameter, task.initial_state)[:_MOST]
    return tuple(str(value) for value in values)


def _table(
    environment: Environment, task: Task, spec: ToolSpec, phrases: tuple[str, ...]
) -> dict[str, str]:
    (parameter,) = spec.properties
    session = environment.open(task)
    try:
        return dict(_answers(session, spec.name, parameter, phrases))
    finally:
        session.close()


def _answers(
    session: Session, tool: str, parameter: str, phrases: tuple[str, ...]
) -> Iterator[tuple[str, str]]:
    for phrase in phrases:
        result = session.call(ToolCall(name=tool, arguments={parameter: phrase}))
        leaves: list[object] = [leaf for _, leaf in walk(parse(result.content))]
        if not result.error and len(leaves) == 1 and isinstance(leaves[0], str) and leaves[0]:
            yield phrase, leaves[0]
