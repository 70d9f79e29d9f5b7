"""``rods pool``: look into a run's pool while it trains or afterwards, and export it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from rods.cli.options import is_utf8, json_option, out_option, refuse_to_lose
from rods.cli.output import print_json, print_pairs, print_table
from rods.types import KINDS, PoolState, Task

if TYPE_CHECKING:
    from rods.pool import PoolEntry

EPILOG = """\b
Examples
  rods pool stats runs/first
  rods pool list runs/first --state active --kind miss_func --limit 20
  rods pool show runs/first syn-0123456789abcdef
  rods pool lineage runs/first syn-0123456789abcdef
  rods pool export runs/first --state active --format parquet --out tasks.parquet
\b
DIR is a run's folder, a pool file (pool.sqlite) or a database URL. A pool of a run that is
training can be read."""

F = TypeVar("F", bound=Callable[..., Any])
_COLUMNS = ("id", "kind", "state", "reason", "visits", "mean", "variance", "phi", "parent")


def filters(command: F) -> F:
    """``--state``, ``--kind`` and ``--limit``."""
    states = click.Choice([state.value for state in PoolState])
    options = (
        click.option("--state", type=states, help="Only entries in this state."),
        click.option("--kind", type=click.Choice(KINDS), help="Only tasks of this kind."),
        click.option("--limit", type=click.IntRange(0), help="At most so many; 0: all."),
    )
    for option in reversed(options):
        command = option(command)
    return command


def _given(ctx: click.Context, param: click.Parameter, where: str) -> str:
    if not is_utf8(where):
        raise click.BadParameter("the path is not in UTF-8; give the folder a name that is.")
    return where


where_argument = click.argument("where", metavar="DIR", callback=_given)
id_argument = click.argument("entry_id", metavar="ID")


@click.group(epilog=EPILOG)
def command() -> None:
    """Look into the pool of a run, or export its tasks."""


@command.command(epilog="Example: rods pool stats runs/first --json")
@where_argument
@json_option
def stats(where: str, as_json: bool) -> None:
    """Entries by state, why entries left, and the funnel of the synthesis."""
    from rods.pool_access import open_existing

    with open_existing(where) as pool:
        found, step = pool.stats(), pool.step
    if as_json:
        return print_json({"step": step, **found.model_dump(mode="json")})
    pairs: dict[str, object] = {
        "last step": step,
        **{state.value: found.states.get(state, 0) for state in PoolState},
        **{f"  retired: {reason}": n for reason, n in found.retired.items()},
        "injected": found.injected,
        "requests waiting": found.pending_requests,
        "synthesis seconds": found.synthesis_seconds,
        "language-model tokens": found.tokens,
    }
    print_pairs(f"Pool of {where}", pairs)
    rows = [(s, r, n) for s, reasons in found.funnel.items() for r, n in reasons.items()]
    if rows:
        print_table("\nFunnel", ("stage", "reason", "count"), rows)


@command.command("list", epilog="Example: rods pool list runs/first --state active --limit 20")
@where_argument
@filters
@json_option
def list_entries(
    where: str, state: str | None, kind: Any, limit: int | None, as_json: bool
) -> None:
    """Entries in the order they came; 50 unless --limit says otherwise."""
    from rods.pool_access import open_existing

    limit = 50 if limit is None else limit or None
    with open_existing(where) as pool:
        found = list(pool.entries(PoolState(state) if state else None, kind, limit))
    if as_json:
        return print_json([_plain(entry) for entry in found])
    print_table(f"Pool of {where}", _COLUMNS, _rows(found))
    if len(found) == limit:
        click.echo(f"The first {limit}; --limit 0 lists all.")


@command.command(epilog="Example: rods pool show runs/first syn-0123456789abcdef")
@where_argument
@id_argument
@json_option
def show(where: str, entry_id: str, as_json: bool) -> None:
    """One entry: its task, what its rollouts earned, and how it moved."""
    from rods.pool_access import open_existing

    with open_existing(where) as pool:
        entry, task = pool.entry(entry_id), pool.task(entry_id)
        observed, moved = pool.observations(entry_id), pool.transitions(entry_id)
        children = pool.children(entry_id)
    if as_json:
        return print_json(
            {
                "entry": _plain(entry),
                "task": task.model_dump(mode="json"),
                "observations": [o.model_dump(mode="json") for o in observed],
                "transitions": [t.model_dump(mode="json") for t in moved],
                "children": children,
            }
        )
    print_pairs(entry_id, {**_plain(entry), "children": len(children)})
    _show_task(task)
    rewards = [
        (o.step, o.epoch + 1, " ".join("-" if r is None else f"{r:.2f}" for r in o.rewards), o.mean)
        for o in observed
    ]
    print_table("\nObservations", ("step", "epoch", "rewards", "mean"), rewards)
    moves = [(t.step, t.from_state, t.to_state, t.reason) for t in moved]
    print_table("Moves", ("step", "from", "to", "reason"), moves)


@command.command(epilog="Example: rods pool lineage runs/first syn-0123456789abcdef")
@where_argument
@id_argument
@json_option
def lineage(where: str, entry_id: str, as_json: bool) -> None:
    """The ancestors of an entry, its seed first, and the variants made of it."""
    from rods.pool_access import open_existing

    with open_existing(where) as pool:
        line = pool.lineage(entry_id)
        children = [pool.entry(child) for child in pool.children(entry_id)]
    if as_json:
        return print_json(
            {"lineage": [_plain(e) for e in line], "children": [_plain(e) for e in children]}
        )
    print_table("From the seed to the entry", _COLUMNS, _rows(line))
    print_table(f"Variants of {entry_id}", _COLUMNS, _rows(children))


@command.command(
    epilog="Example: rods pool export runs/first --state active --format parquet --out t.parquet"
)
@where_argument
@filters
@click.option(
    "--format",
    "form",
    type=click.Choice(["jsonl", "parquet", "datasets"]),
    default="jsonl",
    show_default=True,
    help="JSON lines, parquet, or a folder for datasets.load_from_disk.",
)
@out_option("A file, or a folder for datasets.", required=True)
@json_option
def export(
    where: str,
    state: str | None,
    kind: Any,
    limit: int | None,
    form: Any,
    out: Path,
    force: bool,
    as_json: bool,
) -> None:
    """Write entries with their tasks to a new file; with --force also over one that is there."""
    from rods.pool.export import export as write
    from rods.pool_access import open_existing

    refuse_to_lose(out, force)
    with open_existing(where) as pool:
        count = write(pool, out, form, PoolState(state) if state else None, kind, limit or None)
    if as_json:
        print_json({"entries": count, "format": form, "out": str(out)})
    else:
        click.echo(f"{count} entries are in {out}.")


# ------------------------------------------------------------------------------- inside
def _plain(entry: PoolEntry) -> dict[str, Any]:
    return {**entry.model_dump(mode="json"), "phi": entry.phi}


def _rows(entries: Iterable[PoolEntry]) -> Sequence[Sequence[object]]:
    return [
        (e.id, e.kind, e.state, e.reason, e.visits, e.mean, e.variance, e.phi, e.parent_id)
        for e in entries
    ]


def _show_task(task: Task) -> None:
    for index, turn in enumerate(task.turns):
        handed = f" (hands over {', '.join(turn.reveals)})" if turn.reveals else ""
        click.echo(f"\n  turn {index}{handed}: {turn.user}")
        for call in turn.reference:
            arguments = ", ".join(f"{name}={value!r}" for name, value in call.arguments.items())
            click.echo(f"    {call.name}({arguments})")
