"""Which conformance kit a plugin is tested with, by what it brings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from rods.assembly import Assembly
from rods.interfaces import Environment
from rods.plugin_manager import BUILTIN
from rods.testing.buffer_checks import iter_buffer_checks
from rods.testing.conformance import iter_checks
from rods.testing.part_checks import iter_selector_checks, iter_trainer_checks
from rods.types import Check, Split

_KINDS = ("environment", "trainer", "selector", "buffer")  # the first that a plugin brings


class Checking:
    """The tests of one plugin. An environment is open until ``close``."""

    def __init__(
        self,
        parts: Assembly,
        plugin: str,
        *,
        split: Split | Literal["both"],
        limit: int,
        sessions: int,
    ) -> None:
        self._parts, self._split, self._limit, self._sessions = parts, split, limit, sessions
        self.kind, own = _brought(parts, plugin)
        if own and parts.settings.component(self.kind) is None:
            parts.settings.underlay({self.kind: {"name": own}}, f"plugin {plugin!r}")
        self.name: str = parts.component(self.kind).name
        self._environment: Environment | None = None
        if self.kind == "environment":
            self._environment = parts.environment()
        else:
            parts.config(self.kind)  # a faulty option is told before anything runs

    def checks(self) -> Iterator[Check]:
        """One line a check, as soon as it is known."""
        if self._environment is not None:
            return iter_checks(
                self._environment,
                split=self._split,
                limit=self._limit,
                sessions=self._sessions,
                elsewhere=True,
            )
        if self.kind == "trainer":
            return iter_trainer_checks(self._parts.trainer)
        if self.kind == "buffer":
            return iter_buffer_checks(self._parts.buffer)
        return iter_selector_checks(self._parts.selector)

    def about(self) -> dict[str, Any]:
        """What was tested, as JSON."""
        if self._environment is None:
            return {self.kind: self.name}
        return {
            "environment": self.name,
            "snapshots": self._environment.snapshots,
            "determinism": self._environment.determinism,
            "data_hashes": dict(self._environment.data_hashes()),
        }

    def close(self) -> None:
        """End what the environment started."""
        if self._environment is not None:
            self._environment.close()


def _brought(parts: Assembly, plugin: str) -> tuple[str, str]:
    """What the plugin itself registers, and how it is called; else an environment, by default."""
    for kind in _KINDS:
        for name, registered in parts.plugins.components[kind].items():
            if registered.plugin.name == plugin != BUILTIN:
                return kind, name
    return "environment", ""
