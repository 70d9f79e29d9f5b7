"""What a call does: did it work, does it matter, and which later calls need it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

from rods.interfaces import Session
from rods.structure.leaves import parse
from rods.types import ToolCall, ToolResult

Fails = Callable[[ToolCall, ToolResult], bool]
HardEdges = frozenset[tuple[int, int]]


def false_fields(answer: Any) -> Iterator[str]:
    """The fields of a parsed answer that say no."""
    if isinstance(answer, dict):
        yield from (key for key, value in answer.items() if value is False)


def is_empty(answer: Any) -> bool:
    """The answer tells nothing."""
    if isinstance(answer, dict):
        return all(map(is_empty, answer.values()))
    if isinstance(answer, list):
        return all(map(is_empty, answer))
    return answer in ("", "None", "none", "null", "[]", "{}", None)


def hard_edges(session: Session, calls: Sequence[ToolCall], fails: Fails) -> HardEdges:
    """(i, j): call j works, and fails once call i is left out.

    ``session`` is a fresh world; it has run all the calls afterwards.
    """
    found = set()
    results: list[bool] = []
    before = []
    for call in calls:
        before.append(session.snapshot())
        results.append(fails(call, session.call(call)))
    for left_out in range(len(calls) - 1):
        session.restore(before[left_out])
        for later in range(left_out + 1, len(calls)):
            if fails(calls[later], session.call(calls[later])) and not results[later]:
                found.add((left_out, later))
    return frozenset(found)


class Shadows:
    """Worlds in which one call each has been left out, kept up while a plan grows.

    ``reads`` names the tools that change nothing: leaving a call of theirs out leaves the world as
    it is, so it has no shadow.
    """

    def __init__(self, session: Session, fails: Fails, reads: Collection[str] = ()) -> None:
        self._session, self._fails, self._reads = session, fails, reads
        self._full = session.snapshot()
        self._without: dict[int, Any] = {}  # call left out -> the world without it
        self._next: dict[int, Any] = {}
        self._calls = 0

    def close(self) -> None:
        """The session behind all of them is closed."""
        self._session.close()

    @property
    def left_out(self) -> Collection[int]:
        """The calls that a world is kept without."""
        return self._without.keys()

    def look(self, left_out: int) -> Session:
        """The world without that call; only to be read, and only until the next look."""
        self._session.restore(self._without[left_out])
        return self._session

    def needed_by(self, call: ToolCall) -> frozenset[int]:
        """The calls without which this one would fail."""
        needed, changes = set(), call.name not in self._reads
        self._next = {}
        for left_out, snapshot in self._without.items():
            self._session.restore(snapshot)
            if self._fails(call, self._session.call(call)):
                needed.add(left_out)
            if changes:
                self._next[left_out] = self._session.snapshot()
        return frozenset(needed)

    def keep(self, call: ToolCall) -> None:
        """The call that was asked about last belongs to the plan."""
        if call.name not in self._reads:
            self._without = {**self._next, self._calls: self._full}
            self._session.restore(self._full)
            self._session.call(call)
            self._full = self._session.snapshot()
        self._calls += 1


class Judgement:
    """Says which results count as failures: errors, and refusals in a field of their own."""

    def __init__(self, allowed: dict[str, frozenset[str]] | None = None) -> None:
        self._allowed = allowed or {}

    def fails(self, call: ToolCall, result: ToolResult) -> bool:
        """An error, or a field that says no where the train references never do."""
        return self.failure(call, result) is not None

    def failure(self, call: ToolCall, result: ToolResult) -> str | None:
        """Why the result counts as a failure."""
        if result.error:
            return result.content
        if "alse" in result.content:
            allowed = self._allowed.get(call.name, frozenset())
            for field in false_fields(parse(result.content)):
                if field not in allowed:
                    return f"{field} is false"
        return None
