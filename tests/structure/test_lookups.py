"""Lookup tools are tables; an outage is no empty table."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import pytest

from rods.errors import WorldError
from rods.interfaces import Environment, Session
from rods.structure.lookups import lookup_tables
from rods.types import JsonObject, JsonValue, Split, Task, ToolCall, ToolResult, ToolSpec, Turn

CODES = {"Bern": "BRN", "Oslo": "OSL", "Lima": "LIM"}
SPEC = ToolSpec(
    name="code",
    description="The code of a place.",
    parameters={"type": "object", "properties": {"place": {"type": "string"}}},
    effect="read",
)


class Desk(Session):
    """Knows the codes, unless it is down."""

    def __init__(self, *, down: bool) -> None:
        self._down = down

    def call(self, call: ToolCall) -> ToolResult:
        if self._down:
            raise WorldError("The desk is closed.")
        return ToolResult(content=json.dumps({"code": CODES[str(call.arguments["place"])]}))

    def state(self) -> JsonObject:
        return {}

    def snapshot(self) -> None:
        return None

    def restore(self, snapshot: None) -> None:
        pass


class Airport(Environment):
    """Eight tasks; the world of the first few is down."""

    name = "airport"
    down: frozenset[str] = frozenset()

    def tasks(self, split: Split) -> Sequence[Task]:
        turn = Turn(user="What is the code?", reference=())
        ids = [f"airport-{number}" for number in range(8)]
        common = {"environment": self.name, "split": split, "tools": ("code",), "turns": (turn,)}
        return [Task(id=one, initial_state={}, **common) for one in ids]

    def tools(self) -> Mapping[str, ToolSpec]:
        return {"code": SPEC}

    def open(self, task: Task) -> Session:
        return Desk(down=task.id in self.down)

    def suggest(self, tool: str, parameter: str, state: JsonObject) -> Sequence[JsonValue]:
        return list(CODES)


@pytest.mark.parametrize("outages", [0, 1, 2])
def test_a_table_is_learned_from_the_first_task_whose_world_is_up(outages: int) -> None:
    airport = Airport()
    airport.down = frozenset(f"airport-{number}" for number in range(outages))
    assert lookup_tables(airport) == {"code": CODES}


def test_a_world_that_is_down_task_after_task_is_an_outage_and_no_empty_table() -> None:
    airport = Airport()
    airport.down = frozenset(f"airport-{number}" for number in range(3))
    with pytest.raises(WorldError, match="The desk is closed"):
        lookup_tables(airport)
