"""Closed tables of a world: what its lookup tools answer for each value they accept.

A user says "San Francisco", the argument is "SFO": no text holds the code, but a tool maps one to
the other. Every read-only tool with one text parameter whose values the environment suggests is
such a table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rods.errors import WorldError
from rods.interfaces import Environment, Session
from rods.structure.leaves import parse, walk
from rods.types import Task, ToolCall, ToolSpec

_MOST = 200  # values a table is asked for


def lookup_tables(environment: Environment) -> dict[str, dict[str, str]]:
    """Tool -> value it accepts -> the one text it answers; tools with other answers: none."""
    wanted = {spec.name: spec for spec in environment.tools().values() if _is_lookup(spec)}
    tables: dict[str, dict[str, str]] = {}
    if not wanted:
        return tables
    for task in environment.tasks("train"):
        for name in task.tools:
            if name in wanted and name not in tables:
                tables[name] = _table(environment, task, wanted[name])
        if len(tables) == len(wanted):
            break
    return {name: table for name, table in tables.items() if len(table) > 1}


def _is_lookup(spec: ToolSpec) -> bool:
    if spec.effect != "read" or len(spec.properties) != 1:
        return False
    (schema,) = spec.properties.values()
    return isinstance(schema, dict) and schema.get("type") == "string"


def _table(environment: Environment, task: Task, spec: ToolSpec) -> dict[str, str]:
    (parameter,) = spec.properties
    phrases = environment.suggest(spec.name, parameter, task.initial_state)[:_MOST]
    if len(phrases) < 2:
        return {}
    session = environment.open(task)
    try:
        return dict(_answers(session, spec.name, parameter, [str(p) for p in phrases]))
    except WorldError:
        return {}
    finally:
        session.close()


def _answers(
    session: Session, tool: str, parameter: str, phrases: list[str]
) -> Iterator[tuple[str, str]]:
    for phrase in phrases:
        result = session.call(ToolCall(name=tool, arguments={parameter: phrase}))
        leaves: list[object] = [leaf for _, leaf in walk(parse(result.content))]
        if not result.error and len(leaves) == 1 and isinstance(leaves[0], str) and leaves[0]:
            yield phrase, leaves[0]


Tables = Mapping[str, Mapping[str, str]]
