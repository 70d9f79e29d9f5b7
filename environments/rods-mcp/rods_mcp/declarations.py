"""What is known of a server: the user's settings, then its declaration, then the defaults."""

from __future__ import annotations

import os
import shlex
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from rods.errors import ConfigError, did_you_mean
from rods_mcp.checking import check
from rods_mcp.config import McpConfig

_EXAMPLE = '-o environment.server="npx -y @modelcontextprotocol/server-memory"'
_OWN_KEYS = frozenset({"match", "arguments", "seeds", "says"})  # of a declaration alone
_JOINED = frozenset({"env", "effects", "fixed", "masks"})  # what the user sets is added


@dataclass(frozen=True, slots=True)
class Declared:
    """Everything that is fixed for a run; ``options`` have no gaps left."""

    options: McpConfig
    command: tuple[str, ...]
    seeds: Mapping[str, Any]  # what exploring starts from
    says: Mapping[str, Sequence[str]]  # tool -> how users ask for it, {field} for values


def declared(config: McpConfig) -> Declared:
    """The settings with the server's declaration under them; ConfigErrors name the key.

    A setting at its default counts as left out: the settings of a run are written out in full, and
    mean the same when they are read again.
    """
    known = _declaration(config)
    values = {key: value for key, value in known.items() if key not in _OWN_KEYS}
    given = config.model_dump(exclude_defaults=True)
    if config.allow:
        values.pop("deny", None)
    for key, value in given.items():
        if key in _JOINED and key in values:
            value = {**values[key], **value} if isinstance(value, dict) else [*values[key], *value]
        values[key] = value
    if not config.remote:
        values["reset"] = values.get("reset") or "respawn"
    by_files = values.get("reset") == "files"
    values["snapshot"] = values.get("snapshot") or ("files" if by_files else "replay")
    options = McpConfig.model_validate(values)
    check(options)
    command = () if options.remote else _command(config, known)
    return Declared(options, command, known.get("seeds", {}), known.get("says", {}))


def _command(config: McpConfig, known: Mapping[str, Any]) -> tuple[str, ...]:
    try:
        words = tuple(shlex.split(config.server))
    except ValueError as error:
        raise ConfigError(f"environment.server = {config.server!r}: {error}.") from error
    if not words and config.replays:
        return ()
    if not words:
        raise ConfigError(f"environment.server is not set. Give the server's command: {_EXAMPLE}.")
    words = tuple(map(_from_here, words))
    given = any("{workdir}" in word for word in words)
    return words if given else (*words, *known.get("arguments", ()))


def _from_here(word: str) -> str:
    """A path as the user meant it: servers are started in folders of their own."""
    if "/" in word and os.path.exists(word):
        return os.path.abspath(word)
    return os.path.abspath(word) if os.path.isfile(word) else word


def _declaration(config: McpConfig) -> Mapping[str, Any]:
    """The declaration of the server, by its name or by its command; empty where none is known."""
    known = declarations()
    if config.profile == "none":
        return {}
    if config.profile != "auto":
        if config.profile not in known:
            raise ConfigError(
                f"environment.profile = {config.profile!r} is not known. "
                f"{did_you_mean(config.profile, ('auto', 'none', *known))}"
            )
        return known[config.profile]
    if config.remote:
        return {}
    for one in known.values():
        if any(text in config.server for text in one["match"]):
            return one
    return {}


@cache
def declarations() -> Mapping[str, Mapping[str, Any]]:
    """Name -> declaration, of the servers that were tried."""
    text = files("rods_mcp").joinpath("declarations.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)
