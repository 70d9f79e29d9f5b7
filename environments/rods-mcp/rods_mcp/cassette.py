"""Recorded answers, keyed by the calls that led to them: exact for a server with state.

The key holds the initial state and every call so far that may have changed something; calls of
tools that only read are left out of it, so that more rollouts find what was recorded.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rods.digests import canonical_json, text_digest
from rods.errors import DataError, WorldError
from rods.interfaces import Session
from rods.jsonl import JsonlReader
from rods.structure.schema import CallValidator
from rods.types import JsonObject, Task, ToolCall, ToolResult, ToolSpec
from rods_mcp.session import McpSession

_FORMAT = 1
_SHOWN = 200  # characters of a call in a message


class Cassette:
    """A file of one JSON object a line: the tools first, then answers."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.tools: list[JsonObject] = []
        self._answers: dict[str, JsonObject] = {}
        self._lock = threading.Lock()

    @classmethod
    def read(cls, path: Path) -> Cassette:
        """The cassette in a file; a DataError where it is none."""
        cassette = cls(path)
        reader = JsonlReader(path)
        for number, line in reader:
            entry = reader.parse(number, line)
            if number == 1:
                cassette.tools = _tools(entry, path)
            elif isinstance(entry.get("key"), str):
                cassette._answers[str(entry["key"])] = entry
            else:
                raise DataError(f"{path} line {number} is no answer: it has no key.")
        if not cassette.tools:
            raise DataError(f"{path} is empty: nothing was recorded in it.")
        return cassette

    @classmethod
    def recording(cls, path: Path, tools: Sequence[JsonObject]) -> Cassette:
        """A cassette that goes on where the file ends; another server's file is refused."""
        cassette = cls.read(path) if path.exists() else cls(path)
        if cassette.tools and cassette.tools != list(tools):
            raise DataError(
                f"{path} was recorded with other tools. Record into a new file "
                "(environment.cassette)."
            )
        if not cassette.tools:
            path.parent.mkdir(parents=True, exist_ok=True)
            cassette.tools = list(tools)
            cassette._append({"rods_mcp": _FORMAT, "tools": list(tools)})
        return cassette

    def answer(self, key: str) -> JsonObject | None:
        """What was recorded under the key."""
        return self._answers.get(key)

    def keep(self, key: str, **entry: Any) -> None:
        """The answer stands in the file; one that contradicts an earlier one is a WorldError."""
        with self._lock:
            known = self._answers.get(key)
            if known is None:
                self._answers[key] = {"key": key, **entry}
                self._append(self._answers[key])
        if known is not None and any(known.get(name) != value for name, value in entry.items()):
            raise WorldError(
                f"{self.path} already holds another answer to {_shown(entry.get('call'))} after "
                "the same calls: the server does not repeat. Mask what varies (environment.masks)."
            )

    def _append(self, entry: Mapping[str, Any]) -> None:
        line = json.dumps(entry, ensure_ascii=False) + "\n"
        with self.path.open("ab") as file:  # one write a line: a kill tears none
            os.write(file.fileno(), line.encode())


def _tools(entry: JsonObject, path: Path) -> list[JsonObject]:
    tools = entry.get("tools")
    if entry.get("rods_mcp") != _FORMAT or not isinstance(tools, list):
        raise DataError(f"{path} is no cassette of this version of rods-mcp.")
    return [dict(tool) for tool in tools if isinstance(tool, dict)]


class History:
    """The calls that led to where a session is, as a key."""

    def __init__(self, task: Task, specs: Mapping[str, ToolSpec]) -> None:
        self._specs = specs
        self._start = canonical_json(task.initial_state)
        self.calls: tuple[str, ...] = ()

    def key(self, what: str) -> str:
        """The key of an answer here; ``what`` is a call, or "state"."""
        return text_digest("\n".join((self._start, *self.calls, what)), digits=32)

    def after(self, call: ToolCall) -> None:
        """The call was made."""
        if self._specs[call.name].effect != "read":
            self.calls = (*self.calls, spelled(call))


def spelled(call: ToolCall) -> str:
    """The call in one line; the order of its arguments does not count."""
    return f"{call.name} {canonical_json(call.arguments)}"


class RecordingSession(Session):
    """A live session whose answers are kept."""

    def __init__(self, live: McpSession, task: Task, cassette: Cassette, history: History) -> None:
        self._live, self._cassette, self._history = live, cassette, history

    def call(self, call: ToolCall) -> ToolResult:
        """Run the call; the answer is recorded if the server saw it."""
        before = len(self._live.done)
        result = self._live.call(call)
        if len(self._live.done) > before:
            key = self._history.key(spelled(call))
            self._cassette.keep(key, call=spelled(call), result=result.model_dump())
            self._history.after(call)
        return result

    def state(self) -> JsonObject:
        """The live state, recorded."""
        state = self._live.state()
        self._cassette.keep(self._history.key("state"), call="state", state=state)
        return state

    def snapshot(self) -> Any:
        """The live snapshot and the history."""
        return self._live.snapshot(), self._history.calls

    def restore(self, snapshot: Any) -> None:
        """Both are back."""
        live, self._history.calls = snapshot
        self._live.restore(live)

    def close(self) -> None:
        """The server is given back."""
        self._live.close()


class ReplayingSession(Session):
    """Answers what was recorded; anything else is a WorldError, never a guess."""

    def __init__(self, cassette: Cassette, validator: CallValidator, history: History) -> None:
        self._cassette, self._validator, self._history = cassette, validator, history

    def call(self, call: ToolCall) -> ToolResult:
        """The recorded answer."""
        if problem := self._validator.problem(call):
            return ToolResult(content=f"error: {problem[:160]}", error=True)
        entry = self._recorded(spelled(call))
        self._history.after(call)
        return ToolResult.model_validate(entry["result"])

    def state(self) -> JsonObject:
        """The recorded state."""
        state: JsonObject = json.loads(json.dumps(self._recorded("state")["state"]))
        return state

    def snapshot(self) -> tuple[str, ...]:
        """The history: all that there is."""
        return self._history.calls

    def restore(self, snapshot: tuple[str, ...]) -> None:
        """The history is that of the snapshot."""
        self._history.calls = snapshot

    def _recorded(self, what: str) -> JsonObject:
        entry = self._cassette.answer(self._history.key(what))
        if entry is None:
            calls = self._history.calls
            last = f", the last {_shown(calls[-1])}" if calls else ""
            raise WorldError(
                f"{self._cassette.path} has no answer to {_shown(what)} after {len(calls)} calls "
                f"that change something{last}. Record it: "
                "-o environment.cassette_mode=record with the server at hand."
            )
        return entry


def _shown(what: Any) -> str:
    text = str(what)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
