"""The end of a run as tables: held-out progress, pool, synthesis, and where the folder lies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click

from rods.cli.costs import print_costs
from rods.cli.output import print_table

COLUMNS = ("held out", "tasks", "before", "after", "gain", "95 % interval")


def print_summary(summary: Mapping[str, Any]) -> None:
    """All that ``summary.json`` says, for people."""
    progress = summary["eval"]
    if progress["n"]:
        print_table("Held-out progress (mean over tasks, paired)", COLUMNS, list(_gains(progress)))
    print_table("Pool", ("state", "tasks"), list(_states(summary)))
    if rows := list(funnel_rows(summary["funnel"])):
        print_table("Synthesis", ("stage", "reason", "count"), rows)
    print_costs(summary.get("lm", {}))
    for note in summary.get("notes", ()):
        click.echo(f"Note: {note}")
    minutes, seconds = divmod(round(summary["seconds"]), 60)
    click.echo(
        f"{summary['steps']} steps in {summary['epochs']} epochs, {summary['injected']} tasks "
        f"injected, {summary['retired']} retired, {minutes} min {seconds:02d} s."
    )
    click.echo(f"The run lies in {summary['folder']}")


def funnel_rows(funnel: Mapping[str, Mapping[str, int]]) -> Iterator[Sequence[object]]:
    """Stage, reason and count; what was admitted comes last."""
    for stage, reasons in sorted(funnel.items(), key=lambda item: item[0] == "admitted"):
        for reason, count in sorted(reasons.items(), key=lambda item: -item[1]):
            yield stage, "" if stage == "admitted" else reason, count


def _gains(progress: Mapping[str, Any]) -> Iterator[Sequence[object]]:
    parts = {"all": progress, **progress["kinds"]}
    parts |= {f"set {name}": part for name, part in progress["sets"].items()}
    if len(progress["kinds"]) == 1:  # it is the same line again
        parts.pop(next(iter(progress["kinds"])))
    for name, part in parts.items():
        interval = f"[{part['ci_low']:+.3f}, {part['ci_high']:+.3f}]"
        gain = f"{part['gain']:+.3f}"
        yield name, part["n"], part["before"], part["after"], gain, interval


def _states(summary: Mapping[str, Any]) -> Iterator[Sequence[object]]:
    for state, count in summary["pool"].items():
        reasons = summary["retired_because"] if state == "retired" else {}
        why = ", ".join(f"{reason} {n}" for reason, n in reasons.items() if n)
        yield f"{state} ({why})" if why else state, count
