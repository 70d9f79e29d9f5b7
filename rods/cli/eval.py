"""``rods eval``: verdicts on recorded trajectories, or the held-out progress of a policy."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rods.cli.options import (
    component_options,
    json_option,
    out_option,
    parts_without_demo,
    refuse_to_lose,
)
from rods.cli.output import (
    data_line,
    print_json,
    print_pairs,
    print_table,
    progress_bar,
    say,
    stoppable_progress,
)
from rods.errors import ConfigError, DataError

if TYPE_CHECKING:
    from rods.assembly import Assembly
    from rods.unfinished import Unfinished

EPILOG = """\b
Examples
  rods eval --plugins bfcl --trajectories answers.jsonl.gz --out verdicts.jsonl
  rods eval --policy runs/first/policy -k 4          with the settings of its run
  rods eval --plugins bfcl,grpo-trl --policy my-model --tasks 40 --out rollouts.jsonl.gz
\b
A trajectory line of BFCL is {"task_id": "multi_turn_base_0", "trajectory": [turn][step][call]}
with calls as strings, such as "cd(folder='documents')". Each line comes out with valid, turn_ok,
state_ok, response_ok, progress {judged, all, abstain} and error (replaced if it had them); its
other keys are kept.
The file under --out is complete or has the suffix .partial; what was done is never lost, and the
same command with --policy goes on from it."""


@click.command(epilog=EPILOG)
@component_options
@click.option("--trajectories", type=click.Path(path_type=Path), help="Score these JSON lines.")
@click.option("--policy", type=click.Path(path_type=Path), help="Evaluate this policy's folder.")
@out_option("Write JSON lines (.gz is packed).")
@click.option(
    "--on-error",
    type=click.Choice(["stop", "skip"]),
    default="stop",
    show_default=True,
    help="A line that cannot be scored: stop there, or write it with its error and go on.",
)
@click.option(
    "--split",
    type=click.Choice(["train", "eval"]),
    default="eval",
    show_default=True,
    help="The tasks that a policy is evaluated on.",
)
@click.option(
    "-k", "samples", type=click.IntRange(1), default=4, show_default=True, help="Rollouts a task."
)
@click.option("--tasks", type=click.IntRange(1), help="Tasks, spread over kinds.  [default: all]")
@click.option("--seed", type=click.IntRange(0), help="Of the sampling.  [default: run.seed, 0]")
@json_option
def command(trajectories: Path | None, policy: Path | None, as_json: bool, **options: Any) -> int:
    """Score recorded trajectories (--trajectories) or evaluate a policy (--policy).

    A policy's score is the mean over tasks of its k rollouts' progress, and the share of rollouts
    that solve all turns, with 95 % bootstrap intervals over tasks. Rollouts that an outage ended
    are counted apart, never as zeros.
    """
    if (trajectories is None) == (policy is None):
        raise ConfigError("Give either --trajectories FILE or --policy DIR (see --help).")
    if trajectories is not None:
        return _score(trajectories, options, as_json)
    assert policy is not None
    return _evaluate(policy, options, as_json)


# ------------------------------------------------------------------------------- trajectories
def _score(trajectories: Path, options: dict[str, Any], as_json: bool) -> int:
    """Write the verdicts and show their sums; exit status 1 if not one line had a verdict."""
    from rods.jsonl import JsonlReader, JsonlWriter
    from rods.recordings import score_recordings

    if options["out"] is None:
        raise ConfigError("--trajectories needs --out FILE for the verdicts.")
    refuse_to_lose(options["out"], options["force"])
    reader = JsonlReader(trajectories)
    parts = parts_without_demo(options["plugins"], options["config"], options["overrides"])
    environment = parts.environment()
    try:
        with (
            JsonlWriter(options["out"]) as writer,
            stoppable_progress("Scoring", reader.size) as advance,
        ):
            report = score_recordings(
                environment,
                reader,
                writer,
                on_error=options["on_error"],
                progress=lambda lines: advance(reader.position, f"{lines} lines"),
            )
    finally:
        environment.close()
    if not report.scored:
        say(f"None of the {report.lines} lines could be scored; each has its error in the output.")
    if as_json:
        print_json({**report.model_dump(), "out": str(options["out"])})
        return 0 if report.scored else 1
    pairs = {
        "lines": report.lines,
        "scored": report.scored,
        "with an error": report.errors,
        "valid": report.valid,
        **{f"  {kind}": share for kind, share in report.valid_by_kind.items()},
        **{f"progress, {rule}": mean for rule, mean in report.progress.items()},
        "seconds": report.seconds,
        **data_line(report.data_hashes),
        "verdicts": options["out"],
    }
    print_pairs(f"{environment.name}: {trajectories}", pairs)
    return 0 if report.scored else 1


# ------------------------------------------------------------------------------- policies
def _evaluate(policy: Path, options: dict[str, Any], as_json: bool) -> int:
    """Play and show what the policy reaches; exit status 1 if an outage left nothing to show."""
    from rods.cli.interruption import interruptible
    from rods.policy_report import evaluate_policy

    if not policy.is_dir():
        raise DataError(f"{policy} is no folder with a policy; a run's is RUN/policy.")
    config = options["config"] or _settings_of(policy)
    parts = parts_without_demo(options["plugins"], config, options["overrides"])
    out = _unfinished(policy, parts, options) if options["out"] else None
    environment, trainer = parts.environment(), parts.trainer()
    try:
        trainer.load(policy)
        with interruptible() as interruption, progress_bar("Evaluating", 100) as advance:

            def moved(done: int, total: int) -> None:
                interruption.check()
                advance(100 * done // total, f"{done} of {total}")

            report = evaluate_policy(
                trainer,
                environment,
                split=options["split"],
                tasks=options["tasks"],
                samples=options["samples"],
                seed=parts.run.seed if options["seed"] is None else options["seed"],
                out=out,
                progress=moved,
            )
    finally:
        environment.close()
    report = {"policy": str(policy), **report}
    if not report["n"]:
        say("Not one rollout has a reward: an outage ended them all.")
    if as_json:
        print_json(report)
    else:
        _show(report)
    return 0 if report["n"] else 1


def _unfinished(policy: Path, parts: Assembly, options: dict[str, Any]) -> Unfinished:
    """Where the rollouts go, with those that an interrupted call of this command has made."""
    from rods.unfinished import policy_stamp, unfinished

    out, force = options["out"], options["force"]
    if out.is_file() or force:
        refuse_to_lose(out, force)
    asked = {name: options[name] for name in ("split", "tasks", "samples", "seed")}
    settings = {
        kind: [parts.component(kind).name, parts.config(kind).model_dump(mode="json")]
        for kind in ("environment", "trainer")
    }
    terms = {**asked, **settings, "run.seed": parts.run.seed, "policy": policy_stamp(policy)}
    found = unfinished(out, terms, anew=force)
    if found.lines:
        say(f"Going on after {len(found.lines)} tasks, which are in {found.partial}.")
    return found


def _settings_of(policy: Path) -> Path | None:
    """The settings of the run that a policy or checkpoint lies in, if it lies in one."""
    for folder in (policy.parent, policy.parent.parent):
        if (folder / "config.toml").is_file():
            say(f"Settings: {folder / 'config.toml'}")
            return folder / "config.toml"
    return None


def _show(report: dict[str, Any]) -> None:
    """Levels in all, by kind and by set; then what was left out and what it was read from."""
    levels = {
        "all": report,
        **{f"kind {name}": level for name, level in report["kinds"].items()},
        **{f"set {name}": level for name, level in report["sets"].items()},
    }
    columns = ("", "tasks", "progress (95 % interval)", "all turns solved (95 % interval)")
    title = f"{report['environment']} {report['split']}, {report['samples']} rollouts a task"
    print_table(title, columns, [(name, *_cells(level)) for name, level in levels.items()])
    pairs = {
        "rollouts": report["rollouts"],
        "unscored (an outage)": report["unscored_rollouts"],
        **{f"ended: {stop}": n for stop, n in report["stops"].items()},
        "malformed calls": report["malformed"],
        "seed": report["seed"],
        "seconds": report["seconds"],
        **data_line(report["data_hashes"]),
    }
    print_pairs(report["policy"], pairs)


def _cells(level: dict[str, Any]) -> tuple[object, ...]:
    if level["progress"] is None:
        return (0, None, None)
    shown = [
        f"{level[name]:.3f} ({low:.3f} to {high:.3f})"
        for name, (low, high) in (
            ("progress", level["progress_ci"]),
            ("solved", level["solved_ci"]),
        )
    ]
    return (level["n"], *shown)
