"""A stockroom of which a test replaces one part, and what the kit says of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rods.interfaces import Environment
from rods.testing import FakeEnvironment, check_environment
from rods.testing.world import TOOLS, FakeSession
from rods.types import Check, Split, Task, ToolCall, ToolResult, ToolSpec

REFUSED = "refused calls change nothing"
RUNS, COPIES = "reference runs without errors", "states are json copies"


def failed(environment: Environment, **options: Any) -> dict[str, str]:
    checks = check_environment(environment, **{"limit": 8, "sessions": 8, **options})
    assert all(check.fix for check in checks if not check.ok), "a row does not say what to do"
    return {check.name: check.detail for check in checks if not check.ok}


def row(environment: Environment, name: str) -> Check:
    """The row of that name."""
    return next(c for c in check_environment(environment, limit=8) if c.name == name)


class Patched(FakeEnvironment):
    """The stockroom with one part replaced."""

    def __init__(
        self,
        *,
        change: Callable[[Task], Task] = lambda task: task,
        session: type[FakeSession] = FakeSession,
        specs: Mapping[str, ToolSpec] = TOOLS,
        only: Split | None = None,
    ) -> None:
        super().__init__()
        self._change, self._session, self._specs, self._only = change, session, specs, only

    def tasks(self, split: Split) -> Sequence[Task]:
        return [self._change(task) for task in super().tasks(split)]

    def tools(self) -> Mapping[str, ToolSpec]:
        return self._specs

    def open(self, task: Task) -> FakeSession:
        kind = self._session if self._only in (None, task.split) else FakeSession
        return kind(task.initial_state)


class RaisingOnStrangers(FakeSession):
    """Looks tools up as if they were all known."""

    def call(self, call: ToolCall) -> ToolResult:
        TOOLS[call.name]
        return super().call(call)
