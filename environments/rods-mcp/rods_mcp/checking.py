"""Settings that cannot be: refused before anything starts."""

from __future__ import annotations

import json
import os
from urllib.parse import parse_qsl, urlsplit

from rods.errors import ConfigError
from rods_mcp.config import McpConfig
from rods_mcp.credentials import is_credential, refuse_plain

_ELSEWHERE = ("respawn", "files")  # ways of resetting that need a process and a folder of ours
_OURS = ("env", "prepare", "state_files")  # settings that need them too


def check(options: McpConfig) -> None:
    """A ConfigError names the first setting that does not fit the others."""
    if options.remote:
        _check_address(options)
        _check_remote(options)
    elif options.server:
        _check_process(options)
    _check_needs(options)
    if options.shared and options.reset not in ("tool", "hook"):
        raise ConfigError(
            "environment.shared = true needs a reset of the one state: 'tool' or 'hook', not "
            f"{options.reset!r}, which gives each session its own."
        )
    if takes_turns(options) and not options.replays and _world_size() > 1:
        raise ConfigError(
            "Several processes cannot take turns on one state of a server (environment.shared). "
            "Run one, give each a server of its own, or declare environment.shared = false if "
            "sessions have states of their own."
        )


def takes_turns(options: McpConfig) -> bool:
    """The sessions act on one state."""
    if options.shared is None:
        return options.remote and options.reset in ("tool", "hook")
    return options.shared


def _world_size() -> int:
    return int(os.environ.get("WORLD_SIZE", "1"))


def _check_address(options: McpConfig) -> None:
    try:
        parts = urlsplit(options.server)
        known, _ = bool(parts.hostname), parts.port
    except ValueError as error:
        raise ConfigError(f"environment.server = {options.server!r}: {error}.") from error
    asked = any(is_credential(name) for name, _ in parse_qsl(parts.query, keep_blank_values=True))
    if "@" in parts.netloc or "${" in options.server or asked:
        raise ConfigError(
            "environment.server holds a credential, and an address stands in files, logs and "
            'messages. Send it as a header: headers = { Authorization = "Bearer ${NAME}" }.'
        )
    if not known:
        raise ConfigError(
            f"environment.server = {options.server!r} names no host. Expected an address such as "
            "http://127.0.0.1:8000/mcp."
        )
    refuse_plain(options.headers)


def _check_remote(options: McpConfig) -> None:
    """A server that runs already has no folder of ours, and is not started by us."""
    if options.reset is None or options.reset in _ELSEWHERE:
        what = "is not set" if options.reset is None else f"= {options.reset!r}"
        raise ConfigError(
            f"environment.reset {what}, but {options.server} runs already: rods can neither start "
            "it again nor empty its folder. Declare 'tool', 'hook' or 'argument', or 'session' if "
            "its state is that of the MCP session."
        )
    for key in _OURS:
        if getattr(options, key):
            raise ConfigError(
                f"environment.{key} is for servers that rods starts, and {options.server} runs "
                "already. Leave it out."
            )
    if "{workdir}" in json.dumps(options.model_dump(mode="json")):
        raise ConfigError(
            f"{{workdir}} is the folder of a server that rods starts, and {options.server} runs "
            "already. Leave it out."
        )


def _check_process(options: McpConfig) -> None:
    if options.reset == "session":
        raise ConfigError(
            "environment.reset = 'session' is for a server with an address. One that rods starts "
            "has one session a process: use 'respawn'."
        )
    if options.headers:
        raise ConfigError(
            "environment.headers are for a server with an address (http://...). Give a server that "
            "rods starts its credentials in environment.env."
        )


def _check_needs(options: McpConfig) -> None:
    """What a way of resetting or of taking snapshots needs is there."""
    needs = {
        "tool": ("reset_tool", options.reset_tool),
        "hook": ("reset_hook", options.reset_hook),
        "argument": ("reset_argument", options.reset_argument),
    }
    key, value = needs.get(options.reset or "", ("", True))
    if not value:
        raise ConfigError(f"environment.reset = {options.reset!r} needs environment.{key}.")
    if options.snapshot == "tool" and options.snapshot_tools is None:
        raise ConfigError("environment.snapshot = 'tool' needs environment.snapshot_tools.")
    if options.snapshot == "files" and options.reset != "files":
        raise ConfigError(
            "environment.snapshot = 'files' copies the folder under a running server, which only "
            "works with environment.reset = 'files'. Use 'replay'."
        )
    if options.cassette_mode == "record" and options.cassette is None:
        raise ConfigError("environment.cassette_mode = 'record' needs environment.cassette.")
