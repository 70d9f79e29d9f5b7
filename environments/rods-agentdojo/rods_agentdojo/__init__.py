"""Entry point of the plugin; its classes are imported when a hook asks for them."""

from __future__ import annotations

from collections.abc import Iterable

from rods.hookspecs import hookimpl
from rods.interfaces import Environment


@hookimpl
def rods_register_environments() -> Iterable[type[Environment]]:
    """The AgentDojo world."""
    from rods_agentdojo.environment import AgentDojoEnvironment  # noqa: PLC0415 - imported when asked for

    return [AgentDojoEnvironment]
