"""The official verdict on a rollout, turn by turn.

After every turn: every involved class has the reference's public attributes, and the results of the
reference's calls of this turn are among all results so far (as a multiset; nothing is used up by
earlier turns). Judging goes on after a failed turn. The reference runs once a task and is kept.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from rods.errors import DataError, WorldError
from rods.types import Task, TurnVerdict
from rods_bfcl.copying import copy_plain
from rods_bfcl.rendering import ERROR_PREFIX
from rods_bfcl.results import Demand, Key, Pool, key_of
from rods_bfcl.states import comparable
from rods_bfcl.templates import Template
from rods_bfcl.upstream import Upstream
from rods_bfcl.world import Scenario, World


class Invocation(NamedTuple):
    """A call as it was made. Without a name it was no call at all, and fails."""

    name: str | None
    named: Mapping[str, Any]
    positional: Sequence[Any] = ()


@dataclass(frozen=True, slots=True)
class ReferenceTurn:
    """What the reference leaves behind after a turn."""

    judged: bool
    results: Demand
    states: Mapping[str, Any]  # class -> comparable state; the same object while it is unchanged


@dataclass(frozen=True, slots=True)
class Reference:
    """The reference of a task, run once."""

    task: Task
    scenario: Scenario
    start: Mapping[str, Template]  # class -> its instance before the first turn
    states: Mapping[str, Any]  # class -> comparable state before the first turn
    turns: tuple[ReferenceTurn, ...]


class Judge:
    """Verdicts on trajectories; keeps the references of the last ``capacity`` tasks."""

    def __init__(self, upstream: Upstream, capacity: int = 1024) -> None:
        self._upstream = upstream
        self._capacity = capacity
        self._references: OrderedDict[str, Reference] = OrderedDict()
        self._lock = threading.Lock()  # synthesis judges beside training

    def reference(self, task: Task) -> Reference:
        """What the task's reference leaves behind, from the cache where possible."""
        known = self._references.get(task.id)
        if known is None or not (known.task is task or known.task == task):
            known = run_reference(task, self._upstream)
        with self._lock:
            self._references[task.id] = known
            self._references.move_to_end(task.id)
            if len(self._references) > self._capacity:
                self._references.popitem(last=False)
        return known

    def verdicts(
        self, task: Task, turns: Sequence[Sequence[Invocation]]
    ) -> tuple[TurnVerdict, ...]:
        """One verdict a turn of the task; a turn that was not reached is one without calls."""
        reference = self.reference(task)
        replay = _Replay(reference, World(reference.scenario, self._upstream, reference.start))
        return tuple(
            replay.judge(turn, turns[index] if index < len(turns) else ())
            for index, turn in enumerate(reference.turns)
        )


def run_reference(task: Task, upstream: Upstream) -> Reference:
    """Run the task's reference in a fresh world."""
    scenario = Scenario.of(task.initial_state)
    world = World(scenario, upstream)
    initial = states = {name: _frozen(world, name) for name in world.classes}
    start = world.snapshot()
    turns = []
    for turn in task.turns:
        keys = [_run(world, call.name, call.arguments, ()) for call in turn.reference]
        if world.touched:
            states = states | {name: _frozen(world, name) for name in world.touched}
            world.touched.clear()
        turns.append(ReferenceTurn(bool(turn.reference), Demand(keys), states))
    return Reference(task, scenario, start, initial, tuple(turns))


class _Replay:
    """A rollout that is run again, in a world of its own."""

    __slots__ = ("_agreed", "_compared", "_pool", "_reference", "_world")

    def __init__(self, reference: Reference, world: World) -> None:
        self._reference = reference
        self._world = world
        self._pool = Pool()
        self._compared = dict(reference.states)  # class -> the state it was last compared with
        self._agreed = dict.fromkeys(reference.states, True)

    def judge(self, turn: ReferenceTurn, calls: Sequence[Invocation]) -> TurnVerdict:
        self._execute(calls)
        return _verdict(
            self._agrees(turn), turn.results.met_by(self._pool), turn.judged, bool(calls)
        )

    def _execute(self, calls: Iterable[Invocation]) -> None:
        for name, named, positional in calls:
            if name is None:
                self._pool.add(ERROR_PREFIX)
            else:
                self._pool.add(_run(self._world, name, named, positional))

    def _agrees(self, turn: ReferenceTurn) -> bool:
        """The states are equal; what neither side has touched since needs no second look."""
        touched = self._world.touched
        for name, state in turn.states.items():
            if name in touched or self._compared[name] is not state:
                self._compared[name] = state
                self._agreed[name] = comparable(self._world.instance(name)) == state
        touched.clear()
        return all(self._agreed.values())


@cache
def _verdict(state_ok: bool, response_ok: bool, judged: bool, acted: bool) -> TurnVerdict:
    return TurnVerdict(state_ok=state_ok, response_ok=response_ok, judged=judged, acted=acted)


def _frozen(world: World, class_name: str) -> Any:
    return copy_plain(comparable(world.instance(class_name)))


def _run(world: World, name: str, named: Mapping[str, Any], positional: Sequence[Any]) -> Key:
    try:
        return key_of(world.execute(name, named, positional))
    except (WorldError, DataError):
        raise
    except Exception as error:  # noqa: BLE001 - upstream raises anything for a bad argument
        return f"{ERROR_PREFIX} {error}"
