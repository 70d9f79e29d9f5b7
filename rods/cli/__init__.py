"""The ``rods`` command: commands are imported when they are called, errors become one line."""

from __future__ import annotations

import errno
import sys
from importlib import import_module
from typing import TYPE_CHECKING

import click

from rods import __version__
from rods.cli.options import refuse_empty_paths
from rods.errors import PluginError, RodsError, did_you_mean, reason
from rods.passwords import masked

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

# One file a command: rods/cli/NAME.py holds the click command as ``command``.
COMMANDS = {
    "run": "Train: the whole loop, or resume one.",
    "eval": "Score recorded trajectories, or evaluate a policy.",
    "synth": "Make verified variants offline.",
    "tune": "Optimise the synthesis's prompts for a language model.",
    "tasks": "List the tasks of a world.",
    "pool": "Look into a run's pool, or export it.",
    "plot": "Draw a run, or several over each other.",
    "new": "Write a plugin that works, ready to be edited.",
    "serve": "Put a world behind an MCP server.",
    "check": "Test a plugin against the interfaces.",
    "plugins": "List what is installed, and the options of each part.",
}

_LONGEST = 300  # characters of a message that repeats what was typed

EPILOG = """\b
Example: train on the office world, with the settings of its demo, and go on after an interruption
  rods run --plugins office,grpo-trl --out runs/first
  rods run --resume runs/first
\b
`rods COMMAND --help` has examples for each command."""


class LazyGroup(click.Group):
    """Knows its commands by name and imports one when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Built-in commands in their order, then those of plugins."""
        return [*COMMANDS, *sorted(_extra_commands().keys() - COMMANDS.keys())]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The imported command, or None."""
        if cmd_name in COMMANDS:
            command = import_module(f"rods.cli.{cmd_name}").command
            assert isinstance(command, click.Command)
            return refuse_empty_paths(command)
        found = _extra_commands().get(cmd_name)
        return refuse_empty_paths(_load_extra(found)) if found else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does it, but an unknown name comes with the nearest one."""
        name = args[0] if args else "-"
        if not name.startswith("-") and self.get_command(ctx, name) is None:
            hint = did_you_mean(name, self.list_commands(ctx))
            raise click.UsageError(f"No command {name!r}. {hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The table of commands, from text that needs no import."""
        rows = {**COMMANDS}
        for name, found in sorted(_extra_commands().items()):
            hidden = ", hidden by the command of rods itself" * (name in COMMANDS)
            rows[f"{name} " * bool(hidden) or name] = f"(from {_owners(found)}{hidden})"
        with formatter.section("Commands"):
            formatter.write_dl(list(rows.items()))


def _extra_commands() -> dict[str, list[EntryPoint]]:
    """Commands of plugins by name, from metadata; several of one name are kept apart."""
    from importlib.metadata import entry_points  # as slow as everything else here together

    found: dict[str, list[EntryPoint]] = {}
    for point in entry_points(group="rods.commands"):
        found.setdefault(point.name, []).append(point)
    return found


def _owners(points: list[EntryPoint]) -> str:
    return " and ".join(point.dist.name if point.dist else "unknown" for point in points)


def _load_extra(points: list[EntryPoint]) -> click.Command:
    where = f"Command {points[0].name!r} (from {_owners(points)})"
    if len(points) > 1:
        raise PluginError(f"{where} is in several distributions; uninstall all but one.")
    try:
        command = points[0].load()
    except (Exception, SystemExit) as error:
        raise PluginError(f"{where} cannot be imported: {reason(error)}") from error
    if not isinstance(command, click.Command):
        raise PluginError(f"{where} is a {type(command).__name__}, expected a click command.")
    return command


@click.group(cls=LazyGroup, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="rods", message="%(prog)s %(version)s")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def rods(debug: bool) -> None:
    """Keep the training tasks of a tool-use agent at the edge of what it can do."""


def main() -> None:
    """Entry point of the console script; the only place where an error becomes an exit status."""
    arguments = sys.argv[1:]
    debug = "--debug" in arguments  # anywhere on the line: it is wanted after a failure
    rest = [argument for argument in arguments if argument != "--debug"]
    try:
        status = rods.main(["--debug"] * debug + rest, "rods", standalone_mode=False)
    except click.ClickException as error:
        sys.exit(_refuse(error))
    except (KeyboardInterrupt, click.Abort) as stop:
        _say("Interrupted.")
        _say_notes(stop.__cause__ or stop)
        sys.exit(130)
    except Exception as error:
        if debug:
            raise
        sys.exit(_explain(error))
    sys.exit(status if isinstance(status, int) else 0)


def _refuse(error: click.ClickException) -> int:
    """Say in one line what is wrong with the command line; the exit status."""
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        error.show()  # the help, which is what was asked for
        return error.exit_code
    text = " ".join(error.format_message().split())
    text = f"{text[:_LONGEST]}..." if len(text) > _LONGEST else text
    context = error.ctx if isinstance(error, click.UsageError) else None
    _say(f"Error: {text}" + (f" (`{context.command_path} --help`)" if context else ""))
    return error.exit_code


def _explain(error: Exception) -> int:
    """Say in one line what went wrong, and in a second how to go on; the exit status."""
    status = 1
    if _disk_is_full(error):
        _say("Error: No space is left on the disk; make room, what was done is kept.")
    elif isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG:
        status = 2  # any path of the command line can be so, wherever it is first looked up
        _say(f"Error: {error.strerror}: {str(error.filename)[:60]}...; give a shorter path.")
    elif isinstance(error, RodsError):
        status = error.exit_status
        _say(f"Error: {error}")
    elif not isinstance(error, BrokenPipeError):
        _say(f"Error: {reason(error)} (`rods --debug ...` shows where)")
    _say_notes(error)
    return status


def _say_notes(error: BaseException) -> None:
    for note in getattr(error, "__notes__", ()):
        _say(note)


def _disk_is_full(error: BaseException | None) -> bool:
    """Whether the system or SQLite said so, anywhere in the chain of causes."""
    while error is not None:
        full = isinstance(error, OSError) and error.errno == errno.ENOSPC
        if full or "database or disk is full" in str(error):
            return True
        error = error.__cause__ or error.__context__
    return False


def _say(line: str) -> None:
    click.echo(masked(line), err=True)
