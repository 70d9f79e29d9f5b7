"""How commands speak: tables for people, JSON for scripts, progress on stderr."""

from __future__ import annotations

import json
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rods.types import Check

_EVERY_S = 10.0
_WIDE = 160  # columns where the output is no terminal


def print_json(value: Any) -> None:
    """One JSON document on stdout."""
    click.echo(json.dumps(value, indent=2, ensure_ascii=False))


def say(line: str) -> None:
    """A line for people on stderr."""
    click.echo(line, err=True)


def show_tracebacks(checks: Sequence[Check]) -> None:
    """With ``--debug``: on stderr, where the exceptions of these rows came from."""
    if click.get_current_context().find_root().params.get("debug"):
        for check in checks:
            if check.traceback:
                say(check.traceback.rstrip())


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """A table on stdout; texts are shown as they are, numbers right-aligned."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD)
    for index, column in enumerate(columns):
        numeric = bool(rows) and all(isinstance(row[index], int | float) for row in rows)
        table.add_column(column, justify="right" if numeric else "left", no_wrap=not index)
    for row in rows:
        table.add_row(*(Text(_cell(value)) for value in row))
    console = Console(highlight=False)
    console.print(table) if console.is_terminal else Console(width=_WIDE).print(table)


def print_pairs(title: str, pairs: Mapping[str, object]) -> None:
    """Names and values, one pair a line."""
    click.echo(click.style(title, bold=True))
    width = max(map(len, pairs), default=0)
    for name, value in pairs.items():
        click.echo(f"  {name:<{width}}  {_cell(value)}")


def data_line(hashes: Mapping[str, str]) -> dict[str, object]:
    """What the tasks were read from, as one pair for ``print_pairs``; the whole is in --json."""
    if not hashes:
        return {}
    shown = [f"{source} sha256 {digest[:12]}" for source, digest in hashes.items()][:1]
    more = f" and {len(hashes) - 1} more (--json)" if len(hashes) > 1 else ""
    return {"data": shown[0] + more}


def _cell(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.3f}"
    return str(value)


Advance = Callable[[int, str], None]


@contextmanager
def progress_bar(what: str, total: int) -> Iterator[Advance]:
    """Gives ``advance(done, note)``: a bar on a terminal, else a line every ten seconds."""
    if not sys.stderr.isatty():
        yield _Lines(what, total)
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}% {task.fields[note]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=total, note="")
        yield lambda done, note: bar.update(task, completed=done, note=note)


@contextmanager
def stoppable_progress(what: str, total: int) -> Iterator[Advance]:
    """A progress bar for short items: Ctrl-C takes effect between two, a second one at once.

    A KeyboardInterrupt inside an item would now and then be lost: pydantic's serializer swallows
    it, and the item that it hit may be wrong.
    """
    asked: list[int] = []

    def stop(number: int, frame: object) -> None:
        asked.append(number)
        if len(asked) > 1:
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, stop)
    try:
        with progress_bar(what, total) as advance:

            def advance_or_stop(done: int, note: str) -> None:
                advance(done, note)
                if asked:
                    raise KeyboardInterrupt

            yield advance_or_stop
    finally:
        signal.signal(signal.SIGINT, before)


class _Lines:
    """Progress where nobody can see a bar."""

    def __init__(self, what: str, total: int) -> None:
        self._what, self._total, self._last = what, total, time.monotonic()

    def __call__(self, done: int, note: str) -> None:
        if time.monotonic() - self._last >= _EVERY_S:
            self._last = time.monotonic()
            say(f"{self._what}: {100 * done // max(1, self._total)} %, {note}")
