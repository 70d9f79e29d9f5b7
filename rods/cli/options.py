"""Options that several commands share, and the parts they build."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from rods.errors import ConfigError

if TYPE_CHECKING:
    from rods.assembly import Assembly

F = TypeVar("F", bound=Callable[..., Any])


def is_utf8(text: str) -> bool:
    """Whether files and databases can hold the text: no byte of it came from another encoding."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


class GivenPath(click.Path):
    """A path that was given: empty, as an unset shell variable is, it would mean this folder."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """As ``click.Path`` does it; a text that is empty or not in UTF-8 is a fault."""
        if isinstance(value, str) and not value.strip():
            self.fail("the path is empty; name one or leave the option out.", param, ctx)
        if isinstance(value, str) and not is_utf8(value):
            self.fail("the path is not in UTF-8; give the file a name that is.", param, ctx)
        return super().convert(value, param, ctx)

    @classmethod
    def like(cls, other: click.Path) -> GivenPath:
        """The same rules, and no empty text."""
        made = cls()
        vars(made).update(vars(other))
        return made


def refuse_empty_paths(command: click.Command) -> click.Command:
    """The command; every path option of it and of its commands wants a name afterwards."""
    for parameter in command.params:
        if isinstance(parameter.type, click.Path):
            parameter.type = GivenPath.like(parameter.type)
    if isinstance(command, click.Group):
        for inner in command.commands.values():
            refuse_empty_paths(inner)
    return command


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
    plugins: str | None,
    config: Path | None,
    overrides: Sequence[str],
    flags: Mapping[str, Any] | None = None,
) -> Assembly:
    """The parts as set, without the preset that ``rods run`` takes when nothing is set.

    A demo trains on few tasks in minutes; whoever checks, scores or varies wants all of them.
    """
    from rods.assembly import assemble

    preset = {"run.preset": ["none"]} if config is None else {}
    return assemble(plugins, config, overrides, {**preset, **(flags or {})})


def settings_in(*folders: Path) -> Path | None:
    """The ``config.toml`` of the first folder that has one, which is said; None if none has."""
    from rods.cli.output import say

    found = next((f / "config.toml" for f in folders if (f / "config.toml").is_file()), None)
    if found is not None:
        say(f"Settings: {found}")
    return found


def out_option(help: str, **options: Any) -> Callable[[F], F]:
    """``--out`` for what a command makes, and ``--force``; see ``refuse_to_lose``."""
    out = click.option("--out", type=click.Path(path_type=Path), help=help, **options)
    force = click.option("--force", is_flag=True, help="Replace a file that is there under --out.")
    return lambda command: out(force(command))


def refuse_to_lose(out: Path, force: bool, inputs: Sequence[Path] = ()) -> None:
    """A ConfigError if a file, or what a call left unfinished, is there and is to stay.

    What a command reads is never what it writes, forced or not.
    """
    if out.is_file() and any(one.exists() and one.samefile(out) for one in inputs):
        raise ConfigError(f"{out} is what this command reads; name another --out.")
    partial = out.with_name(f"{out.name}.partial") if out.name else out
    if force or out.is_dir():
        return  # a folder is never replaced: whoever writes there says so
    if out.is_file():
        raise ConfigError(f"{out} exists; name another --out, or replace it with --force.")
    if partial.is_file():
        raise ConfigError(
            f"{partial} holds what an interrupted call had done; rename it to keep it, or begin "
            "anew with --force."
        )


def json_option(command: F) -> F:
    """``--json``, for scripts."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON only.")(command)
