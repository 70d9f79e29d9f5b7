"""The panels of a figure: each draws one question about one run, or about several."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from rods.plots import style
from rods.plots.records import HeldOut, RunSeries, Share
from rods.types import PoolState

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

_MOST_LINES = 20  # epoch boundaries that are drawn
Row = tuple[str, HeldOut, str]  # what is measured, its numbers, its colour


def reward(axes: Axes, run: RunSeries) -> None:
    """Training reward of each step, its moving mean, and where epochs begin."""
    raw, mean = [style.number(v) for v in run.reward], [style.number(v) for v in run.reward_mean]
    handles: list[Artist] = [
        *axes.plot(run.step, raw, color=style.SKY, linewidth=0.8, **style.marks(raw)),
        *axes.plot(run.step, mean, color=style.BLUE, linewidth=2),
    ]
    labels = ["one step", f"mean of the last {run.window} steps"]
    _epoch_lines(axes, run)
    _by_step(axes, "training reward (0 to 1)")
    style.heading(axes, "Training reward, mean over groups", handles, labels, 3, above=15)


def regions(axes: Axes, run: RunSeries) -> None:
    """Groups by the region of their mean, stacked to one, and those without variance."""
    shares = {name: getattr(run.shares, name) for name in style.REGIONS}
    handles = _stack(axes, run.step, shares, style.REGIONS)
    flat = [style.number(value) for value in run.shares.no_variance]
    handles += axes.plot(run.step, flat, color="black", linestyle="--", **style.marks(flat))
    low, high = run.zone or (None, None)
    labels = [
        "hard" if low is None else f"hard (mean < {low:g})",
        "boundary",
        "mastered" if high is None else f"mastered (mean > {high:g})",
        "without variance",
    ]
    axes.set_ylim(0, 1)
    _by_step(axes, "share of groups")
    title = f"Groups by region, last {run.window} steps"
    style.heading(axes, title, handles, labels, 2)


def pool(axes: Axes, run: RunSeries) -> None:
    """The pool at the end of each epoch by state; what entered and what left so far."""
    epochs = [epoch.epoch + 1 for epoch in run.epochs]
    states = {s: [e.pool.get(s, 0) for e in run.epochs] for s in style.STATES}
    states = {state: counts for state, counts in states.items() if any(counts)}
    handles, labels = _stack(axes, epochs, states, style.STATES), list(states)
    for name, counts, dash in _moved(run):
        handles += axes.plot(
            epochs, counts, color="black", linestyle=dash, linewidth=1.2, **style.marks(counts)
        )
        labels.append(f"{name} so far ({counts[-1]})")
    axes.set(xlabel="epoch", ylabel="tasks", ylim=(0, None))
    _whole(axes)
    style.heading(axes, "Pool by state, at the end of the epoch", handles, labels, 2)


def synthesis(axes: Axes, run: RunSeries) -> None:
    """Variants admitted, and attempts that each stage rejected, so far."""
    handles: list[Artist] = []
    labels = []
    for index, (stage, counts) in enumerate(run.synthesis.items()):
        handles += axes.plot(
            run.step,
            counts,
            color=style.STAGES.get(stage, style.GREY),
            linestyle=style.DASHES[index % len(style.DASHES)],
            linewidth=1.4 if index else 2,
            **style.marks(counts),
        )
        labels.append(f"rejected: {stage} ({counts[-1]})" if index else f"admitted ({counts[-1]})")
    axes.set_ylim(0, max(1, *(max(counts) for counts in run.synthesis.values())) * 1.05)
    _by_step(axes, "attempts so far")
    axes.yaxis.set_major_locator(_counted())
    style.heading(axes, "Synthesis", handles, labels, 2)


def held_out(axes: Axes, rows: Sequence[Row], wide: bool) -> None:
    """Held-out progress before and after, with the paired interval of the gain laid on before."""
    if not rows:
        return _nothing(axes, "Held-out progress", "not measured yet")
    for place, (name, part, colour) in enumerate(reversed(rows)):
        _measured(axes, place, part, colour)
        words = f"{name}, {_in_words(part, wide)}"
        axes.annotate(words, (0, place + 0.22), xycoords=("axes fraction", "data"))
    axes.set(ylim=(-0.5, len(rows) - 0.3), yticks=[], xlabel="held-out progress (0 to 1)")
    axes.spines["left"].set_visible(False)
    axes.margins(x=0.08)
    axes.grid(axis="x")
    after = [part for _, part, _ in rows if part.after is not None]
    style.heading(axes, "Held-out progress", *_held_out_legend(bool(after)), 2 + wide)


def overlay(axes: Axes, runs: Sequence[RunSeries], shown: str, label: str) -> list[Line2D]:
    """A moving mean of every run as a line; ``shown`` is a name of ``Shares`` or the reward."""
    lines: list[Line2D] = []
    for index, run in enumerate(runs):
        values = run.reward_mean if shown == "reward" else getattr(run.shares, shown)
        lines += axes.plot(
            run.step,
            [style.number(value) for value in values],
            color=colour_of(index),
            linestyle=style.DASHES[index % len(style.DASHES)],
            linewidth=1.6,
            **style.marks(values),
        )
    _by_step(axes, label)
    return lines


def colour_of(index: int) -> str:
    """The colour of a run among several."""
    return style.COLOURS[index % len(style.COLOURS)]


# ------------------------------------------------------------------------------- inside
def _by_step(axes: Axes, label: str) -> None:
    axes.set(xlabel="training step", ylabel=label)
    axes.grid(axis="y")
    _whole(axes)


def _whole(axes: Axes) -> None:
    """Ticks at whole numbers, and no empty border: steps, epochs and tasks are counted."""
    axes.xaxis.set_major_locator(_counted())
    axes.margins(x=0.02)


def _counted() -> MaxNLocator:
    return MaxNLocator(integer=True, steps=[1, 2, 5, 10])


def _epoch_lines(axes: Axes, run: RunSeries) -> None:
    """Thin lines where epochs begin, numbered on top; every so many where there are too many."""
    every = -(-len(run.epochs) // _MOST_LINES)
    shown = [epoch for epoch in run.epochs if epoch.epoch % every == 0]
    top = axes.secondary_xaxis("top")
    names = [f"{'epoch ' * (not n)}{e.epoch + 1}" for n, e in enumerate(shown)]
    top.set_xticks([e.first_step - 0.5 for e in shown], names)
    top.tick_params(length=2, pad=1, labelsize=7)
    for epoch in shown:
        axes.axvline(epoch.first_step - 0.5, color="#BBBBBB", linewidth=0.6, zorder=0)


def _stack(
    axes: Axes,
    places: Sequence[int],
    parts: dict[str, list[Share]] | dict[str, list[int]],
    colours: dict[str, str],
) -> list[Artist]:
    """Steps of the parts on top of each other."""
    base = np.zeros(len(places))
    handles: list[Artist] = []
    for name, values in parts.items():
        top = base + np.array([style.number(value) for value in values])
        handles.append(
            axes.stairs(
                top,
                style.edges(places),
                baseline=base,
                fill=True,
                facecolor=colours[name],
                edgecolor="#777777",
                linewidth=0.3,
            )
        )
        base = top
    return handles


def _moved(run: RunSeries) -> list[tuple[str, list[int], str]]:
    """Injected so far, where the pool could be read, and retired so far."""
    injected = [epoch.injected for epoch in run.epochs]
    retired = [epoch.pool.get(PoolState.RETIRED, 0) for epoch in run.epochs]
    known = [count for count in injected if count is not None]
    lines = [("retired", retired, "--")]
    if len(known) == len(injected):
        lines.insert(0, ("injected", list(accumulate(known)), "-"))
    return lines


def _measured(axes: Axes, place: int, part: HeldOut, colour: str) -> None:
    """Before as a ring, after as a dot, and before plus the interval of the gain as a bar."""
    if part.after is not None and part.ci_low is not None and part.ci_high is not None:
        ends = part.before + part.ci_low, part.before + part.ci_high
        axes.plot(ends, (place, place), color=colour, linewidth=1.5, marker="|", markersize=7)
        axes.plot(part.after, place, "o", color=colour, markersize=6)
    axes.plot(
        part.before, place, "o", color=colour, markersize=6, markerfacecolor="white", zorder=3
    )


def _in_words(part: HeldOut, wide: bool) -> str:
    if part.after is None:
        return f"{part.n} tasks: {part.before:.3f} before"
    levels = f"{part.before:.3f} to {part.after:.3f}, " if wide else ""
    interval = f"[{part.ci_low:+.3f}, {part.ci_high:+.3f}]"
    return f"{part.n} tasks: {levels}gain {part.gain:+.3f} {interval}"


def _held_out_legend(after: bool) -> tuple[list[Artist], list[str]]:
    look: dict[str, Any] = {
        "color": style.GREY,
        "linestyle": "none",
        "marker": "o",
        "markersize": 6,
    }
    handles: list[Artist] = [Line2D([], [], **{**look, "markerfacecolor": "white"})]
    labels = ["before"]
    if after:
        handles += [Line2D([], [], **look), Line2D([], [], color=style.GREY, linewidth=1.5)]
        labels += ["after", "before + 95 % interval of gain"]
    return handles, labels


def _nothing(axes: Axes, title: str, why: str) -> None:
    """An empty panel that says why it is."""
    axes.set_axis_off()
    axes.set_title(title)
    axes.text(0.5, 0.5, why, transform=axes.transAxes, ha="center", color="#555555")
