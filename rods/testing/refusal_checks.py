"""The check that a call which is answered with an error has changed nothing."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import islice

from rods.testing.findings import Subject, for_each, no_reference
from rods.testing.world_checks import shown_call, survive
from rods.types import JsonValue, Task, ToolCall

_CALLS = 24  # of a task; a state of a large world takes as long as many calls
_STRANGE = "no-such-thing"


def refused_calls_change_nothing(subject: Subject) -> str:
    """Calls of the reference with one wrong argument: where one is an error, nothing changed.

    Tools that may write are only told of, for upstream's do so; one that says it reads fails.
    """
    if skipped := no_reference(subject.sample):
        return skipped
    reading = {name for name, spec in subject.specs.items() if spec.effect == "read"}
    refused, changes = 0, dict[str, str]()

    def changed(task: Task) -> str | None:
        nonlocal refused
        session = subject.environment.open(task)
        try:
            state = session.state()
            for call in islice(_tries(task), _CALLS):
                error = survive(session, call).error
                before, state = state, session.state()
                refused += error
                if not error or state == before:
                    continue
                told = f"{shown_call(call)} is an error and changes {_first_change(before, state)}"
                if call.name in reading:
                    return f"{told}, though its effect is 'read'"
                changes.setdefault(call.name, told)
        finally:
            session.close()
        return None

    count = for_each(subject.sample, changed)
    half = [f"; half done by {', '.join(changes)}: {told}" for told in changes.values()]
    return f"{refused} refused calls of {count}{''.join(half[:1])}"


# ------------------------------------------------------------------------------- inside
def _tries(task: Task) -> Iterator[ToolCall]:
    """Each call of the reference, after calls like it in which one argument is another."""
    calls = [call for turn in task.turns for call in turn.reference]
    rng = random.Random(f"refused/{task.id}")
    for call in calls:
        others = [other for other in calls if other.name == call.name and other != call]
        for name, value in call.arguments.items():
            swapped = rng.choice(others).arguments.get(name, value) if others else value
            for wrong in _wrong(value, swapped):
                yield call.model_copy(update={"arguments": {**call.arguments, name: wrong}})
        yield call


def _wrong(value: JsonValue, swapped: JsonValue) -> Iterator[JsonValue]:
    """What fits the type and is not there, at the end of a list: after what may be done first."""
    if isinstance(value, bool) or value is None:
        yield not value
    elif isinstance(value, str):
        yield _STRANGE
    elif isinstance(value, int | float):
        yield value + 10**6
    elif isinstance(value, list):
        last = next(_wrong(value[-1], value[-1])) if value else _STRANGE
        yield [*value, last]
    elif value:
        name = list(value)[-1]
        yield {**value, name: next(_wrong(value[name], value[name]))}
    if swapped != value:
        yield swapped


def _first_change(before: JsonValue, after: JsonValue, place: str = "") -> str:
    """Where two states differ first, such as ``plants.p-17.water``."""
    if isinstance(before, dict) and isinstance(after, dict):
        for name in {**before, **after}:
            if before.get(name) != after.get(name):
                return _first_change(before.get(name), after.get(name), f"{place}.{name}")
    return place.lstrip(".") or "the state"
