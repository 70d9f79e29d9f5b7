"""Closed tables of a world: what its lookup tools answer for each value they accept.

A user says "San Francisco", the argument is "SFO": no text holds the code, but a tool maps one to
the other. Every read-only tool with one text parameter whose values the environment suggests is
such a table.
"""

from __future__ import annotations

from collections.abc import Iterator

from rods.errors import WorldError
from rods.interfaces import Environment, Session
from rods.structure.leaves import parse, walk
from rods.types import JsonValue, Task, ToolCall, ToolSpec

_MOST = 200  # values a table is asked for


def lookup_tables(environment: Environment) -> dict[str, dict[str, str]]:
    """Tool -> value it accepts -> the one text it answers; tools with other answers: none."""
    wanted = {spec.name: spec for spec in environment.tools().values() if _is_lookup(spec)}
    tables: dict[str, dict[str, str]] = {name: {} for name in wanted}
    asked: set[tuple[str, tuple[str, ...]]] = set()
    for task in environment.tasks("train") if wanted else ():
        for name in sorted(wanted.keys() & set(task.tools)):
            phrases = _phrases(environment, task, wanted[name])
            if len(phrases) > 1 and (name, phrases) not in asked:
                asked.add((name, phrases))
                tables[name] |= _table(environment, task, wanted[name], phrases)
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
    except WorldError:
        return {}
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
