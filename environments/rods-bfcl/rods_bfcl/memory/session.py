"""One rollout's memory behind the core's session interface."""

from __future__ import annotations

from typing import Any

from rods.interfaces import Session
from rods.types import JsonObject, ToolCall, ToolResult
from rods_bfcl.bounds import check_arguments
from rods_bfcl.memory.backends import Backend, Backends, held
from rods_bfcl.rendering import ERROR_PREFIX, is_failure, render


class MemorySession(Session):
    """A memory of its own: what one rollout writes, no other reads."""

    def __init__(self, backends: Backends, backend: Backend, memory: JsonObject) -> None:
        self._backends, self._backend = backends, backend
        self._methods = backends.of(backend).methods
        self._instance = backends.filled(backend, memory)

    def call(self, call: ToolCall) -> ToolResult:
        """The official result text; a bad call is a result with ``error``."""
        method = self._methods.get(call.name)
        if method is None:
            return ToolResult(
                content=f"{ERROR_PREFIX} name {call.name!r} is not defined", error=True
            )
        try:
            value = method(self._instance, **check_arguments(call.arguments))
            return ToolResult(content=render(value), error=is_failure(value))
        except Exception as error:  # noqa: BLE001 - upstream raises anything for a bad argument
            return ToolResult(content=f"{ERROR_PREFIX} {error}", error=True)

    def state(self) -> JsonObject:
        """What the memory holds."""
        return held(self._backend, self._instance)

    def snapshot(self) -> Any:
        """A copy of the memory."""
        return self.state()

    def restore(self, snapshot: Any) -> None:
        """Back to the snapshot."""
        self._instance = self._backends.filled(self._backend, snapshot)
