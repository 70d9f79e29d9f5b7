"""``rods serve``: an environment behind an MCP server."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rods.cli.options import parts_without_demo, settings_options
from rods.cli.output import say
from rods.errors import ConfigError

if TYPE_CHECKING:
    from rods.interfaces import Environment
    from rods.serving.tool_handler import ToolHandler

EPILOG = """\b
Examples
  rods serve office                         stdio: an MCP client starts this command itself
  rods serve office --port 8000             HTTP: http://127.0.0.1:8000/mcp, many clients at once
  rods serve bfcl --split eval -o environment.empty_turns=judged --port 0
  rods serve office --task office-easy-0-train-0   an agent finds the task, and need not reset
\b
The policy sees the world's tools. The trainer calls rods_tasks, rods_reset, rods_end_turn,
rods_snapshot, rods_restore, rods_progress and rods_verify, which are listed with --list-control
only. Each client session is one episode at a time."""


@click.command(epilog=EPILOG)
@click.argument("plugin")
@settings_options
@click.option(
    "--split",
    type=click.Choice(["train", "eval", "both"]),
    default="train",
    show_default=True,
    help="The tasks that can be played.",
)
@click.option("--port", type=click.IntRange(0, 65535), help="HTTP; 0: any.  [default: stdio]")
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen.")
@click.option("--task", metavar="ID", help="Begin every session with this task.")
@click.option("--list-control", is_flag=True, help="List the trainer's tools beside the world's.")
@click.option(
    "--calls-per-turn",
    type=click.IntRange(min=1),
    default=64,
    show_default=True,
    help="More in one user turn end the episode.",
)
def command(
    plugin: str,
    config: Path | None,
    overrides: Sequence[str],
    split: Any,
    port: int | None,
    host: str,
    task: str | None,
    list_control: bool,
    calls_per_turn: int,
) -> int:
    """Put the environment of PLUGIN behind an MCP server, for trainers and agents of others.

    Over stdio only the protocol is on stdout, and the end of stdin ends the server; logs are on
    stderr.
    """
    try:
        import mcp  # noqa: F401
    except ImportError as error:
        raise ConfigError("Serving needs the package mcp: pip install 'rods[serve]'.") from error
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(message)s")
    with redirect_stdout(sys.stderr):  # whatever a plugin prints is not the protocol
        environment = parts_without_demo(plugin, config, overrides).environment()
    try:
        handlers = _handlers(environment, split, task, list_control, calls_per_turn)
        _serve(environment.name, handlers, port, host)
    finally:
        environment.close()
    return 0


def _handlers(
    environment: Environment,
    split: Any,
    task: str | None,
    list_control: bool,
    calls_per_turn: int,
) -> Callable[[], ToolHandler]:
    """Makes a place for a client; faults of the command line are found before the first comes."""
    from rods.episode import EpisodeLimits
    from rods.serving.task_index import TaskIndex
    from rods.serving.tool_handler import ToolHandler, refuse_taken_names

    refuse_taken_names(environment)
    index = TaskIndex(environment, ("train", "eval") if split == "both" else (split,))
    if not index.tasks():
        raise ConfigError(f"{environment.name} has no task in the split {split!r}; try another.")
    if task is not None:
        index.task(task)
    limits = EpisodeLimits(max_steps_per_turn=calls_per_turn)
    return lambda: ToolHandler(environment, index, limits, list_control, task)


def _serve(name: str, handlers: Callable[[], ToolHandler], port: int | None, host: str) -> None:
    from rods import __version__
    from rods.serving.mcp_server import EnvironmentServer, Sessions
    from rods.serving.transports import serve_http, serve_stdio

    sessions = Sessions(handlers)
    server = EnvironmentServer(name, __version__, sessions, http=port is not None)
    if port is None:
        serve_stdio(server, sessions)
    else:
        serve_http(server, sessions, host, port, lambda url: say(f"{name}: {url}"))
