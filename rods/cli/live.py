"""How a run looks while it runs: a table in place on a terminal, plain lines elsewhere.

Both are observers: they see what any plugin's ``rods_step_finished`` sees.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from statistics import fmean, median
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from rods.hookspecs import hookimpl
from rods.pool import PoolStats
from rods.types import StepReport

_RECENT = 16  # steps that the mean reward and the time left look back on
_PLAIN_EVERY_S = 10.0


@contextmanager
def display(
    console: Console, observe: Callable[[object], None], notice: Callable[[], str] = str
) -> Iterator[None]:
    """Register an observer that shows the run on ``console`` until the block ends.

    On a terminal the table ends with ``notice``, asked for whenever it is drawn.
    """
    if not console.is_terminal:
        observe(PlainLines(console))
        yield
        return
    with Live(console=console, refresh_per_second=4, transient=False) as live:
        observe(LiveTable(live, notice))
        yield


class View:
    """What is known of the run: the last report, and how fast the steps are."""

    def __init__(self) -> None:
        self.epochs = 0
        self.report: StepReport | None = None
        self.recent: deque[StepReport] = deque(maxlen=_RECENT)

    def take(self, report: StepReport) -> None:
        """A step is done."""
        self.report = report
        self.recent.append(report)

    @property
    def seconds_left(self) -> float:
        """Steps that are left times a recent step; without the last evaluation."""
        assert self.report is not None
        return (self.report.steps - self.report.step) * self.step_s

    @property
    def step_s(self) -> float:
        """Seconds of a recent step: the median, since the first one warms caches."""
        return median(report.seconds for report in self.recent)

    def rows(self) -> list[tuple[str, str]]:
        """Name and text of each line of the table."""
        report = self.report
        if report is None:
            return []
        mean = fmean(r.reward for r in self.recent)
        speed = f"{self.step_s:.1f} s a step"
        left = duration(self.seconds_left)
        return [
            ("step", f"{report.step}/{report.steps}   epoch {report.epoch + 1}/{self.epochs}"),
            ("time", f"{left} left   {speed}"),
            ("reward", f"{report.reward:.3f}   mean of {len(self.recent)} steps {mean:.3f}"),
            ("regions", regions_text(report)),
            ("pool", counts_text(report.pool)),
            ("synthesis", funnel_text(report.funnel)),
        ]


class Notice:
    """A line that is looked up each time the table is drawn, not only after a step."""

    def __init__(self, text: Callable[[], str]) -> None:
        self._text = text

    def __rich__(self) -> RenderableType:
        """The line as it is now; no line where there is none."""
        text = self._text()
        return Text(text, style="bold yellow") if text else Group()


class LiveTable:
    """The table that is refreshed in place; epoch boundaries scroll away above it."""

    def __init__(self, live: Live, notice: Callable[[], str] = str) -> None:
        self.live, self.view, self._notice = live, View(), Notice(notice)
        self._progress: RenderableType | None = None

    @hookimpl
    def rods_run_started(self, folder: Path, epochs: int, notes: list[str]) -> None:
        """Say where the run lies and what a reader must know."""
        self.view.epochs = epochs
        for line in (f"Run: {folder}", *(f"Note: {note}" for note in notes)):
            self.live.console.print(Text(line))

    @hookimpl
    def rods_run_resumed(self, step: int) -> None:
        """Where the run goes on."""
        self.live.console.print(Text(resumed_text(step)))

    @hookimpl
    def rods_progress(self, what: str, done: int, total: int) -> None:
        """A bar while the policy is prepared or evaluated."""
        bar = Table.grid(padding=(0, 2))
        bar.add_row(what, ProgressBar(total=max(1, total), completed=done, width=40))
        bar.columns[0].min_width = 20
        self._progress = bar if done < total else None
        self._refresh()

    @hookimpl
    def rods_step_finished(self, report: StepReport) -> None:
        """The table shows this step."""
        self.view.take(report)
        self._progress = None
        self._refresh()

    @hookimpl
    def rods_epoch_started(self, epoch: int, injected: int, retired: int, pool: PoolStats) -> None:
        """One line that stays."""
        self.live.console.print(Text(epoch_text(epoch, injected, retired, pool)))

    def _refresh(self) -> None:
        table = Table.grid(padding=(0, 2))
        for name, text in self.view.rows():
            table.add_row(Text(name, style="bold"), Text(text))
        parts = (table, self._progress, self._notice)
        self.live.update(Group(*(part for part in parts if part is not None)))


class PlainLines:
    """One line a step, for logs."""

    def __init__(self, console: Console) -> None:
        self.console, self.view = console, View()
        self._last = time.monotonic()

    @hookimpl
    def rods_run_started(self, folder: Path, epochs: int, notes: list[str]) -> None:
        """Say where the run lies and what a reader must know."""
        self.view.epochs = epochs
        for line in (f"Run: {folder}", *(f"Note: {note}" for note in notes)):
            self._say(line)

    @hookimpl
    def rods_run_resumed(self, step: int) -> None:
        """Where the run goes on."""
        self._say(resumed_text(step))

    @hookimpl
    def rods_progress(self, what: str, done: int, total: int) -> None:
        """A line now and then."""
        if done >= total or time.monotonic() - self._last >= _PLAIN_EVERY_S:
            self._last = time.monotonic()
            self._say(f"{what}: {done}/{total}")

    @hookimpl
    def rods_step_finished(self, report: StepReport) -> None:
        """The step in one line."""
        self.view.take(report)
        self._say("  ".join(f"{name} {text}" for name, text in self.view.rows()))

    @hookimpl
    def rods_epoch_started(self, epoch: int, injected: int, retired: int, pool: PoolStats) -> None:
        """The boundary in one line."""
        self._say(epoch_text(epoch, injected, retired, pool))

    def _say(self, line: str) -> None:
        self.console.print(Text(line), soft_wrap=True)


# ------------------------------------------------------------------------------- texts
def duration(seconds: float) -> str:
    """Seconds as ``1 h 05 min``, ``4 min 10 s`` or ``9 s``."""
    whole = round(seconds)
    if whole >= 3600:
        return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
    return f"{whole // 60} min {whole % 60:02d} s" if whole >= 60 else f"{whole} s"


def resumed_text(step: int) -> str:
    """Where a resumed run goes on."""
    if step:
        return f"Resumed: step {step} is the last that a checkpoint holds; step {step + 1} is next."
    return "Resumed: there is no checkpoint yet, so the training begins with step 1."


def epoch_text(epoch: int, injected: int, retired: int, pool: PoolStats) -> str:
    """An epoch boundary in one line."""
    states = counts_text({state.value: n for state, n in pool.states.items()})
    return f"Epoch {epoch + 1}: {injected} injected, {retired} retired; pool: {states}"


def regions_text(report: StepReport) -> str:
    """Groups by region; what is unusual only where it happens."""
    regions = report.regions
    text = f"hard {regions.hard}  boundary {regions.boundary}  mastered {regions.mastered}"
    text += f"   no variance {regions.no_variance}"
    text += f"  unscored {regions.unscored}" * bool(regions.unscored)
    return text + f"  cannot parse {regions.format_failures}" * bool(regions.format_failures)


def counts_text(counts: Mapping[str, int]) -> str:
    """``active 31  retired 4``; zeros are left out."""
    return "  ".join(f"{name} {n}" for name, n in counts.items() if n) or "empty"


def funnel_text(funnel: Mapping[str, Mapping[str, Any]], most: int = 3) -> str:
    """How many variants were admitted, and the commonest reasons against the others."""
    admitted = sum(funnel.get("admitted", {}).values())
    reasons = {
        f"{stage}/{reason}": n
        for stage, counts in funnel.items()
        if stage != "admitted"
        for reason, n in counts.items()
    }
    common = sorted(reasons.items(), key=lambda item: -item[1])[:most]
    against = f" ({', '.join(f'{name} {n}' for name, n in common)})" if common else ""
    return f"{admitted} admitted, {sum(reasons.values())} rejected{against}"
