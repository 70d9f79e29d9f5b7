"""A planner ends every world that it opens: some hold a server each."""

from __future__ import annotations

import random

import pytest

from rods.errors import WorldError
from rods.structure.constants import constants
from rods.structure.lookups import lookup_tables
from rods.structure.planning import PlanningOptions, StructurePlanner
from rods.structure.sources import Labeller
from rods.testing.world import FakeEnvironment, FakeSession
from rods.types import JsonObject, Task, ToolCall, ToolResult


class Counting(FakeEnvironment):
    """Knows its open sessions; those in a changed state do what ``changed`` does."""

    def __init__(self, changed: Exception | None = None) -> None:
        super().__init__()
        self.open_now, self.opened, self._changed = 0, 0, changed
        self.usual = [task.initial_state for task in self.tasks("train")]

    def open(self, task: Task) -> FakeSession:
        self.open_now += 1
        self.opened += 1
        fault = self._changed if task.initial_state not in self.usual else None
        return Counted(self, task.initial_state, fault)


class Counted(FakeSession):
    """Tells its world when it is closed."""

    def __init__(self, world: Counting, state: JsonObject, fault: Exception | None) -> None:
        super().__init__(state)
        self._world, self._fault, self._closed = world, fault, False

    def call(self, call: ToolCall) -> ToolResult:
        if self._fault is not None:
            raise self._fault
        return super().call(call)

    def close(self) -> None:
        self._world.open_now -= not self._closed
        self._closed = True


def plan(world: Counting) -> None:
    labeller = Labeller(constants(world.tools(), world.tasks("train")), lookup_tables(world))
    options = PlanningOptions(effort=20, exploration_calls=300)
    planner = StructurePlanner(world, labeller, options)
    planner.propose(world.tasks("train")[0], random.Random(1), 1)


@pytest.mark.parametrize("changed", [None, KeyError("a state that it does not know")])
def test_every_session_is_closed_also_where_a_changed_world_raises(
    changed: Exception | None,
) -> None:
    world = Counting(changed)
    plan(world)
    assert world.opened > 50
    assert world.open_now == 0


def test_an_outage_is_no_verdict_on_a_changed_world() -> None:
    world = Counting(WorldError("The server does not answer."))
    with pytest.raises(WorldError):
        plan(world)
    assert world.open_now == 0
