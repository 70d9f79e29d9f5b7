"""The live world in which a plan is filled, call by call."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from rods.interfaces import Environment, Session
from rods.structure import transforms
from rods.structure.leaves import Scalar, parse
from rods.structure.planning.catalog import Catalog, Home
from rods.structure.planning.effects import Judgement, is_empty
from rods.structure.planning.guidance import Guide
from rods.structure.planning.patterns import values_at
from rods.structure.sources import holds, said
from rods.types import JsonObject, Task, ToolCall, ToolResult

EMPTY = "empty"


@dataclass(slots=True)
class Donor:
    """A train task that lends its tools and its initial state."""

    task: Task
    initial_text: str = ""
    visible_text: str = ""
    state: JsonObject = field(default_factory=dict)  # as the session shows it at first
    _held: dict[Scalar, bool] = field(default_factory=dict)

    @classmethod
    def of(cls, environment: Environment, task: Task) -> Donor:
        """The task's world, looked at once."""
        session = environment.open(task)
        try:
            state = session.state()
        finally:
            session.close()
        return cls(task, text_of(task.initial_state), text_of(state), state)

    def holds(self, value: Scalar) -> bool:
        """The world holds the value before anything has happened."""
        if isinstance(value, bool | float):  # as keys they would be integers
            return self._holds(value)
        if value not in self._held:
            self._held[value] = self._holds(value)
        return self._held[value]

    def _holds(self, value: Scalar) -> bool:
        if isinstance(value, str) and not value.isprintable():
            return False
        return holds(self.initial_text, value) or holds(self.visible_text, value)


def text_of(state: JsonObject) -> str:
    """The state as the labels of sources read it."""
    return json.dumps(state, ensure_ascii=False)


class Said:
    """What the user says up to the present turn."""

    __slots__ = ("_guarded", "folded", "lines", "numbers", "text")

    def __init__(self) -> None:
        self._guarded: tuple[int, list[Scalar]] = (-1, [])  # a turn and its values
        self.lines: list[list[str]] = []  # one list a turn
        self.text = self.folded = ""
        self.numbers: set[float] = set()

    def say(self, turn: int, texts: Sequence[str]) -> None:
        """The user says these things in that turn."""
        while len(self.lines) <= turn:
            self.lines.append([])
        self.lines[turn].extend(texts)
        for text in texts:
            self.text += "\n" + text
            self.folded += "\n" + text.casefold()
            self.numbers.update(number for _, number in transforms.numbers(text))

    def guard(self, turn: int, values: Iterable[Scalar]) -> None:
        """These values come from elsewhere in that turn: saying them there would change that."""
        if self._guarded[0] != turn:
            self._guarded = (turn, [])
        self._guarded[1].extend(value for value in values if not isinstance(value, bool))

    def spoils(self, turn: int, texts: Iterable[str]) -> bool:
        """One of the texts would say a guarded value."""
        return self._guarded[0] == turn and tells(texts, self._guarded[1])

    def holds(self, value: Scalar) -> bool:
        """The user has said the value."""
        return said(value, self.text, self.folded, self.numbers)


def tells(texts: Iterable[str], values: Collection[Scalar]) -> bool:
    """One of the texts says one of the values."""
    for text in texts if values else ():
        numbers = {number for _, number in transforms.numbers(text)}
        folded = text.casefold()
        if any(said(value, text, folded, numbers) for value in values):
            return True
    return False


class World:
    """A session with what has been done in it."""

    def __init__(
        self, environment: Environment, donor: Donor, catalog: Catalog, judgement: Judgement
    ) -> None:
        self.donor, self._catalog, self._judgement = donor, catalog, judgement
        self._specs = environment.tools()
        self.session: Session = environment.open(donor.task)
        self.calls: list[ToolCall] = []
        self.contents: list[str] = []
        self.answers: list[Any] = []
        self._state: JsonObject | None = donor.state
        self._frozen: Any = None  # the world as it is now, once somebody has needed a copy
        self._undo: tuple[Any, JsonObject | None] | None = None  # before the latest call
        self._changes: list[tuple[JsonObject, JsonObject] | None] = []  # the states around a call
        self._shown: dict[str, Any] = {}
        self._standing: dict[Home, list[Scalar]] = {}
        self.guide: Guide | None = None
        self.topics: list[str] = []  # names that the user has said
        self.failed: ToolCall | None = None  # the latest call that was undone for an error
        self.error = ""

    def close(self) -> None:
        """The session is closed."""
        self.session.close()

    @property
    def state(self) -> JsonObject:
        """The visible state now; not to be changed."""
        if self._state is None:
            self._state = self.session.state()
        return self._state

    def first_values(self, home: Home) -> list[Scalar]:
        """What the probe lists now; nothing where it fails."""
        return [value for value in self.values(home) if value is not None]

    def values(self, home: Home) -> list[Scalar]:
        """What stands there now; not to be changed."""
        if home not in self._standing:
            self._standing[home] = self._found(home)
        return self._standing[home]

    def _found(self, home: Home) -> list[Scalar]:
        if not home.probe:
            return values_at(self.state, home.pattern)
        if home.probe not in self.donor.task.tools:
            return []
        if home.probe not in self._shown:
            result = self.session.call(ToolCall(name=home.probe))
            self._shown[home.probe] = None if result.error else parse(result.content)
        return values_at(self._shown[home.probe], home.pattern)

    def shown(self, value: Scalar, since: int = 0) -> bool:
        """A result of call ``since`` or a later one holds the value."""
        return any(holds(content, value) for content in self.contents[since:])

    def attempt(self, call: ToolCall, *, alone: bool = False, quiet: bool = False) -> str | None:
        """Why the call was undone; None: it has been made, works and matters.

        ``alone``: its turn has no other call, so it must show or change something by itself.
        ``quiet``: later calls will need it, so what it does may be hidden.
        """
        if any(c.name == call.name and c.arguments == call.arguments for c in self.calls):
            return "repeat"
        spec, facts = self._specs[call.name], self._catalog.tools[call.name]
        if spec.effect == "read":
            self._undo = None
            return self._keep(call, self._read(call), alone=alone)
        before = self.state
        if self._frozen is None:
            self._frozen = self.session.snapshot()
        snapshot = self._frozen
        result = self.session.call(call)
        failure = self._failure(call, result)
        after = None
        if failure is None:
            after = self.session.state()
            if facts.always_writes and after == before:
                failure = "no_op"
            elif after == before and is_empty(parse(result.content)):
                failure = None if quiet and facts.quiet else "empty"
            elif after == before and self._told(call.name, result.content, alone=alone):
                failure = "nothing new"
        if failure is not None:
            self.session.restore(snapshot)
            return failure
        self._state, self._undo = after, (snapshot, before)
        self._forget()
        self._frozen = None
        self._note(call, result.content, None if after is None else (before, after))
        return None

    def change(self, call: int) -> tuple[JsonObject, JsonObject] | None:
        """The states before and after a call; None: it reads."""
        return self._changes[call]

    def undo(self) -> None:
        """The latest call has not been made; once only."""
        for made in (self.calls, self.contents, self.answers, self._changes):
            made.pop()
        if self._undo is not None:
            snapshot, self._state = self._undo
            self.session.restore(snapshot)
            self._forget()
            self._frozen = snapshot

    def _forget(self) -> None:
        self._shown.clear()
        self._standing.clear()

    def _read(self, call: ToolCall) -> tuple[str | None, str]:
        result = self.session.call(call)
        return self._failure(call, result), result.content

    def _failure(self, call: ToolCall, result: ToolResult) -> str | None:
        failure = self._judgement.failure(call, result)
        if failure is not None:
            self.failed, self.error = call, failure
        return failure

    def _keep(self, call: ToolCall, read: tuple[str | None, str], *, alone: bool) -> str | None:
        failure, content = read
        if failure is None and is_empty(parse(content)):
            self.failed, self.error = call, EMPTY
            return EMPTY
        if failure is None and self._told(call.name, content, alone=alone):
            return "nothing new"
        if failure is None:
            self._note(call, content, None)
        return failure

    def _told(self, name: str, content: str, *, alone: bool) -> bool:
        """The same function, or any where it is ``alone``, has answered the same before."""
        made = zip(self.calls, self.contents, strict=True)
        return any((alone or call.name == name) and told == content for call, told in made)

    def _note(
        self, call: ToolCall, content: str, change: tuple[JsonObject, JsonObject] | None
    ) -> None:
        self._changes.append(change)
        self.calls.append(call)
        self.contents.append(content)
        self.answers.append(parse(content))
