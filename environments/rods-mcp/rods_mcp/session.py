"""One open world: a server in its first state, and the calls that were made since."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from rods.digests import text_digest
from rods.errors import DataError, WorldError
from rods.interfaces import Session
from rods.structure.schema import CallValidator
from rods.types import JsonObject, Task, ToolCall, ToolResult
from rods_mcp import places
from rods_mcp.config import DeclaredCall, McpConfig
from rods_mcp.connection import Answer, described
from rods_mcp.fleet import Fleet, Place
from rods_mcp.translation import SESSION, WORLD, Translator, loaded

_SHOWN = 160  # characters of an answer in a message


@dataclass(frozen=True, slots=True)
class Done:
    """A call that reached the server, and what it gave."""

    call: ToolCall
    result: ToolResult

    @property
    def digest(self) -> str:
        """16 hex digits over the result."""
        return text_digest(f"{self.result.error}\n{self.result.content}", digits=16)


@dataclass(frozen=True, slots=True)
class Rules:
    """What all sessions of one environment share."""

    options: McpConfig
    fleet: Fleet
    translator: Translator
    validator: CallValidator
    tools: Mapping[str, JsonObject]  # as first listed
    state: tuple[DeclaredCall, ...]
    state_files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Snapshot:
    done: tuple[Done, ...]
    saved: Any = None  # files and folders, or what the server's own tool gave


class McpSession(Session):
    """A server that plays one rollout; every fault of it is a WorldError."""

    def __init__(self, rules: Rules, task: Task, *, fresh: bool = False) -> None:
        """``fresh``: in a new process, whatever could be reused."""
        self._rules, self._options = rules, rules.options
        contents = places.files_of(task.initial_state)
        if contents and self._options.reset not in ("files", "respawn"):
            raise DataError(
                f"Task {task.id!r} has initial_state.files, which environment.reset = "
                f"{self._options.reset!r} cannot put back. Use 'files' or 'respawn', or "
                "initial_state.calls."
            )
        self._opening = opening_calls(task.initial_state)
        self.done: list[Done] = []
        self._place: Place | None = None
        with self._turn(begins=True):
            self._place = rules.fleet.take(contents, fresh=fresh)
            try:
                self._compare_tools()
                self._open()
            except BaseException:
                self.close()
                raise

    # ------------------------------------------------------------------ the interface
    def call(self, call: ToolCall) -> ToolResult:
        """Run one call; what does not fit the schema is an error the server never sees."""
        if problem := self._rules.validator.problem(call):
            return ToolResult(content=f"error: {problem[:_SHOWN]}", error=True)
        most = self._options.max_argument_kb
        if len(str(call.arguments)) > most * 1024:
            return ToolResult(content=f"error: the arguments exceed {most} kB", error=True)
        with self._turn():
            if self._here.server.tools_changed:
                self._compare_tools()
            done = Done(call, self._ask(call.name, call.arguments))
            self.done.append(done)
        return done.result

    def state(self) -> JsonObject:
        """What the declared reading calls answer, and the declared files."""
        state: JsonObject = {}
        with self._turn():
            for call in self._rules.state:
                key = call.tool if call.tool not in state else f"{call.tool} {call.arguments}"
                state[key] = loaded(self._ask(call.tool, call.arguments).content)
        if self._rules.state_files:
            folder, names = self._here.workdir, self._names
            found = dict(places.texts(folder, self._rules.state_files))
            seen = self._rules.translator.seen
            state["files"] = {n: seen("", loaded(text), names) for n, text in found.items()}
        return state

    def snapshot(self) -> _Snapshot:
        """The calls so far, and with them a copy of the folder or what the server itself saved."""
        tools = self._options.snapshot_tools
        if self._options.snapshot == "files":
            return _Snapshot(tuple(self.done), places.read(self._here.workdir))
        if self._options.snapshot == "tool" and tools is not None:
            with self._turn():
                return _Snapshot(tuple(self.done), self._declared(tools.save).text)
        return _Snapshot(tuple(self.done))

    def restore(self, snapshot: _Snapshot) -> None:
        """The world is where the snapshot was taken; a replay that differs is a WorldError."""
        tools = self._options.snapshot_tools
        with self._turn(begins=True):
            if self._options.snapshot == "files":
                places.refill(self._here.workdir, *snapshot.saved)
            elif self._options.snapshot == "tool" and tools is not None:
                self._declared(tools.restore, {tools.argument: snapshot.saved})
            else:
                self._renew()
                self._replay(snapshot.done)
            self.done = list(snapshot.done)

    def close(self) -> None:
        """The server is given back, or ended if it cannot be used again."""
        if self._place is not None:
            place, self._place = self._place, None
            self._rules.fleet.give_back(place)
            if self._rules.fleet.turns is not None:
                self._rules.fleet.turns.leave(self)

    # ------------------------------------------------------------------ inside
    @property
    def _here(self) -> Place:
        if self._place is None:
            raise WorldError("The session is closed; its server was given back.")
        return self._place

    @property
    def _names(self) -> Mapping[str, str]:
        """Neutral name -> this session's own."""
        return {WORLD: str(self._here.workdir), SESSION: self._here.key}

    def _open(self) -> None:
        """The calls of the initial state have run; one that fails is a fault of the task."""
        for call in self._opening:
            result = self._ask(call.name, call.arguments)
            if result.error:
                raise DataError(
                    f"initial_state.calls: {call.name}({call.arguments}) gives the error "
                    f"{result.content[:_SHOWN]!r}."
                )

    @contextmanager
    def _turn(self, *, begins: bool = False) -> Iterator[None]:
        """The server holds this session's state, if all act on one; ``begins``: or soon does."""
        turns = self._rules.fleet.turns
        if turns is None:
            yield
        else:
            with turns.of(self, None if begins else self._put_back):
                yield

    def _put_back(self) -> None:
        """The one state is this session's again, after others acted on it."""
        place = self._here
        self._rules.fleet.reset(place, place.contents)
        self._replay(self.done)

    def _renew(self) -> None:
        place, self._place = self._here, None
        self._place = self._rules.fleet.renew(place)

    def _replay(self, done: Sequence[Done]) -> None:
        """The initial state and these calls are made again; one that differs is a WorldError."""
        self._open()
        for index, before in enumerate(done):
            again = Done(before.call, self._ask(before.call.name, before.call.arguments))
            if again.digest != before.digest:
                raise WorldError(
                    f"The state cannot be put back: call {index + 1} of {len(done)}, "
                    f"{before.call.name}({before.call.arguments}), now gives "
                    f"{again.result.content[:_SHOWN]!r} instead of "
                    f"{before.result.content[:_SHOWN]!r}. Mask what varies (environment.masks), or "
                    "declare the server's own snapshots (environment.snapshot_tools)."
                )

    def _ask(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        sent = self._rules.translator.arguments(dict(arguments), self._names)
        sent = self._hidden(tool) | sent
        answer = self._here.server.call(tool, _folder_filled(sent, str(self._here.workdir)))
        return self._rules.translator.result(tool, answer, self._names)

    def _hidden(self, tool: str) -> dict[str, Any]:
        """The arguments that the policy does not see, of those that the tool takes."""
        schema: Any = self._rules.tools.get(tool, {}).get("inputSchema") or {}
        given: dict[str, Any] = dict(self._options.fixed)
        if self._options.reset == "argument":
            given[self._options.reset_argument] = self._here.key
        return {name: given[name] for name in schema.get("properties") or () if name in given}

    def _declared(self, call: DeclaredCall, more: Mapping[str, Any] | None = None) -> Answer:
        answer = self._here.server.call(call.tool, {**call.arguments, **(more or {})})
        if answer.error:
            raise WorldError(f"The server's {call.tool!r} failed: {answer.text[:_SHOWN]}")
        return answer

    def _compare_tools(self) -> None:
        """The server offers what it offered first; anything else is another world."""
        now, first = described(self._here.server.tools()), self._rules.tools
        if now == first:
            return
        changed = sorted(name for name in {*now, *first} if now.get(name) != first.get(name))
        raise WorldError(
            f"The server changed its tools in mid-run: {', '.join(changed[:5])}. A policy that "
            "was shown the first ones cannot be judged by these."
        )


def opening_calls(initial_state: JsonObject) -> list[ToolCall]:
    """The calls that make an initial state."""
    calls = initial_state.get("calls", [])
    if not isinstance(calls, list):
        raise DataError("initial_state.calls is no list of {name, arguments}.")
    return [ToolCall.model_validate(call) for call in calls]


def _folder_filled(arguments: dict[str, Any], folder: str) -> dict[str, Any]:
    """Declared calls may name the folder as in the command."""
    return {
        name: value.replace("{workdir}", folder) if isinstance(value, str) else value
        for name, value in arguments.items()
    }
