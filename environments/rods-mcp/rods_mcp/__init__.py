"""Entry point of the plugin; its classes are imported when a hook asks for them."""

from __future__ import annotations

from rods.hookspecs import hookimpl
from rods.interfaces import Environment


@hookimpl
def rods_register_environments() -> list[type[Environment]]:
    """Any MCP server."""
    from rods_mcp.environment import McpEnvironment  # noqa: PLC0415 - imported when asked

    return [McpEnvironment]
