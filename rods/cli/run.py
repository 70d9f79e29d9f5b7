"""``rods run``: the whole loop, a resumed one, or only its preflight."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rods.cli.lm_options import lm_flags, lm_options
from rods.cli.options import component_options, json_option
from rods.errors import ConfigError, UserError

if TYPE_CHECKING:
    from rods.cli.interruption import Interruption
    from rods.runner import TrainingRun
    from rods.types import Check

EPILOG = """\b
Examples
  rods run --plugins office,grpo-trl                      the demo: it learns on two cores
  rods run --plugins office,grpo-trl --epochs 12          shorter
  rods run --plugins bfcl,grpo-trl --out runs/bfcl -o curriculum.epoch_size=16
  rods run --config examples/qwen3-4b-bfcl.toml --dry-run what is missing, without a GPU
  rods run --resume runs/bfcl                             after Ctrl-C, a crash or a kill
\b
Settings: the TOML file, then flags, then -o; `rods plugins show NAME` lists every key. Without a
file and without --preset the plugins' own `demo` settings are the defaults; --preset paper takes
the published rules, --preset demo,paper both, --preset none neither."""


@click.command(epilog=EPILOG)
@component_options
@click.option("--preset", metavar="NAMES", help="Sets of defaults: demo, paper, none.")
@lm_options
@click.option("--seed", type=click.IntRange(0), help="Every other seed is derived from it.")
@click.option(
    "--epochs",
    type=click.IntRange(1, 100_000),
    help="Length of the run; where it has several stages, set each in curriculum.stages.",
)
@click.option(
    "--out", type=click.Path(path_type=Path), help="The run's folder.  [default: runs/..]"
)
@click.option(
    "--resume", type=click.Path(path_type=Path), help="Go on with the run in this folder."
)
@click.option("--dry-run", is_flag=True, help="Only check: data, references, model, options.")
@json_option
def command(resume: Path | None, dry_run: bool, as_json: bool, **options: Any) -> None:
    """Train a policy on tasks that follow what it can do.

    The run's folder holds settings, pool, rollouts, checkpoints, policy and summary.json.
    """
    from rods.cli.interruption import interruptible

    if resume is not None and _is_finished(resume, options, as_json):
        return
    with interruptible() as interruption:
        run = _run(resume, options)
        run.assembly.plugins.observe(interruption)
        if dry_run:
            sys.exit(0 if _dry_run(run, as_json) else 1)
        with _resumable(run, interruption):
            summary = _train(run, interruption)
    if summary:
        _show(summary, as_json)


def _run(resume: Path | None, options: dict[str, Any]) -> TrainingRun:
    from rods.assembly import assemble
    from rods.config import split_names
    from rods.runner import new_run, resumed_run

    if resume is not None:
        return resumed_run(resume, sys.argv)
    preset = options["preset"] and split_names(options["preset"])
    flags = {"run.seed": options["seed"], "run.preset": preset, **lm_flags(options)}
    assembly = assemble(options["plugins"], options["config"], options["overrides"], flags)
    if options["epochs"] is not None:
        assembly.set_epochs(options["epochs"])
    return new_run(assembly, options["out"], sys.argv)


def _is_finished(path: Path, options: dict[str, Any], as_json: bool) -> bool:
    """Show the result of a run that has nothing left to do; refuse settings for a resumed one."""
    from rods.finished import finished

    if given := [name for name, value in options.items() if value not in (None, ())]:
        raise ConfigError(f"--resume takes the run's own settings; leave out {', '.join(given)}.")
    summary = finished(path)
    if summary is None:
        return False
    if not as_json:
        click.echo(f"The run in {path} is finished.")
    _show(summary, as_json)
    return True


def _train(run: TrainingRun, interruption: Interruption) -> dict[str, Any]:
    from rods.runner import rank, world_size

    interruption.patient = world_size() == 1  # ranks would not agree on the step that is the last
    if rank() > 0:
        return run.train()
    from rich.console import Console

    from rods.cli.live import display

    console = Console(stderr=True)
    interruption.displayed = console.is_terminal
    with display(console, run.assembly.plugins.observe, interruption.notice):
        return run.train(interruption.stopping)


def _dry_run(run: TrainingRun, as_json: bool) -> bool:
    """Show the preflight; whether nothing in it failed."""
    from rods.cli.output import print_json, print_table, say, show_tracebacks

    checks = list(run.checks())
    if as_json:
        print_json([check.model_dump() for check in checks])
    else:
        rows = [(_verdict(c), c.name, c.detail, c.fix) for c in checks]
        print_table("Preflight", ("", "check", "found", "mend it with"), rows)
        show_tracebacks(checks)
        if skipped := [check.name for check in checks if check.skipped]:
            say(f"Not checked: {', '.join(skipped)}.")
    return all(check.ok for check in checks)


def _verdict(check: Check) -> str:
    return "skip" if check.skipped else "ok" if check.ok else "FAIL"


def _show(summary: dict[str, Any], as_json: bool) -> None:
    from rods.cli.output import print_json
    from rods.cli.report import print_summary

    if as_json:
        print_json(summary)
    else:
        print_summary(summary)


@contextmanager
def _resumable(run: TrainingRun, interruption: Interruption) -> Iterator[None]:
    """Whatever ends the run early, the user learns how to go on, if going on is of use.

    It is not where the input was at fault and no step was done: it would end the same way again.
    """
    hint = f"Go on with: rods run --resume {run.path}"
    before = _size(run.path / "metrics.jsonl")
    try:
        yield
    except (KeyboardInterrupt, Exception) as error:
        begun = (run.path / "config.toml").exists()
        if isinstance(error, KeyboardInterrupt) or interruption.asked:
            click.echo(f"Interrupted. {hint if begun else 'Nothing was written.'}", err=True)
            sys.exit(130)
        moved = _size(run.path / "metrics.jsonl") != before
        if begun and (moved or not isinstance(error, UserError)):
            error.add_note(hint)
        raise


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
