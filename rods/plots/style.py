"""How figures look: readable in print, in grey and for colour-blind readers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from matplotlib.transforms import ScaledTranslation

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

# Okabe and Ito's colours without the yellow, which is too pale for a line.
BLUE, VERMILLION, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
SKY, ORANGE, BLACK, GREY = "#56B4E9", "#E69F00", "#000000", "#8C8C8C"
COLOURS = (BLUE, VERMILLION, GREEN, BLACK, PURPLE, ORANGE, SKY, GREY)
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1, 1)), (0, (6, 1.5, 1, 1.5)))
# From dark to light, so that they differ in grey too, and pale enough for a black line upon them.
REGIONS = {"hard": "#5B9BD5", "boundary": "#FAD08A", "mastered": "#F1F1F1"}
STATES = {"active": "#5B9BD5", "trial": "#FAD08A", "candidate": "#DCE9F5", "parked": "#F1F1F1"}
STAGES = {
    "admitted": BLUE,
    "plan": VERMILLION,
    "execute": GREEN,
    "rewrite": PURPLE,
    "critique": BLACK,
    "augment": ORANGE,
}

RC: dict[Any, Any] = {
    "font.size": 8.5,
    "axes.titlesize": 9.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 8.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "grid.color": "#DDDDDD",
    "grid.linewidth": 0.5,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "legend.handlelength": 2.2,
    "legend.columnspacing": 1.4,
    "figure.titlesize": 11,
    "text.parse_math": False,  # names of folders may hold a dollar
    "pdf.fonttype": 42,
    "svg.hashsalt": "rods",  # equal runs give equal files
}

_ROW_PT = 12.5  # the height of a legend's row
_MARKED = 20  # values up to which each one has a mark


def heading(
    axes: Axes,
    title: str,
    handles: Sequence[Artist],
    labels: Sequence[str],
    columns: int,
    above: float = 1.5,
) -> None:
    """The title stands above the legend, and that above the panel, where it covers nothing.

    ``above`` is the room between panel and legend, in points.
    """
    columns = max(1, min(columns, len(labels)))
    rows = -(-len(labels) // columns)
    columns = max(1, -(-len(labels) // max(1, rows)))  # rows of equal length
    axes.set_title(title, pad=4.5 + _ROW_PT * rows + above)
    if labels:
        inches = axes.figure.dpi_scale_trans
        axes.legend(
            handles,
            labels,
            ncols=columns,
            loc="lower left",
            bbox_to_anchor=(0, 1),
            bbox_transform=axes.transAxes + ScaledTranslation(0, above / 72, inches),
            borderaxespad=0,
            borderpad=0,
            labelspacing=0.25,
        )


def marks(values: Sequence[object]) -> dict[str, Any]:
    """Keywords of a line: a short one shows its values."""
    return {"marker": "o", "markersize": 2.8} if len(values) <= _MARKED else {}


def shortened(text: str, length: int) -> str:
    """The text on one line, its middle left out where it is too long."""
    line = " ".join(text.split())
    half = (length - 3) // 2
    return line if len(line) <= length else f"{line[:half]}...{line[-half:]}"


def number(value: float | None) -> float:
    """What matplotlib draws: a gap where there is no value."""
    return float("nan") if value is None else value


def edges(places: Sequence[int]) -> list[float]:
    """The borders of bars of width one around whole numbers, shape (n + 1,)."""
    return [*(place - 0.5 for place in places), places[-1] + 0.5]


def columns_for(labels: Sequence[str], characters: int) -> int:
    """How many of these labels stand side by side in a legend of so many characters."""
    longest = max((len(label) for label in labels), default=0)
    return max(1, characters // (longest + 7))
