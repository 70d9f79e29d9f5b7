"""``rods tasks``: the tasks of a world, with the ids that other commands and files use."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, get_args

import click

from rods.cli.options import component_options, json_option, parts_without_demo
from rods.cli.output import print_json, print_table, say
from rods.errors import ConfigError
from rods.types import KINDS, Split

if TYPE_CHECKING:
    from rods.types import Task

EPILOG = """\b
Examples
  rods tasks --plugins bfcl                        the first 50 of both splits
  rods tasks --plugins bfcl --split train --kind miss_func --limit 0
  rods tasks --plugins office --split eval --json  all of them, for scripts
  rods tasks --config runs/first/config.toml       those that a run has
\b
The ids are those of `task_id` in rollouts and recorded trajectories, and of `rods pool show`.
Turns, calls and tools are numbers: user turns, calls of the reference, tools that are there from
the start or are handed over later. Variants are in a run's pool: `rods pool list RUN`."""

SPLITS: tuple[Split, ...] = get_args(Split)
_COLUMNS = ("id", "split", "kind", "turns", "calls", "tools")


@click.command(epilog=EPILOG)
@component_options
@click.option("--split", type=click.Choice(SPLITS), help="Only this split.  [default: both]")
@click.option("--kind", type=click.Choice(KINDS), help="Only tasks of this kind.")
@click.option("--limit", type=click.IntRange(0), help="At most so many; 0: all.  [default: 50]")
@json_option
def command(
    plugins: str | None,
    config: Path | None,
    overrides: Sequence[str],
    split: Any,
    kind: str | None,
    limit: int | None,
    as_json: bool,
) -> None:
    """List the tasks of a world: id, split, kind and size. With --json all of them."""
    splits = (cast(Split, split),) if split else SPLITS
    with closing(parts_without_demo(plugins, config, overrides).environment()) as environment:
        tasks = [task for name in splits for task in environment.tasks(name)]
    found = [task for task in tasks if kind in (None, task.kind)]
    if not found:
        raise ConfigError(_absent(environment.name, split, tasks))
    most = (0 if as_json else 50) if limit is None else limit
    rows = [_row(task) for task in found[: most or None]]
    if as_json:
        return print_json([dict(zip(_COLUMNS, row, strict=True)) for row in rows])
    print_table(f"Tasks of {environment.name}", _COLUMNS, rows)
    if len(rows) < len(found):
        say(f"The first {len(rows)} of {len(found)}; --limit 0 lists all.")


def _absent(world: str, split: Split | None, tasks: Sequence[Task]) -> str:
    if not tasks:
        return f"{world} has no tasks{f' in its {split} split' * bool(split)} with these options."
    there = ", ".join(sorted({task.kind for task in tasks}))
    return f"{world} has no such task; the kinds there are: {there}."


def _row(task: Task) -> tuple[str, str, str, int, int, int]:
    tools = {*task.tools, *(name for turn in task.turns for name in turn.reveals)}
    return task.id, task.split, task.kind, len(task.turns), task.reference_calls, len(tools)
