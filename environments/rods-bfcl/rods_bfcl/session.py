"""A world behind the core's session interface."""

from __future__ import annotations

from typing import Any

from rods.errors import DataError, WorldError
from rods.interfaces import Session
from rods.types import JsonObject, ToolCall, ToolResult
from rods_bfcl.rendering import ERROR_PREFIX, is_failure, render
from rods_bfcl.states import public_state
from rods_bfcl.world import World


class BfclSession(Session):
    """One rollout's world. Nothing in it is shared with another session."""

    def __init__(self, world: World) -> None:
        self._world = world

    def call(self, call: ToolCall) -> ToolResult:
        """The official result text; a bad call is a result with ``error``."""
        try:
            value = self._world.execute(call.name, call.arguments)
            return ToolResult(content=render(value), error=is_failure(value))
        except (WorldError, DataError):
            raise
        except Exception as error:  # noqa: BLE001 - upstream raises anything for a bad argument
            return ToolResult(content=f"{ERROR_PREFIX} {error}", error=True)

    def state(self) -> JsonObject:
        """Class -> its public attributes: what the official checker compares."""
        return {name: public_state(self._world.instance(name)) for name in self._world.classes}

    def snapshot(self) -> Any:
        """A copy of the world."""
        return self._world.snapshot()

    def restore(self, snapshot: Any) -> None:
        """Back to the snapshot."""
        self._world.restore(snapshot)
