"""``rods check``: the conformance kit for worlds, trainers, selectors and buffers."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from rods.cli.options import json_option, parts_without_demo, settings_options
from rods.cli.output import print_json, show_tracebacks
from rods.types import Check

EPILOG = """\b
Examples
  rods check office
  rods check bfcl --limit 0            every task (about a minute)
  rods check my-trainer                a plugin without a world: its trainer, selector or buffer
  rods check my-world -o environment.url=http://localhost:8000 --split train --json
\b
In the tests of a plugin the same kit is one line:
  failed = [c for c in rods.testing.check_environment(MyWorld()) if not c.ok]"""


@click.command(epilog=EPILOG)
@click.argument("plugin")
@settings_options
@click.option(
    "--split",
    type=click.Choice(["train", "eval", "both"]),
    default="both",
    show_default=True,
    help="The tasks that are played; all are checked as data.",
)
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    default=40,
    show_default=True,
    help="Tasks played, spread over splits and kinds; 0: all.",
)
@click.option(
    "--sessions",
    type=click.IntRange(min=1),
    default=64,
    show_default=True,
    help="Worlds that are open at once in the isolation check.",
)
@json_option
def command(
    plugin: str,
    config: Path | None,
    overrides: Sequence[str],
    split: Any,
    limit: int,
    sessions: int,
    as_json: bool,
) -> int:
    """Test what PLUGIN brings: a world first of all, else its trainer, selector or buffer.

    A world's reference must earn 1 and run without errors: twice, on two days and in two processes
    with equal results. Silence, idle and random calls must earn nothing; snapshots must restore,
    open worlds must not share anything, bad and hostile calls must be answered, tools must have
    valid schemas, and the splits must be disjoint. A trainer is killed and resumed in a small
    stockroom. A row that fails says what mends it. An exception of the plugin's own code is told
    once, with its line; rows that meet it again were not checked. `rods --debug check` shows its
    traceback. Exit status 1 if a row fails.
    """
    from rods.testing.checking import Checking

    parts = parts_without_demo(plugin, config, overrides)
    checking = Checking(parts, plugin, split=split, limit=limit, sessions=sessions)
    start, checks = time.perf_counter(), []
    try:
        for check in checking.checks():
            checks.append(check)
            if not as_json:
                _show(check)
            show_tracebacks([check])
        about = checking.about()
    finally:
        checking.close()
    failed = sum(not check.ok for check in checks)
    blocked = sum(bool(check.blocked_by) for check in checks)
    seconds = round(time.perf_counter() - start, 2)
    if as_json:
        table = [check.model_dump() for check in checks]
        print_json({**about, "ok": not failed, "checks": table, "seconds": seconds})
    else:
        holds = len(checks) - failed - blocked
        unseen = f", {failed} failed, {blocked} not checked" if blocked else ""
        click.echo(f"\n{checking.name}: {holds} of {len(checks)} hold{unseen} ({seconds} s)")
    return 1 if failed else 0


def _show(check: Check) -> None:
    """One row of the table, as soon as it is known."""
    mark = click.style("ok  ", fg="green") if check.ok else click.style("FAIL", fg="red")
    mark = click.style("skip", fg="yellow") if check.skipped else mark
    click.echo(f"{mark} {check.name:<33} {check.detail.removeprefix('skipped: ')}")
    if not check.ok:
        click.echo(f"{'':39}To do: {check.fix}")
