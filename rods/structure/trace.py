"""What the reference of a task does in a fresh world."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from rods.interfaces import Environment
from rods.types import JsonObject, Task, ToolCall, ToolResult


@dataclass(frozen=True, slots=True)
class Trace:
    """One execution of a reference; calls are numbered over the whole task."""

    turn_of: tuple[int, ...]  # call -> its turn
    calls: tuple[ToolCall, ...]
    results: tuple[ToolResult, ...]  # one a call; text, taken when the call was made
    states: dict[int, JsonObject]  # turn -> state after it; -1: before the first
    final: JsonObject

    @property
    def contents(self) -> list[str]:
        """The results' texts, one a call."""
        return [result.content for result in self.results]

    @property
    def failed(self) -> frozenset[int]:
        """The calls that ended in an error."""
        return frozenset(i for i, result in enumerate(self.results) if result.error)


def replay(environment: Environment, task: Task, *, states: Collection[int] = ()) -> Trace:
    """The reference has run in a fresh world; ``states`` names the turns whose state is kept."""
    session = environment.open(task)
    try:
        kept = {-1: session.state()} if -1 in states else {}
        turn_of: list[int] = []
        results: list[ToolResult] = []
        for index, turn in enumerate(task.turns):
            for call in turn.reference:
                results.append(session.call(call))
                turn_of.append(index)
            if index in states:
                kept[index] = session.state()
        calls = tuple(call for turn in task.turns for call in turn.reference)
        return Trace(tuple(turn_of), calls, tuple(results), kept, session.state())
    finally:
        session.close()


def idle_turns(task: Task, trace: Trace) -> list[int]:
    """Turns whose reference neither changes the state nor shows anything new.

    Turns whose states the trace lacks are judged by their results alone.
    """
    seen: set[str] = set()
    idle = []
    for index, turn in enumerate(task.turns):
        shown = {
            trace.results[i].content for i in range(len(trace.results)) if trace.turn_of[i] == index
        }
        if turn.reference and shown <= seen and not _moved(trace, index):
            idle.append(index)
        seen |= shown
    return idle


def idle_places(task: Task, trace: Trace) -> frozenset[int]:
    """Idle turns by their number among the turns with a reference.

    Those are in the same order in a task and in its variants, which may have more turns to wait in.
    """
    idle = set(idle_turns(task, trace))
    working = [index for index, turn in enumerate(task.turns) if turn.reference]
    return frozenset(place for place, index in enumerate(working) if index in idle)


def _moved(trace: Trace, turn: int) -> bool:
    before, after = trace.states.get(turn - 1), trace.states.get(turn)
    return before is not None and after is not None and before != after
