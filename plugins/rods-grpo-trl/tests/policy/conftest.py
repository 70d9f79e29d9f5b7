"""A world of two tools and endless tasks: small enough to learn in a test."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest

from rods.interfaces import Environment, Session
from rods.types import JsonObject, Split, Task, ToolCall, ToolResult, ToolSpec, Turn

STRING = {"type": "string"}
SYLLABLES = ("ba", "ke", "di", "mo")


def _spec(name: str, *parameters: str) -> ToolSpec:
    schema = {"properties": dict.fromkeys(parameters, STRING), "required": list(parameters)}
    return ToolSpec(name=name, description=name, parameters={"type": "object", **schema})


class NotesSession(Session):
    """Notes by title."""

    def __init__(self, notes: JsonObject) -> None:
        self._notes: dict[str, Any] = copy.deepcopy(notes)

    def call(self, call: ToolCall) -> ToolResult:
        title = call.arguments.get("title")
        if call.name == "write" and set(call.arguments) == {"title", "text"}:
            self._notes[str(title)] = call.arguments["text"]
            return ToolResult(content="ok")
        if call.name == "read" and title in self._notes:
            return ToolResult(content=str(self._notes[str(title)]))
        return ToolResult(content="error", error=True)

    def state(self) -> JsonObject:
        return dict(self._notes)

    def snapshot(self) -> Any:
        return dict(self._notes)

    def restore(self, snapshot: Any) -> None:
        self._notes = dict(snapshot)


class NotesEnvironment(Environment):
    """Write a note in the first turn; in the second copy one that is there under a new title."""

    name = "notes"

    def tools(self) -> Mapping[str, ToolSpec]:
        return {"write": _spec("write", "title", "text"), "read": _spec("read", "title")}

    def open(self, task: Task) -> NotesSession:
        return NotesSession(task.initial_state)

    def tasks(self, split: Split) -> Sequence[Task]:
        practice = self.practice(1000 if split == "train" else 1001)
        return [next(practice) for _ in range(4)]

    def practice(self, rng_seed: int) -> Iterator[Task]:
        rng, number = random.Random(rng_seed), 0
        while True:
            number += 1
            yield self._task(f"notes-{rng_seed}-{number}", rng)

    def _task(self, task_id: str, rng: random.Random) -> Task:
        names = [a + b for a in SYLLABLES for b in SYLLABLES]
        title, text, old, kept, new = rng.sample(names, 5)
        write = ToolCall(name="write", arguments={"title": title, "text": text})
        read = ToolCall(name="read", arguments={"title": old})
        again = ToolCall(name="write", arguments={"title": new, "text": kept})
        turns = (
            Turn(user=f"write {text} to {title}", reference=(write,)),
            Turn(user=f"copy {old} to {new}", reference=(read, again)),
        )
        return Task(
            id=task_id,
            environment=self.name,
            tools=("write", "read"),
            turns=turns,
            initial_state={old: kept},
        )


@pytest.fixture
def notes() -> NotesEnvironment:
    """The world of notes."""
    return NotesEnvironment()
