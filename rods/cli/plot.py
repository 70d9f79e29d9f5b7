"""``rods plot``: a run as one page of figures, or several runs over each other."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from rods.cli.options import json_option, out_option, refuse_to_lose
from rods.cli.output import print_json, say
from rods.errors import ConfigError

EPILOG = """\b
Examples
  rods plot runs/first
  rods plot runs/first --out first.pdf
  rods plot runs/rods runs/static --out comparison.svg
  rods plot runs/first --json > series.json
\b
A run that is still training, or that was interrupted, is shown as far as it came. Needs
pip install 'rods[plots]'; --json does not."""

OWN = "plots.png"  # in a run's folder; it can be drawn again at any time
MOST = 8  # runs that can be told apart


@click.command(epilog=EPILOG)
@click.argument("runs", metavar="RUN...", nargs=-1, required=True, type=click.Path(path_type=Path))
@out_option(f"A .png, .svg or .pdf file.  [default for one run: RUN/{OWN}, made anew]")
@click.option(
    "--window",
    type=click.IntRange(1),
    help="Steps under a moving mean.  [default: a tenth of the steps, 3 to 100]",
)
@json_option
def command(
    runs: Sequence[Path], out: Path | None, force: bool, window: int | None, as_json: bool
) -> None:
    """Draw what a run did: reward, regions of the groups, pool, synthesis, held-out progress.

    Several runs are drawn over each other, named by their folders.
    """
    from rods.plots.reading import read_runs

    if as_json:
        if out is not None:
            raise ConfigError("--json prints the series and draws nothing; leave out --out.")
        found = read_runs(runs, window, say)
        return print_json({"runs": [run.model_dump(mode="json") for run in found]})
    path = _path(runs, out, force)
    _require_matplotlib()
    from rods.plots.figure import write_figure

    write_figure(read_runs(runs, window, say), path)
    click.echo(f"The figure is in {path}.")


def _path(runs: Sequence[Path], out: Path | None, force: bool) -> Path:
    """Where the figure goes; a ConfigError where that would lose a file, or cannot be."""
    from rods.plots.formats import form_of

    if len(runs) > MOST:
        raise ConfigError(f"{len(runs)} runs cannot be told apart in a figure; {MOST} can.")
    if out is None:
        if len(runs) > 1:
            raise ConfigError("Several runs have no folder in common; name a file with --out.")
        return runs[0] / OWN
    form_of(out)
    if not out.parent.is_dir():
        raise ConfigError(f"{out.parent} is no folder; make it, or name another --out.")
    refuse_to_lose(out, force)
    return out


def _require_matplotlib() -> None:
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise ConfigError("Figures need matplotlib: pip install 'rods[plots]'.") from error
