"""Options that several commands share, and the parts they build."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from rods.assembly import Assembly

F = TypeVar("F", bound=Callable[..., Any])


def component_options(command: F) -> F:
    """``--plugins``, ``--config`` and ``-o``: what is loaded and how it is set."""
    plugins = click.option(
        "--plugins", metavar="NAMES", help="Plugins to load, separated by commas."
    )
    return plugins(settings_options(command))


def settings_options(command: F) -> F:
    """``--config`` and ``-o``: how the parts are set."""
    options = (
        click.option(
            "--config",
            type=click.Path(path_type=Path),
            help="A TOML file; a run's own config.toml is one.",
        ),
        click.option(
            "-o",
            "overrides",
            metavar="TABLE.KEY=VALUE",
            multiple=True,
            help="One setting, e.g. -o trainer.group_size=8; it wins over the file.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


def parts_without_demo(
    plugins: str | None, config: Path | None, overrides: Sequence[str]
) -> Assembly:
    """The parts as set, without the preset that ``rods run`` takes when nothing is set.

    A demo trains on few tasks in minutes; whoever checks, scores or varies wants all of them.
    """
    from rods.assembly import assemble

    flags = {"run.preset": ["none"]} if config is None else {}
    return assemble(plugins, config, overrides, flags)


def json_option(command: F) -> F:
    """``--json``, for scripts."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON only.")(command)
