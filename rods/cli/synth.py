"""``rods synth``: verified variants of train tasks, offline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rods.cli.costs import print_costs
from rods.cli.lm_options import lm_flags, lm_options
from rods.cli.options import (
    component_options,
    json_option,
    out_option,
    parts_without_demo,
    refuse_to_lose,
    settings_in,
)
from rods.cli.output import print_json, print_pairs, print_table, say, stoppable_progress

if TYPE_CHECKING:
    from rods.assembly import Assembly
    from rods.interfaces import Environment
    from rods.types import Task
    from rods.variants import VariantReport

EPILOG = """\b
Examples
  rods synth --plugins bfcl -n 200 --seed 0 --out variants.jsonl
  rods synth --plugins bfcl --from-rollouts rollouts.jsonl -n 50 --out variants.jsonl
  rods synth --plugins office --kind miss_func -n 20 --out variants.jsonl --json
  rods synth --plugins bfcl --lm openai/NAME --lm-url http://localhost:8000/v1 --out variants.jsonl
\b
A rollouts line is {"task_id": "multi_turn_base_0", "rewards": [0.0, 0.5, 1.0, null]}; other keys
are ignored, null is a rollout that an outage ended, and the last line of a task counts. Seeds are
the tasks that the boundary selector would take; -o selector.alpha_high=0.9 moves its zone.
Lines of evaluation tasks are left out. Variants can be seeds too: those of a run are known from
its pool, where the rollouts lie in its folder; --seeds variants.jsonl makes others known.
The file under --out is complete or has the suffix .partial; what was made is never lost.
Equal tasks, options and --seed give an equal file, but for provenance.seconds.
The reasons of the funnel and the distances are explained in docs/synthesis.md."""

_STRUCTURES = {"new": "of other functions", "seed": "with the seed's own calls"}


@click.command(epilog=EPILOG)
@component_options
@click.option(
    "--split",
    type=click.Choice(["train", "eval"]),
    default="train",
    show_default=True,
    help="The seeds; eval is refused, its variants would contaminate the evaluation.",
)
@click.option("--kind", "kinds", multiple=True, help="Only seeds of this kind (repeat for more).")
@click.option(
    "--from-rollouts",
    type=click.Path(path_type=Path),
    help="Take boundary seeds from these lines; a run's folder means all that it played.",
)
@click.option(
    "--seeds",
    "seed_files",
    type=click.Path(path_type=Path),
    multiple=True,
    help="Task lines that are seeds as well: an earlier --out, or `rods pool export`.",
)
@click.option(
    "-n", "wanted", type=click.IntRange(1), default=100, show_default=True, help="Variants to make."
)
@lm_options
@click.option("--seed", type=click.IntRange(0), help="Of the choices.  [default: run.seed, 0]")
@out_option("Task lines (.gz too).", required=True)
@json_option
def command(split: str, wanted: int, out: Path, force: bool, as_json: bool, **options: Any) -> int:
    """Make variants of train tasks that are executed, checked and near the seed in structure.

    Each seed is asked in turn until -n variants are admitted or no seed gives any more. Every
    variant's reference has run twice in fresh worlds with equal results, and none is near an
    evaluation task. No training is needed, and no language model: one that is named with --lm
    words what code has planned and executed.
    """
    from rods.errors import ConfigError
    from rods.jsonl import JsonlWriter
    from rods.synthesis.lm.preflight import require_models
    from rods.variants import VariantMaker, models_note, task_line

    if split == "eval":
        raise ConfigError(
            "--split eval is refused: variants of evaluation tasks would contaminate the "
            "evaluation; use --split train."
        )
    rollouts = [options["from_rollouts"]] if options["from_rollouts"] else []
    refuse_to_lose(out, force, [*options["seed_files"], *rollouts])
    flags, config = lm_flags(options), options["config"] or _settings_of(*rollouts)
    parts = parts_without_demo(options["plugins"], config, options["overrides"], flags)
    require_models(parts.synthesis.lm)
    with closing(parts.environment()) as environment:
        seeds, measured = _seeds(parts, environment, options)
        seed = parts.run.seed if options["seed"] is None else options["seed"]
        maker = VariantMaker(parts.synthesizer(environment), seeds, seed)
        with JsonlWriter(out) as writer, stoppable_progress("Synthesis", wanted) as advance:
            made = maker.make(wanted, lambda done: advance(done, f"{done} of {wanted}"))
            for candidate in made:
                writer.write(task_line(candidate.task))
    report = maker.report(wanted)
    if report.admitted < wanted:
        say(f"Only {report.admitted} of {wanted} variants: {_why(report)}")
    for text, count in report.exceptions.items():
        say(f"{count} attempts ended in an exception: {text}")
    if note := models_note(parts.synthesis.lm, report):
        say(note)
    _show(report, measured, out, as_json)
    return 0 if report.admitted else 1


def _settings_of(rollouts: Path | None = None) -> Path | None:
    """The settings of the run that the rollouts were played in, if they lie in one: its tasks."""
    return None if rollouts is None else settings_in(*_runs_around(rollouts))


def _runs_around(rollouts: Path) -> list[Path]:
    """The folders of a run at or above the rollouts, nearest first."""
    near = (rollouts, rollouts.absolute().parent, rollouts.absolute().parent.parent)
    folders = near if rollouts.is_dir() else near[1:]
    return [folder for folder in folders if (folder / "rollouts").is_dir()]


def _variants_of(rollouts: Path) -> dict[str, Task]:
    """The variants of the run that the rollouts were played in, by id.

    There are none where its pool cannot be read: rollouts of seeds need none, and where one is of a
    variant, the error names the cure.
    """
    from rods.errors import PoolError
    from rods.pool_access import open_existing

    runs = (run for run in _runs_around(rollouts) if (run / "config.toml").is_file())
    run = next(runs, None)
    with suppress(PoolError):
        if run is not None:
            with open_existing(str(run)) as pool:
                return pool.tasks([e.id for e in pool.entries() if e.origin == "synthetic"])
    return {}


def _why(report: VariantReport) -> str:
    if not report.seeds:
        return "no measured task lies on the boundary."
    return f"all {report.seeds} seeds are exhausted; more seeds or other options give more."


def _seeds(
    parts: Assembly, environment: Environment, options: dict[str, Any]
) -> tuple[Sequence[Task], dict[str, int]]:
    """The tasks to vary, and how many were measured if rollouts chose them."""
    from rods.jsonl import JsonlReader
    from rods.seeds import seed_tasks

    readers = [JsonlReader(path) for path in options["seed_files"]]
    rollouts, kinds = options["from_rollouts"], options["kinds"]
    tasks = seed_tasks(environment, readers, kinds)
    if rollouts is None:
        return tasks, {}
    known = seed_tasks(environment, readers) if kinds else tasks
    return _boundary(parts, environment, {task.id: task for task in known}, rollouts, kinds)


def _boundary(
    parts: Assembly,
    environment: Environment,
    tasks: Mapping[str, Task],
    rollouts: Path,
    kinds: Sequence[str],
) -> tuple[Sequence[Task], dict[str, int]]:
    """The tasks that these rollouts show at the boundary, and what else was measured."""
    from rods.jsonl import JsonlReader
    from rods.pool import Pool
    from rods.seeds import boundary_seeds, read_evidence, rollout_files

    held_out = frozenset(task.id for task in environment.tasks("eval"))
    readers = [JsonlReader(path) for path in rollout_files(rollouts)]
    tasks = {**_variants_of(rollouts), **tasks}
    found = read_evidence(readers, tasks, held_out)
    if found.held_out:
        say(f"{found.held_out} of {found.lines} lines are of evaluation tasks and were left out.")
    evidence = found.of_kinds(kinds)
    with Pool.open("sqlite://") as pool:
        seeds = boundary_seeds(parts.selector(pool), evidence, tasks)
    return seeds, {"measured": len(evidence), "boundary": len(seeds)}


def _show(report: VariantReport, measured: dict[str, int], out: Path, as_json: bool) -> None:
    if as_json:
        return print_json({**report.model_dump(), **measured, "out": str(out)})
    rows = [(s, r, n) for s, reasons in report.funnel.items() for r, n in reasons.items()]
    print_table("Funnel", ("stage", "reason", "count"), rows)
    pairs: dict[str, object] = {
        **{f"tasks {what}": n for what, n in measured.items()},
        "admitted": f"{report.admitted} of {report.wanted}",
        **{f"  {kind}": n for kind, n in report.kinds.items()},
        **{f"  {_STRUCTURES[name]}": n for name, n in report.structures.items()},
        "seeds covered": f"{report.seeds_covered} of {report.seeds}",
        "seeds exhausted": report.seeds_exhausted,
        "distance, mean": report.distances["mean"],
        "distance, largest": report.distances["max"],
        "isomorphic share": report.distances["isomorphic"],
        "seconds": report.seconds,
        "admitted a second": report.per_second,
        "tasks written to": out,
    }
    print_pairs("Variants", pairs)
    print_costs({name: cost.model_dump() for name, cost in report.lm.items()})
