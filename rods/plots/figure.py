"""One page: a run in five panels, or several runs over each other."""

from __future__ import annotations

import io
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from rods.errors import DataError
from rods.files import write_atomic
from rods.plots import panels, style
from rods.plots.formats import form_of
from rods.plots.records import RunSeries

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_WIDTH_IN = 8.27  # of a page of A4
_DPI = 160
_NAME = 40  # characters of a name
_UNDATED = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": {}}


def write_figure(runs: Sequence[RunSeries], path: Path) -> None:
    """``path`` shows the runs, complete or not at all; equal runs give equal files."""
    form = form_of(path)
    target = io.BytesIO()
    with matplotlib.rc_context(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font")  # in a folder's name
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(style.RC)
        page = one_run(runs[0]) if len(runs) == 1 else several_runs(runs)
        page.savefig(target, format=form, dpi=_DPI, metadata=_UNDATED[form])
    try:
        write_atomic(path, target.getvalue())
    except OSError as error:
        raise DataError(f"Cannot write {path}: {error.strerror}.") from error


def one_run(run: RunSeries) -> Figure:
    """Reward on top; regions and pool, synthesis and held-out progress below."""
    figure = _page(9.4)
    grid = figure.subplot_mosaic(
        [["reward", "reward"], ["regions", "pool"], ["synthesis", "held out"]]
    )
    panels.reward(grid["reward"], run)
    panels.regions(grid["regions"], run)
    panels.pool(grid["pool"], run)
    panels.synthesis(grid["synthesis"], run)
    panels.held_out(grid["held out"], _by_kind(run), wide=False)
    done = f"step {run.steps} of {run.steps_planned}"
    figure.suptitle(f"{style.shortened(run.label, _NAME)}: {_subject(run)}, {done}")
    return figure


def several_runs(runs: Sequence[RunSeries]) -> Figure:
    """Reward on top, the groups that teach and those that cannot, held-out progress below."""
    names = _names(runs)
    rows = [
        (name, run.held_out, panels.colour_of(index))
        for index, (name, run) in enumerate(zip(names, runs, strict=True))
        if run.held_out is not None
    ]
    figure = _page(7.2 + 0.3 * len(rows))
    grid = figure.subplot_mosaic(
        [["reward", "reward"], ["boundary", "no_variance"], ["held out", "held out"]],
        height_ratios=[1.3, 1, 0.35 + 0.22 * max(2, len(rows))],
    )
    _overlays(grid["reward"], grid["boundary"], grid["no_variance"], runs, names)
    panels.held_out(grid["held out"], rows, wide=True)
    figure.suptitle(_subject_of_all(runs))
    return figure


# ------------------------------------------------------------------------------- inside
def _page(height_in: float) -> Figure:
    layout = ConstrainedLayoutEngine(hspace=0.06, wspace=0.05, h_pad=0.06, w_pad=0.06)
    figure = Figure(figsize=(_WIDTH_IN, height_in), layout=layout)
    FigureCanvasAgg(figure)  # no window, whatever the settings of this machine
    return figure


def _overlays(
    reward: Axes, boundary: Axes, flat: Axes, runs: Sequence[RunSeries], labels: Sequence[str]
) -> None:
    """The moving means of the runs; one legend names the lines of all three panels."""
    lines = panels.overlay(reward, runs, "reward", "training reward (0 to 1)")
    steps = " or ".join(str(window) for window in sorted({run.window for run in runs}))
    title = f"Training reward, mean of the last {steps} steps"
    style.heading(reward, title, lines, labels, style.columns_for(labels, 105))
    panels.overlay(boundary, runs, "boundary", "share of groups")
    style.heading(boundary, "Groups at the boundary", [], [], 1)
    panels.overlay(flat, runs, "no_variance", "share of groups")
    style.heading(flat, "Groups without variance", [], [], 1)
    for axes in (boundary, flat):
        axes.set_ylim(-0.02, 1.02)


def _by_kind(run: RunSeries) -> list[panels.Row]:
    """All held-out tasks, then each kind where there are several."""
    if run.held_out is None:
        return []
    kinds = run.kinds.items() if len(run.kinds) > 1 else ()
    rest = [(kind, part, panels.colour_of(n)) for n, (kind, part) in enumerate(kinds, 1)]
    return [("all", run.held_out, panels.colour_of(0)), *rest]


def _subject(run: RunSeries) -> str:
    return f"world {run.world}, policy {_policy(run)}"


def _subject_of_all(runs: Sequence[RunSeries]) -> str:
    """World and policy where all runs have the same, else how many there are."""
    worlds, policies = ({of(run) for run in runs} for of in (_world, _policy))
    return ", ".join(
        f"{what} {min(found)}" if len(found) == 1 else f"{len(found)} {plural}"
        for what, plural, found in (
            ("world", "worlds", worlds),
            ("policy", "policies", policies),
        )
    )


def _names(runs: Sequence[RunSeries]) -> list[str]:
    """The runs by their folders, and by world and policy where they differ in it."""
    differing = [of for of in (_world, _policy) if len({of(run) for run in runs}) > 1]
    told = [", ".join(of(run) for of in differing) for run in runs]
    return [
        style.shortened(run.label, _NAME) + (f": {more}" if more else "")
        for run, more in zip(runs, told, strict=True)
    ]


def _world(run: RunSeries) -> str:
    return run.world


def _policy(run: RunSeries) -> str:
    """The model without the folders it lies in, and who trained it."""
    model = Path(run.policy).name if Path(run.policy).is_absolute() else run.policy
    trained = "" if run.policy == run.trainer else f" ({run.trainer})"
    return f"{style.shortened(model, _NAME)}{trained}"
