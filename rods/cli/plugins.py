"""``rods plugins``: what is installed, and what one plugin brings."""

from __future__ import annotations

from typing import Any

import click

from rods.cli.options import json_option

EPILOG = """\b
Examples
  rods plugins                    every installed plugin, without importing any
  rods plugins show grpo-trl      its parts and their options
  rods plugins show builtin       the selectors, buffers and synthesizer of rods itself"""


@click.group("plugins", invoke_without_command=True, epilog=EPILOG)
@json_option
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> None:
    """List installed plugins; `rods plugins show NAME` imports one and lists its options."""
    if ctx.invoked_subcommand is not None:
        return
    from rods.cli.output import print_json, print_table
    from rods.plugin_manager import GROUP, installed

    entries = [entry for found in installed().values() for entry in found]
    rows = [(e.name, e.distribution, e.version, e.point.value) for e in entries]
    if as_json:
        keys = ("name", "distribution", "version", "module")
        print_json([dict(zip(keys, row, strict=True)) for row in rows])
    else:
        print_table(
            f"Plugins (entry points {GROUP!r})", ("name", "distribution", "version", "module"), rows
        )


@command.command()
@click.argument("name")
@json_option
def show(name: str, as_json: bool) -> None:
    """Import plugin NAME and list its parts with every option: default, type, meaning."""
    from rods.cli.output import print_json, print_table
    from rods.plugin_manager import load_plugins
    from rods.plugin_options import describe

    parts = describe(load_plugins([name]), name)
    if as_json:
        print_json(parts)
        return
    for part in parts:
        said = "".join(f", {key} {value}" for key, value in part["capabilities"].items())
        heading = f"{part['kind']} {part['name']}{said}: {part['summary']}"
        print_table(
            heading, ("key", "default", "type", "meaning"), [_row(part, o) for o in part["options"]]
        )


def _row(part: dict[str, Any], option: dict[str, Any]) -> tuple[str, ...]:
    default = "required" if option["required"] else repr(option["default"])
    return f"{part['kind']}.{option['key']}", default, option["type"], option["description"]
