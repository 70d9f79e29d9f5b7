"""``rods tune``: the prompts of the synthesis, optimised against verification."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

from rods.cli.lm_options import lm_flags, lm_options
from rods.cli.options import (
    component_options,
    json_option,
    out_option,
    parts_without_demo,
    refuse_to_lose,
)
from rods.errors import ConfigError, RodsError

if TYPE_CHECKING:
    from rods.assembly import Assembly
    from rods.synthesis.tuning.tuned import TunedProgram
    from rods.synthesis.tuning.tuner import Estimate, TuningReport
    from rods.tunings import TuningRequest

EPILOG = """\b
Examples
  rods tune --plugins bfcl --lm openai/NAME --lm-url http://localhost:8000/v1 --dry-run
  rods tune --plugins bfcl --lm openai/NAME --lm-url http://localhost:8000/v1 --stage rewrite
  rods tune --plugins office --lm smollm2 --held-out 4 --budget 8 --out small.json
  rods synth --plugins bfcl --lm openai/NAME --lm-url URL --program tuned.json --out variants.jsonl
\b
GEPA rewrites the instructions of the stage that verification blames, by a reflecting model;
`bootstrap` shows a weak model its own verified answers. Train tasks only: some select, some teach,
and --held-out of them measure the result. What was paid for stays in OUT.journal.jsonl: --resume
repeats it for nothing, also with a larger --budget. The judge's prompt is never tuned: it would
learn to let everything pass."""


@click.command(epilog=EPILOG)
@component_options
@lm_options
@click.option("--reflect-lm", metavar="MODEL", help="Who improves the prompts.  [default: --lm]")
@click.option("--reflect-url", metavar="URL", help="Its server.  [default: --lm-url]")
@click.option(
    "--stage",
    "stages",
    type=click.Choice(["plan", "execute", "rewrite", "augment"]),
    multiple=True,
    help="Tune this stage alone (repeat for more).  [default: all but the critique]",
)
@click.option(
    "--method",
    type=click.Choice(["gepa", "bootstrap", "both"]),
    help="[default: bootstrap for smollm2, else gepa]",
)
@click.option(
    "--budget", type=click.IntRange(1), default=200, show_default=True, help="Variants to try."
)
@click.option(
    "--held-out", type=click.IntRange(1), default=24, show_default=True, help="Seeds to measure on."
)
@click.option("--seed", type=click.IntRange(0), help="Of the split and the search.  [default: 0]")
@click.option("--workers", type=click.IntRange(1), default=1, help="Variants tried at once.")
@out_option("The tuned prompts.", default=Path("tuned.json"), show_default=True)
@click.option("--resume", is_flag=True, help="Go on where an earlier call with this --out stopped.")
@click.option("--dry-run", is_flag=True, help="Only estimate, from three trials; keep nothing.")
@json_option
def command(
    out: Path, force: bool, resume: bool, dry_run: bool, as_json: bool, **options: Any
) -> None:
    """Optimise the prompts of the synthesis against verification, within a budget."""
    from rods.cli.output import print_json

    if out.is_dir():
        raise ConfigError(f"{out} is a folder; --out names a file, such as {out / 'tuned.json'}.")
    if not (dry_run or resume):
        refuse_to_lose(out, force)
    parts = _parts(options)
    with _journal(out, force, resume, dry_run) as journal:
        estimate, found = _tuned(parts, journal, options, dry_run)
    if found is None:
        return print_json(estimate.model_dump()) if as_json else None
    program, report = found
    if program.predictors:
        program.write(out)
    if as_json:
        written = str(out) if program.predictors else None
        print_json({**report.model_dump(), "digest": program.digest, "out": written})
    else:
        _show(program, report, out)


def _tuned(
    parts: Assembly, journal: Path, options: dict[str, Any], dry_run: bool
) -> tuple[Estimate, tuple[TunedProgram, TuningReport] | None]:
    """The estimate, which is said, and what the search found unless it is a dry run."""
    from rods.cli.output import say, stoppable_progress
    from rods.tunings import tuner_of

    environment = parts.environment()
    try:
        tuner = tuner_of(parts, environment, journal, _request(options))
        with stoppable_progress("Tuning", tuner.trials) as advance:
            total = tuner.trials
            tuner.watch(lambda done: advance(min(done, total), f"{done} of {total} variants"))
            estimate = tuner.estimate()
            say(_estimated(estimate))
            return estimate, None if dry_run else tuner.run()
    except (KeyboardInterrupt, RodsError) as error:
        if journal.exists() and not dry_run:
            error.add_note("What was paid for is kept: go on with the same command and --resume.")
        raise
    finally:
        environment.close()


def _parts(options: dict[str, Any]) -> Assembly:
    """The parts, with language models that answer."""
    from rods.synthesis.lm.preflight import require_models

    flags = lm_flags(options)
    parts = parts_without_demo(options["plugins"], options["config"], options["overrides"], flags)
    if not parts.synthesis.lm.used:
        raise ConfigError("No language model is set; name one with --lm, such as --lm openai/NAME.")
    require_models(parts.synthesis.lm)
    return parts


@contextmanager
def _journal(out: Path, force: bool, resume: bool, dry_run: bool) -> Iterator[Path]:
    """Where answers are kept: beside ``out``, and for a dry run where nothing is left of them."""
    path = out.with_name(f"{out.name}.journal.jsonl")
    if resume and not path.exists():
        raise ConfigError(f"There is nothing to resume: {path} does not exist.")
    if dry_run:
        with TemporaryDirectory() as folder:
            if resume:
                shutil.copy(path, folder)
            yield Path(folder) / path.name
        return
    if path.exists() and not (resume or force):
        raise ConfigError(
            f"{path} holds an earlier tuning: --resume goes on with it, --force begins anew; else "
            "name another --out."
        )
    if force and not resume:
        path.unlink(missing_ok=True)
    yield path


def _request(options: dict[str, Any]) -> TuningRequest:
    from rods.tunings import TuningRequest
    from rods.types import Stage

    return TuningRequest(
        reflect_lm=options["reflect_lm"] or "",
        reflect_url=options["reflect_url"] or "",
        stages=tuple(Stage(name) for name in options["stages"]),
        method=options["method"],
        budget=options["budget"],
        held_out=options["held_out"],
        seed=options["seed"],
        workers=options["workers"],
    )


def _estimated(estimate: Estimate) -> str:
    price = f", price {estimate.price:.4f}" if estimate.price else ""
    return (
        f"At most {estimate.trials} variants: about {estimate.calls:.0f} calls, "
        f"{estimate.tokens:.0f} tokens, {estimate.seconds / 60:.1f} minutes of waiting{price}, "
        "and one or two calls for each new proposal."
    )


def _show(program: TunedProgram, report: TuningReport, out: Path) -> None:
    from rods.cli.costs import print_costs
    from rods.cli.output import print_table

    rows = [
        (name, f"{one.mean:.3f}", f"[{one.low:+.3f}, {one.high:+.3f}]")
        for name, one in (("baseline", report.baseline), ("tuned", report.tuned))
    ]
    gain = report.gain
    rows.append(("gain", f"{gain.mean:+.3f}", f"[{gain.low:+.3f}, {gain.high:+.3f}]"))
    seeds = report.seeds["held_out"]
    print_table(f"Yield on {seeds} held-out seeds", ("", "verified", "95 % interval"), rows)
    print_costs({name: cost.model_dump() for name, cost in report.lm.items()})
    click.echo(
        f"{report.trials} variants tried; {report.proposals} proposals asked for, "
        f"{report.refused} refused."
    )
    if not program.predictors:
        click.echo("No better prompts were found; nothing was written.")
        return
    click.echo(f"Changed: {', '.join(report.changed)}. Digest {program.digest}. Written to {out}")
    if report.gain.mean <= 0:
        click.echo("They are no better on held-out seeds: keep the built-in prompts.")
