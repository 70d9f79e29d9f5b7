"""A world behind the core's session interface."""

from __future__ import annotations

from typing import Any

from rods.interfaces import Session
from rods.types import JsonObject, ToolCall, ToolResult
from rods_tau2.world import Side, World


class Tau2Session(Session):
    """One rollout's world: it shares records with others, but none that can change."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._dialogue = world.domain.dialogue

    def call(self, call: ToolCall) -> ToolResult:
        """Upstream's result text; a bad call is a result with ``error``."""
        return self._called(call, "assistant" if self._dialogue else None)

    def user_call(self, call: ToolCall) -> ToolResult:
        """The same for a call of the user, who has tools in telecom."""
        return self._called(call, "user")

    def _called(self, call: ToolCall, side: Side | None) -> ToolResult:
        content, error = self._world.call(call.name, call.arguments, side)
        refused = side is not None and not self._world.has_tool(call.name, side)
        return ToolResult(content=content, error=error, refused=refused)

    def state(self) -> JsonObject:
        """The task's own records and all that have changed, by table."""
        return self._world.state()

    def snapshot(self) -> Any:
        """A copy of the records that were used."""
        return self._world.snapshot()

    def restore(self, snapshot: Any) -> None:
        """Back to the snapshot."""
        self._world.restore(snapshot)
