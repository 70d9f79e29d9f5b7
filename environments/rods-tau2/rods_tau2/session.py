"""A world behind the core's session interface."""

from __future__ import annotations

from typing import Any

from rods.interfaces import Session
from rods.types import JsonObject, ToolCall, ToolResult
from rods_tau2.world import World


class Tau2Session(Session):
    """One rollout's world: it shares records with others, but none that can change."""

    def __init__(self, world: World) -> None:
        self._world = world

    def call(self, call: ToolCall) -> ToolResult:
        """Upstream's result text; a bad call is a result with ``error``."""
        content, error = self._world.call(call.name, call.arguments)
        return ToolResult(content=content, error=error)

    def state(self) -> JsonObject:
        """The task's own records and all that have changed, by table."""
        return self._world.state()

    def snapshot(self) -> Any:
        """A copy of the records that were used."""
        return self._world.snapshot()

    def restore(self, snapshot: Any) -> None:
        """Back to the snapshot."""
        self._world.restore(snapshot)
