"""One open office."""

from __future__ import annotations

from rods.interfaces import Session
from rods.types import JsonObject, JsonValue, ToolCall, ToolResult
from rods_office.apps import TOOLS
from rods_office.state import Delta, Refused, State, copied, delta


class OfficeSession(Session):
    """A world of its own: the initial state is copied, nothing outside is touched."""

    def __init__(self, initial_state: JsonObject | State) -> None:
        self._state = copied(initial_state)

    def call(self, call: ToolCall) -> ToolResult:
        """Run one call; whatever is wrong with it, the state is as before and ``error`` is set."""
        tool = TOOLS.get(call.name)
        if tool is None:
            return ToolResult(content="error: no such tool", error=True)
        try:
            arguments = tool.arguments(call.arguments)
            return ToolResult(content=tool.run(self._state, **arguments))
        except (Refused, ValueError) as error:
            return ToolResult(content=f"error: {error}", error=True)

    def state(self) -> JsonObject:
        """All collections, as a copy."""
        return as_json(self._state)

    def has(self, collection: str, field: str, value: JsonValue) -> bool:
        """Whether a record has this value."""
        return any(record[field] == value for record in self._state[collection])

    def changes(self, since: State) -> Delta:
        """What changed since a snapshot."""
        return delta(since, self._state)

    def snapshot(self) -> State:
        """A copy of the state."""
        return copied(self._state)

    def restore(self, snapshot: State) -> None:
        """Go back to ``snapshot``, which stays usable."""
        self._state = copied(snapshot)


def as_json(state: State) -> JsonObject:
    collections: dict[str, JsonValue] = {}
    for name, records in state.items():
        rows: list[JsonValue] = [dict(record) for record in records]
        collections[name] = rows
    return collections
