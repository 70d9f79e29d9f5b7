"""Does the server repeat? The same calls from a known clean state, twice, and in a reused server.

A double run in a world that is already dirty passes falsely, so both runs start in new processes
and fresh folders. More than a second lies between them: a clock in seconds shows.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rods.errors import ConfigError
from rods.interfaces import Session
from rods.structure.leaves import walk
from rods.types import JsonObject, Task, ToolResult, ToolSpec
from rods_mcp.translation import loaded

_APART_S = 1.1
_VARYING = (  # what a mask for texts is proposed from, the longer form first
    r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}",
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?",
    r"\b\d{1,2}:\d\d(:\d\d)?\b",
    r"\b[0-9a-f]{16,64}\b",
    r"\b\d{10,19}\b",
    r"\b\d+(\.\d+)?\b",
)
Open = Callable[..., Session]  # (task, fresh=...)


@dataclass(frozen=True, slots=True)
class Run:
    """What the reference of a task gave."""

    results: tuple[ToolResult, ...]
    states: tuple[JsonObject, ...]  # before the first turn, and after each


@dataclass(frozen=True, slots=True)
class Difference:
    """Where two runs of the same calls part."""

    where: str
    tool: str  # empty: the state
    first: Any
    second: Any

    def __str__(self) -> str:
        path, one, other = _parting(self.first, self.second)
        at = f" at {path}" if path else ""
        return f"{self.where}{at}: {_shown(one)}, then {_shown(other)}"

    @property
    def mask(self) -> str:
        """A mask that would hide it; empty where none is likely to."""
        path, one, other = _parting(self.first, self.second)
        scope = f"{self.tool}:" if self.tool else ""
        if path:
            return scope + re.sub(r"\[\d+\]", "[*]", path)
        if not (isinstance(one, str) and isinstance(other, str)):
            return ""
        for pattern in _VARYING:
            if re.sub(pattern, "", one) == re.sub(pattern, "", other):
                return scope + pattern
        return ""


def run(session: Session, task: Task) -> Run:
    """The reference has run; the session is closed."""
    try:
        results, states = [], [session.state()]
        for turn in task.turns:
            results += [session.call(call) for call in turn.reference]
            states.append(session.state())
        return Run(tuple(results), tuple(states))
    finally:
        session.close()


def difference(task: Task, first: Run, second: Run) -> Difference | None:
    """The first call or state that differs."""
    calls = [call for turn in task.turns for call in turn.reference]
    for index, (a, b) in enumerate(zip(first.results, second.results, strict=True)):
        if a != b:
            where = f"call {index + 1} of task {task.id}, {calls[index].name}, answers differently"
            return Difference(where, calls[index].name, loaded(a.content), loaded(b.content))
    for index, (before, after) in enumerate(zip(first.states, second.states, strict=True)):
        if before != after:
            what = f"after turn {index - 1}" if index else "in which it opens"
            return _of_states(f"the state {what} of task {task.id} differs", before, after)
    return None


def probe(
    open_session: Open, tasks: Sequence[Task], *, reused: bool, together: bool = False
) -> tuple[Difference | None, list[Run]]:
    """No difference if every task gives the same in two new servers and, if any is reused, a used.

    ``together``: and while another session is open, where servers may have one state for all.
    """
    firsts = [run(open_session(task, fresh=True), task) for task in tasks]
    time.sleep(_APART_S)
    for fresh in (True, False) if reused else (True,):
        for task, first in zip(tasks, firsts, strict=True):
            found = difference(task, first, run(open_session(task, fresh=fresh), task))
            if found is not None:
                return found if fresh else _dirty(found), firsts
    if together and tasks:
        found = _beside(open_session, tasks[0], firsts[0], tasks[-1], firsts[-1])
        return found, firsts
    return None, firsts


def _beside(
    open_session: Open, task: Task, alone: Run, other: Task, other_alone: Run
) -> Difference | None:
    """Two sessions at once: neither sees, nor undoes, what the other does."""
    session = open_session(task)
    try:
        for call in (call for turn in task.turns for call in turn.reference):
            session.call(call)
        opened = open_session(other)
        states = [session.state()]  # a task that does the same would hide what its opening undid
        found = difference(other, other_alone, run(opened, other))
        for state in (*states, session.state()):
            if found is None and state != alone.states[-1]:
                found = _of_states(f"the state of task {task.id} changes", alone.states[-1], state)
    finally:
        session.close()
    if found is None:
        return None
    where = f"{found.where} while another session is open (environment.shared = true if all have"
    return Difference(f"{where} one state)", found.tool, found.first, found.second)


def refuse_unseen(
    tasks: Sequence[Task], specs: Mapping[str, ToolSpec], runs: Sequence[Run], server: str
) -> None:
    """A ConfigError where calls that write change no state: no reset would show.

    For servers that cannot be had in a clean state: one that still holds what an earlier run wrote
    gives the same twice.
    """
    calls = [call for task in tasks for turn in task.turns for call in turn.reference]
    writing = sorted({call.name for call in calls if specs[call.name].effect != "read"})
    if writing and all(state == one.states[0] for one in runs for state in one.states):
        raise ConfigError(
            f"No reference changes the state of {server}, though they call {', '.join(writing)}: "
            "either the state does not show it (environment.state), or the server held it all "
            "before and environment.reset does not reset it."
        )


def _dirty(found: Difference) -> Difference:
    where = f"{found.where} in a server that was used before (environment.reset does not reset it)"
    return Difference(where, found.tool, found.first, found.second)


def refuse(found: Difference, server: str) -> ConfigError:
    """The line for users."""
    mask = found.mask
    remedy = f"Hide it with -o 'environment.masks={json.dumps([mask])}'" if mask else "Mask it"
    tool = f", deny the tool (-o 'environment.deny={json.dumps([found.tool])}')"
    tool = tool if found.tool else ""
    return ConfigError(
        f"The server {server!r} does not repeat, so nothing can be learned from it: {found}. "
        f"{remedy}{tool}, or declare another environment.reset."
    )


# ------------------------------------------------------------------------------- inside
def _of_states(where: str, first: JsonObject, second: JsonObject) -> Difference:
    """The part of the state that differs: a reading tool's answer, or a file's text."""
    key = next(key for key in {**first, **second} if first.get(key) != second.get(key))
    one, other = first.get(key), second.get(key)
    if key == "files" and isinstance(one, dict) and isinstance(other, dict):
        name = next(n for n in {**one, **other} if one.get(n) != other.get(n))
        return Difference(f"{where} in the file {name}", "", one.get(name), other.get(name))
    return Difference(f"{where} in {key}", key.partition(" ")[0], one, other)


def _parting(first: Any, second: Any) -> tuple[str, Any, Any]:
    """The JSON path of the first leaf that differs, and both values there."""
    if not isinstance(first, dict | list) or type(first) is not type(second):
        return "", first, second
    one, other = dict(_leaves(first)), dict(_leaves(second))
    for path in one:
        if path not in other:
            return path, one[path], "nothing"
        if one[path] != other[path]:
            return path, one[path], other[path]
    path = next((p for p in other if p not in one), "$")
    return path, "nothing", other.get(path)


def _leaves(value: Any) -> Iterator[tuple[str, Any]]:
    for path, leaf in walk(value):
        yield "$" + "".join(map(_step, path)), leaf


def _step(step: Any) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    return f".{step}" if re.fullmatch(r"[\w$-]+", step) else f"['{step}']"


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:80]}..."
