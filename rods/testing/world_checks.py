"""Checks of sessions: reset, snapshots, isolation, bad calls."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import cycle, islice
from typing import Any

from rods.interfaces import Session
from rods.testing.findings import (
    FLAG_IT,
    Finding,
    Subject,
    for_each,
    no_reference,
    not_json,
    run_reference,
)
from rods.testing.sources import Untold
from rods.types import JsonObject, JsonValue, Task, ToolCall, ToolResult, ToolSpec

_SLOW_S = 5.0


def reference_runs_without_errors(subject: Subject) -> str:
    """No call of a reference gives an error; arguments that nothing has told are told here."""
    if skipped := no_reference(subject.sample):
        return skipped
    calls, untold = 0, Untold(subject)

    def failing(task: Task) -> str | None:
        nonlocal calls
        session, results = subject.environment.open(task), list[ToolResult]()
        try:
            for call in _calls(task):
                calls += 1
                results.append(session.call(call))
                if problem := _result_problem(call, results[-1]):
                    return problem
        finally:
            session.close()
        untold.add(task, results)
        return None

    count = for_each(subject.sample, failing, FLAG_IT, excuse=True)
    return f"{calls} calls of {count}{untold}"


def _result_problem(call: ToolCall, result: object) -> str | None:
    if not isinstance(result, ToolResult):
        return f"{call.name} gives a {type(result).__name__}, not a ToolResult"
    return f"{call.name} gives the error {result.content[:120]!r}" if result.error else None


def runs_repeat(subject: Subject) -> str:
    """Two fresh sessions give equal results and equal states: no clock, no random, no leak."""

    def differs(task: Task) -> str | None:
        first, second = _transcript(subject, task), _transcript(subject, task)
        if first[0] != second[0]:
            return "results differ when the reference runs twice"
        return None if first[1] == second[1] else "states differ when the reference runs twice"

    return for_each(subject.sample, differs, "freeze clocks, seed random, copy")


def opening_resets(subject: Subject) -> str:
    """A world opens in an equal state after another was used, and the task's state is untouched."""

    def leaks(task: Task) -> str | None:
        used, fresh = subject.environment.open(task), subject.environment.open(task)
        try:
            before = used.state()
            if fresh.state() != before:
                return "two fresh worlds differ"
            run_reference(used, task)
            if fresh.state() != before:
                return "a call in one world changed another"
        finally:
            used.close()
            fresh.close()
        if _opened_state(subject, task) != before:
            return "opened again, the world is not in its first state"
        untouched = task.initial_state == subject.untouched[task.id]
        return None if untouched else "initial_state was changed"

    return for_each(subject.sample, leaks, "deep-copy initial_state in open()")


def states_are_json_copies(subject: Subject) -> str:
    """``state`` survives a JSON round trip, and changing it does not change the world.

    Before and after the reference was played: tools may put into the state what JSON has not.
    """

    def shared(task: Task) -> str | None:
        session = subject.environment.open(task)
        try:
            if problem := _state_problem(session):
                return problem
            run_reference(session, task)
            problem = _state_problem(session)
            return f"after the reference, {problem}" if problem else None
        finally:
            session.close()

    return for_each(subject.sample, shared)


def _state_problem(session: Session) -> str:
    state = session.state()
    if strange := not_json(state):
        return f"the state holds {strange}, which JSON does not have"
    text = json.dumps(state, sort_keys=True, allow_nan=False)
    if json.loads(text) != state:
        return "the state differs after a JSON round trip"
    _spoil(state)
    same = json.dumps(session.state(), sort_keys=True) == text
    return "" if same else "changing what state() gave changes the world"


def snapshots_restore(subject: Subject) -> str:
    """Restored twice, a snapshot gives the state it was taken in and the same future."""

    def broken(task: Task) -> str | None:
        calls = [call for turn in task.turns for call in turn.reference]
        half = len(calls) // 2
        session = subject.environment.open(task)
        try:
            for call in calls[:half]:
                session.call(call)
            snapshot, state = session.snapshot(), session.state()
            future = _future(session, calls[half:])
            for attempt in ("first", "second"):
                session.restore(snapshot)
                if session.state() != state:
                    return f"the state differs after the {attempt} restore"
                if _future(session, calls[half:]) != future:
                    return f"the same calls differ after the {attempt} restore"
        finally:
            session.close()
        return None

    return for_each(subject.sample, broken)


def sessions_are_isolated(subject: Subject) -> str:
    """Many sessions at once, their calls interleaved, give what each gives alone."""
    tasks = list(islice(cycle(subject.sample), subject.sessions))
    alone = {task.id: _transcript(subject, task) for task in subject.sample}
    opened = [(task, subject.environment.open(task)) for task in tasks]
    results: list[list[ToolResult]] = [[] for _ in tasks]
    try:
        for order in _rounds([len(alone[task.id][0]) for task in tasks]):
            position = len(results[order])
            results[order].append(opened[order][1].call(_calls(tasks[order])[position]))
        for index, (task, session) in enumerate(opened):
            if (results[index], session.state()) != alone[task.id]:
                raise Finding(
                    f"The task {task.id} gives other results or another state beside "
                    f"{len(tasks) - 1} open sessions than alone.",
                    "sessions must not share lists, dicts, files or module globals",
                )
    finally:
        for _, session in opened:
            session.close()
    return f"{len(tasks)} sessions"


def closing_twice_is_safe(subject: Subject) -> str:
    """``Session.close`` may be called twice."""
    session = subject.environment.open(subject.sample[0])
    session.close()
    session.close()
    return "1 session"


def bad_calls_are_errors(subject: Subject) -> str:
    """Unknown tools, missing and unknown parameters: a result with ``error``; nothing raises."""
    made, accepted = _bad_calls(subject, _misfits)
    if accepted:
        raise Finding(f"{accepted[0]} is accepted.", "check the call against the tool's schema")
    return f"{made} calls"


def hostile_calls_are_survived(subject: Subject) -> str:
    """Wrong types, a million characters, huge numbers and deep nesting neither raise nor hang."""
    made, accepted = _bad_calls(subject, _hostile)
    return f"{made} calls" + (f", {len(accepted)} accepted: {accepted[0]}" if accepted else "")


def open_and_replay_time(subject: Subject) -> str:
    """How long a world takes to open and a reference to replay; a fact, not a demand."""
    opens, replays = [], []
    for task in subject.sample:
        start = time.perf_counter()
        session = subject.environment.open(task)
        opened = time.perf_counter()
        run_reference(session, task)
        replays.append(time.perf_counter() - opened)
        opens.append(opened - start)
        session.close()
    median_ms = [f"{statistics.median(times) * 1000:.2f} ms" for times in (opens, replays)]
    return f"median open {median_ms[0]}, replay {median_ms[1]}"


def survive(session: Session, call: ToolCall) -> ToolResult:
    """The result of a call that may be anything; a Finding where it raises or takes too long."""
    start = time.perf_counter()
    try:
        result = session.call(call)
    except Exception as error:
        raise Finding(f"raised by {shown_call(call)}", error=error) from error
    if time.perf_counter() - start > _SLOW_S:
        raise Finding(f"{shown_call(call)} takes more than {_SLOW_S:.0f} s.", "bound the arguments")
    return result


def shown_call(call: ToolCall) -> str:
    """The call on one line, cut."""
    return f"{call.name}({json.dumps(call.arguments)[:80]})"


# ------------------------------------------------------------------------------- inside
def _calls(task: Task) -> list[ToolCall]:
    return [call for turn in task.turns for call in turn.reference]


def _transcript(subject: Subject, task: Task) -> tuple[list[ToolResult], JsonObject]:
    session = subject.environment.open(task)
    try:
        return run_reference(session, task), session.state()
    finally:
        session.close()


def _future(session: Session, calls: list[ToolCall]) -> tuple[list[ToolResult], JsonObject]:
    return [session.call(call) for call in calls], session.state()


def _opened_state(subject: Subject, task: Task) -> JsonObject:
    session = subject.environment.open(task)
    try:
        return session.state()
    finally:
        session.close()


def _spoil(value: Any) -> None:
    """Change every container inside ``value`` in place."""
    for child in list(value.values() if isinstance(value, dict) else value):
        if isinstance(child, dict | list):
            _spoil(child)
    if isinstance(value, dict):
        value["spoiled"] = True
    else:
        value.append("spoiled")


def _rounds(lengths: list[int]) -> Iterator[int]:
    """Session indices: one call of each per round, every other round backwards."""
    for position in range(max(lengths, default=0)):
        order = range(len(lengths))
        for index in order if position % 2 == 0 else reversed(order):
            if position < lengths[index]:
                yield index


def _bad_calls(
    subject: Subject, make: Callable[[ToolSpec], Iterable[ToolCall]]
) -> tuple[int, list[str]]:
    """Calls made and those accepted; afterwards each reference must still run as before."""
    made, accepted = 0, []
    for task, names in _tools_by_task(subject):
        session = subject.environment.open(task)
        try:
            snapshot = session.snapshot()
            for call in (call for name in names for call in make(subject.specs[name])):
                made += 1
                if not survive(session, call).error:
                    accepted.append(shown_call(call))
            session.restore(snapshot)
            if _future(session, _calls(task)) != _transcript(subject, task):
                raise Finding(f"After bad calls, the reference of {task.id} runs differently.")
        finally:
            session.close()
    return made, accepted


def _tools_by_task(subject: Subject) -> Iterator[tuple[Task, list[str]]]:
    """Tasks of the sample that together have every tool the sample has, each tool once."""
    seen: set[str] = set()
    for task in subject.sample:
        fresh = [name for name in task.tools_at(len(task.turns)) if name not in seen]
        seen.update(fresh)
        if fresh:
            yield task, fresh


def _misfits(spec: ToolSpec) -> Iterator[ToolCall]:
    for unknown in ("no_such_tool", "__class__", "eval", "", f"{spec.name}.__globals__"):
        yield ToolCall(name=unknown)
    yield ToolCall(name=spec.name, arguments={"no_such_parameter": 1})
    if spec.required:
        yield ToolCall(name=spec.name)


def _hostile(spec: ToolSpec) -> Iterator[ToolCall]:
    deep: JsonValue = []
    for _ in range(200):
        deep = [deep]
    values: list[JsonValue] = [None, True, [], {}, "x" * 1_000_000, 10**300, -1, 1e308, deep, "{0}"]
    for value in values:
        yield ToolCall(name=spec.name, arguments=dict.fromkeys(spec.properties, value))
