"""A world behind the core's session interface."""

from __future__ import annotations

from typing import Any

from rods.interfaces import Session
from rods.types import JsonObject, ToolCall, ToolResult
from rods_agentdojo.suites import Suite, dumped


class AgentDojoSession(Session):
    """One rollout's world."""

    def __init__(self, suite: Suite, world: Any) -> None:
        self._suite, self._world = suite, world

    def call(self, call: ToolCall) -> ToolResult:
        """The result as JSON; a bad call is a result with ``error``."""
        content, error = self._suite.call(self._world, call.name, call.arguments)
        return ToolResult(content=content, error=error)

    def state(self) -> JsonObject:
        """The whole world."""
        return dumped(self._world)

    def snapshot(self) -> Any:
        """A copy of the world."""
        return self._world.model_copy(deep=True)

    def restore(self, snapshot: Any) -> None:
        """Back to the snapshot, which can be used again."""
        self._world = snapshot.model_copy(deep=True)
