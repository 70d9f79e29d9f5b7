"""``rods eval``: verdicts on recorded trajectories, or the held-out progress of a policy."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rods.cli.eval_policy import evaluate, served_options
from rods.cli.eval_suite import evaluate_suite
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
    say,
    stoppable_progress,
)
from rods.errors import ConfigError

if TYPE_CHECKING:
    from rods.recordings import RecordingReport

EPILOG = """\b
Examples
  rods eval --plugins bfcl --trajectories answers.jsonl.gz --out verdicts.jsonl
  rods eval --policy runs/first/policy -k 4          with the settings of its run
  rods eval --plugins bfcl,grpo-trl --policy my-model --tasks 40 --out rollouts.jsonl.gz
  rods eval --plugins bfcl --policy openai/Qwen/Qwen3-4B --lm-url http://localhost:8000/v1 -k 1
  rods eval --plugins agentdojo,grpo-trl --policy my-model --split injection
  rods eval --suite ood --plugins grpo-trl --policy my-model --out ood
\b
A trajectory line of BFCL is {"task_id": "multi_turn_base_0", "trajectory": [turn][step][call]}
with calls as strings, such as "cd(folder='documents')". Each line comes out with valid, turn_ok,
state_ok, response_ok, progress {judged, all, abstain} and error (replaced if it had them); its
other keys are kept.
A suite takes settings of one world as -o environment:NAME.key=value; -o environment.key=value is
for all of its worlds.
The file under --out is complete or has the suffix .partial; what was done is never lost, and the
same command with --policy goes on from it."""


@click.command(epilog=EPILOG)
@component_options
@click.option("--trajectories", type=click.Path(path_type=Path), help="Score these JSON lines.")
@click.option(
    "--policy", metavar="DIR|openai/NAME", help="Evaluate this policy's folder, or a served model."
)
@served_options
@click.option(
    "--suite",
    metavar="NAME",
    help="Evaluate on every installed world that names this suite, such as ood; --out is a folder.",
)
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
    default="eval",
    show_default=True,
    metavar="NAME",
    help="The tasks that a policy is evaluated on: train, eval, or one that the world names, such "
    "as agentdojo's injection.",
)
@click.option(
    "-k",
    "samples",
    type=click.IntRange(1, 10_000),
    default=4,
    show_default=True,
    help="Rollouts a task.",
)
@click.option("--tasks", type=click.IntRange(1), help="Tasks, spread over kinds.  [default: all]")
@click.option("--seed", type=click.IntRange(0), help="Of the sampling.  [default: run.seed, 0]")
@json_option
def command(trajectories: Path | None, policy: str | None, as_json: bool, **options: Any) -> int:
    """Score recorded trajectories (--trajectories) or evaluate a policy (--policy).

    A policy is a folder that a trainer wrote, or openai/NAME: a model of any OpenAI-compatible
    server (--lm-url), which calls tools by the protocol's own means. Its score is the mean over
    tasks of its k rollouts' progress, and the share of rollouts that solve all turns, with 95 %
    bootstrap intervals over tasks. Rollouts that an outage ended are counted apart, never as zeros.
    """
    if options["suite"] is not None and policy is None:
        raise ConfigError("--suite needs --policy: who is to be evaluated.")
    if (trajectories is None) == (policy is None):
        raise ConfigError("Give either --trajectories FILE or --policy DIR (see --help).")
    if trajectories is not None:
        return _score(trajectories, options, as_json)
    assert policy is not None
    if options["suite"]:
        return evaluate_suite(policy, options, as_json)
    return evaluate(policy, options, as_json)


# ------------------------------------------------------------------------------- trajectories
def _score(trajectories: Path, options: dict[str, Any], as_json: bool) -> int:
    """Write the verdicts and show their sums; exit status 1 if not one line had a verdict."""
    from rods.jsonl import JsonlReader, JsonlWriter
    from rods.recordings import score_recordings

    if options["out"] is None:
        raise ConfigError("--trajectories needs --out FILE for the verdicts.")
    refuse_to_lose(options["out"], options["force"], [trajectories])
    reader = JsonlReader(trajectories)
    parts = parts_without_demo(options["plugins"], options["config"], options["overrides"])
    with (
        closing(parts.environment()) as environment,
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
    if not report.scored:
        say(f"None of the {report.lines} lines could be scored; each has its error in the output.")
    if as_json:
        print_json({**report.model_dump(), "out": str(options["out"])})
    else:
        print_pairs(f"{environment.name}: {trajectories}", _pairs(report, options["out"]))
    return 0 if report.scored else 1


def _pairs(report: RecordingReport, out: Path) -> dict[str, Any]:
    """The sums as rows of a table."""
    return {
        "lines": report.lines,
        "scored": report.scored,
        "with an error": report.errors,
        "valid": report.valid,
        **{f"  {kind}": share for kind, share in report.valid_by_kind.items()},
        **{f"progress, {rule}": mean for rule, mean in report.progress.items()},
        "seconds": report.seconds,
        **data_line(report.data_hashes),
        "verdicts": out,
    }
