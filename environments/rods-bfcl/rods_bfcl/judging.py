"""The official verdict on a rollout, turn by turn.

After every turn: every involved class has the reference's public attributes, and the results of the
reference's calls of this turn are among all results so far (as a multiset; nothing is used up by
earlier turns). Judging goes on after a failed turn. The reference runs once a task and is kept.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rods.types import Task, TurnVerdict
from rods_bfcl.copying import copy_plain
from rods_bfcl.rendering import ERROR_PREFIX, render
from rods_bfcl.states import comparable
from rods_bfcl.upstream import STATELESS_CLASSES, Upstream
from rods_bfcl.world import Scenario, World


@dataclass(frozen=True, slots=True)
class Invocation:
    """A call as it was made. Without a name it was no call at all, and fails."""

    name: str | None
    named: Mapping[str, Any]
    positional: Sequence[Any] = ()


@dataclass(frozen=True, slots=True)
class ReferenceTurn:
    """What the reference leaves behind after a turn."""

    judged: bool
    results: Mapping[str, int]  # text -> how often the turn's calls gave it
    states: Mapping[str, Any]  # class -> comparable state; the same object while it is unchanged


@dataclass(frozen=True, slots=True)
class Reference:
    """The reference of a task, run once."""

    task: Task
    scenario: Scenario
    turns: tuple[ReferenceTurn, ...]


class Judge:
    """Verdicts on trajectories; keeps the references of the last ``capacity`` tasks."""

    def __init__(self, upstream: Upstream, capacity: int = 1024) -> None:
        self._upstream = upstream
        self._capacity = capacity
        self._references: OrderedDict[str, Reference] = OrderedDict()

    def reference(self, task: Task) -> Reference:
        """What the task's reference leaves behind, from the cache where possible."""
        known = self._references.get(task.id)
        if known is not None and (known.task is task or known.task == task):
            self._references.move_to_end(task.id)
            return known
        reference = self._references[task.id] = self._run(task)
        self._references.move_to_end(task.id)
        if len(self._references) > self._capacity:
            self._references.popitem(last=False)
        return reference

    def verdicts(
        self, task: Task, turns: Sequence[Sequence[Invocation]]
    ) -> tuple[TurnVerdict, ...]:
        """One verdict a turn of the task; a turn that was not reached is one without calls."""
        reference = self.reference(task)
        replay = _Replay(World(reference.scenario, self._upstream))
        return tuple(
            replay.judge(turn, turns[index] if index < len(turns) else ())
            for index, turn in enumerate(reference.turns)
        )

    def _run(self, task: Task) -> Reference:
        scenario = Scenario.of(task.initial_state)
        world = World(scenario, self._upstream)
        states: dict[str, Any] = {}
        turns = []
        for turn in task.turns:
            texts = [_text(world, call.name, call.arguments, ()) for call in turn.reference]
            states = {name: _kept(states.get(name), world, name) for name in _compared(world)}
            turns.append(ReferenceTurn(bool(turn.reference), Counter(texts), states))
        return Reference(task, scenario, tuple(turns))


class _Replay:
    """A rollout that is run again, in a world of its own."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._seen: Counter[str] = Counter()

    def judge(self, turn: ReferenceTurn, calls: Sequence[Invocation]) -> TurnVerdict:
        self._seen.update(self._texts(calls))
        return TurnVerdict(
            state_ok=self._agrees(turn),
            response_ok=all(self._seen[text] >= n for text, n in turn.results.items()),
            judged=turn.judged,
            acted=bool(calls),
        )

    def _texts(self, calls: Iterable[Invocation]) -> Iterable[str]:
        for call in calls:
            if call.name is None:
                yield ERROR_PREFIX
            else:
                yield _text(self._world, call.name, call.named, call.positional)

    def _agrees(self, turn: ReferenceTurn) -> bool:
        return all(
            comparable(self._world.instance(name)) == state for name, state in turn.states.items()
        )


def _compared(world: World) -> list[str]:
    return [name for name in world.classes if name not in STATELESS_CLASSES]


def _kept(before: Any, world: World, class_name: str) -> Any:
    now = comparable(world.instance(class_name))
    return before if before is not None and before == now else copy_plain(now)


def _text(world: World, name: str, named: Mapping[str, Any], positional: Sequence[Any]) -> str:
    try:
        return render(world.execute(name, named, positional))
    except Exception as error:  # noqa: BLE001 - upstream raises anything for a bad argument
        return f"{ERROR_PREFIX} {error}"
