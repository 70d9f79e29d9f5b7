"""The tools of a server as a policy gets them: allowed, annotated, without hidden arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatch
from typing import Any

from rods.errors import ConfigError, did_you_mean
from rods.types import Effect, JsonObject, ToolSpec
from rods_mcp.config import McpConfig


def toolspecs(listed: Sequence[JsonObject], options: McpConfig) -> dict[str, ToolSpec]:
    """Name -> specification of every tool that a policy may have, in the server's order."""
    names = [str(tool["name"]) for tool in listed]
    for pattern in options.allow:
        if not any(fnmatch(name, pattern) for name in names):
            raise ConfigError(
                f"environment.allow: no tool is called {pattern!r}. {did_you_mean(pattern, names)}"
            )
    specs = {str(t["name"]): _spec(t, options) for t in listed if offered(str(t["name"]), options)}
    if not specs:
        raise ConfigError(
            f"No tool of the server is left for a policy (it has {', '.join(names) or 'none'}). "
            "Change environment.allow and environment.deny."
        )
    return specs


def offered(name: str, options: McpConfig) -> bool:
    """The tool is allowed, and neither denied nor a part of resets and snapshots."""
    if name in _machinery(options) or any(fnmatch(name, one) for one in options.deny):
        return False
    return not options.allow or any(fnmatch(name, one) for one in options.allow)


def _machinery(options: McpConfig) -> set[str]:
    calls = [options.reset_tool]
    if options.snapshot_tools is not None:
        calls += [options.snapshot_tools.save, options.snapshot_tools.restore]
    return {call.tool for call in calls if call is not None}


def _spec(tool: JsonObject, options: McpConfig) -> ToolSpec:
    name = str(tool["name"])
    schema: Any = tool.get("inputSchema") or {}
    hidden = {options.reset_argument, *options.fixed}
    properties = {n: p for n, p in (schema.get("properties") or {}).items() if n not in hidden}
    required = [n for n in schema.get("required") or () if n not in hidden]
    parameters: JsonObject = {"type": "object", "properties": properties, "required": required}
    if "$defs" in schema:
        parameters["$defs"] = schema["$defs"]
    description = str(tool.get("description") or tool.get("title") or name)
    return ToolSpec(
        name=name,
        description=description.strip(),
        parameters=parameters,
        effect=_effect(name, tool.get("annotations"), options.effects),
    )


def _effect(name: str, annotations: Any, overrides: Mapping[str, Effect]) -> Effect:
    """The declared effect, else what the server's annotation says; without one it is unknown."""
    if name in overrides:
        return overrides[name]
    hint = (annotations or {}).get("readOnlyHint")
    if hint is None:
        return "unknown"
    return "read" if hint else "write"
