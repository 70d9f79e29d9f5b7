"""``rods new``: a plugin that works, ready to be edited."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

KINDS = ("environment", "trainer", "selector", "stage")  # of rods.scaffold, not imported for --help
TRY = {
    "environment": ("rods check {name}", "rods run --plugins {name},grpo-trl"),
    "trainer": ("rods run --plugins office,{name}",),
    "selector": ("rods run --plugins office,grpo-trl,{name} -o selector.name={name}",),
    "stage": (
        "rods synth --plugins office -n 5 --out variants.jsonl "
        "-o synthesizer.stages.rewrite={module}:{title}",
    ),
}

EPILOG = """\b
Examples
  rods new environment my-world
  rods new trainer my-trainer --dir plugins
  rods new selector my-selector
  rods new stage my-stage            one stage of the synthesis: the one that words a task
\b
What comes out passes its own tests. The docs go on from there: "Write an environment"."""


@click.command(epilog=EPILOG)
@click.argument("kind", type=click.Choice(KINDS))
@click.argument("name")
@click.option(
    "--dir",
    "parent",
    type=click.Path(path_type=Path),
    default=Path(),
    show_default="this folder",
    help="The folder in which the new folder NAME is made.",
)
def command(kind: str, name: str, parent: Path) -> None:
    """Write a complete plugin of KIND called NAME: package, tests, README.

    It works as it stands: install it, run its tests, then replace what is in it by your own.
    """
    from rods.scaffold import Spelling, write_plugin

    files = write_plugin(kind, name, parent)
    folder, spelling = parent / name, Spelling(name)
    click.echo(f"{folder} is a complete {kind} with {len(files)} files:")
    for path in files:
        click.echo(f"  {path.relative_to(folder)}")
    where = shlex.quote(str(folder))
    click.echo(f"\nTry it, then edit it:\n  pip install -e {shlex.quote(f'{folder}[dev]')}")
    click.echo(f"  pytest {where}")
    for line in TRY[kind]:
        click.echo(f"  {line.format(name=name, module=spelling.module, title=spelling.title)}")
