"""Does the loop help? Arms that differ in one thing, equal rollouts, several seeds, held-out tasks.

Every arm is a `rods run` on the office world with the settings of the demo, but that variants are
made in step with training (`synthesis.mode=sync`), so that a run can be repeated exactly; a seed
draws train tasks, evaluation tasks and sampling. Arms of one seed share the warm start and the
evaluation tasks, so their difference is paired by task. The controls need no training: policies
that must score 0 on the same evaluation tasks.

    python benchmarks/learning.py [--seeds 0,1,2] [--arms rods,static] [--jobs 2] [--json]

About 8 minutes a run on one core. Finished runs are kept below --out and not repeated.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path
from typing import Any

from rods_grpo_trl.config import GrpoConfig
from rods_grpo_trl.tiny.corpus import read_corpus
from rods_grpo_trl.tiny.model import SIZES
from rods_grpo_trl.tiny.policy import untrained
from rods_grpo_trl.training import Training
from rods_office.environment import OfficeEnvironment

from rods.evaluation import read_scores
from rods.statistics import Interval, paired_gain
from rods.testing import Agent, play, random_calls, reference, silent
from rods.types import AssistantMessage, Task

ARMS: dict[str, tuple[str, ...]] = {
    "rods": (),
    "fixed-seeds": ("curriculum.redraw_seeds=false",),
    "never-redraw": ("curriculum.redraw=never",),
    "random": ("selector.name=random",),
    "uniform": ("selector.name=uniform",),
    "static": ("buffer.name=static", "curriculum.redraw=never"),
}
SETS = ("unseen_entities", "unseen_composition")


def main() -> None:
    """Run what is missing, then print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seeds", default="0,1,2", help="seeds of tasks and sampling")
    parser.add_argument("--arms", default="rods,static", help=f"of {', '.join(ARMS)}")
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time, one core each")
    parser.add_argument("--out", type=Path, default=Path("runs/learning"), help="where runs lie")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="table.key=value",
        dest="overrides",
        help="a setting of every run",
    )
    options = parser.parse_args()
    seeds = [int(seed) for seed in options.seeds.split(",")]
    arms = options.arms.split(",")
    with ThreadPoolExecutor(options.jobs) as pool:
        runs = [(arm, seed, options.out / f"{arm}-{seed}") for seed, arm in product(seeds, arms)]
        list(pool.map(lambda run: train(*run, overrides=options.overrides), runs))
    result = {
        "runs": [row(arm, seed, folder) for arm, seed, folder in runs],
        "differences": [d for seed in seeds for d in differences(options.out, arms, seed)],
        "controls": controls(seeds),
    }
    print(json.dumps(result) if options.json else "\n".join(table(result)))


def train(arm: str, seed: int, folder: Path, *, overrides: Sequence[str] = ()) -> None:
    """The run of one arm with one seed lies finished in ``folder``."""
    if (folder / "summary.json").exists():
        return
    command = [sys.executable, "-m", "rods", "run"]
    if (folder / "config.toml").exists():
        command += ["--resume", str(folder)]
    else:
        settings = (f"environment.seed={seed}", "synthesis.mode=sync", *ARMS[arm], *overrides)
        command += ["--plugins", "office,grpo-trl", "--seed", str(seed), "--out", str(folder)]
        command += [word for setting in settings for word in ("-o", setting)]
    folder.parent.mkdir(parents=True, exist_ok=True)
    with (folder.parent / f"{folder.name}.log").open("a") as log:
        subprocess.run(command, stdout=log, stderr=log, check=True)


# ------------------------------------------------------------------------------- the controls
def controls(seeds: Sequence[int]) -> dict[str, float]:
    """Policy -> mean progress over the evaluation tasks of all seeds; only the reference is 1."""
    totals: dict[str, list[float]] = {}
    for seed in seeds:
        world = OfficeEnvironment(OfficeEnvironment.Config(seed=seed))
        tasks = list(world.tasks("eval"))
        agents = {
            "reference": reference,
            "silent": silent,
            "random calls": random_calls(world.tools(), seed),
            "replay of the seed's calls": source_replay(world.tasks("train")),
        }
        for name, agent in agents.items():
            totals.setdefault(name, []).extend(earned(world, tasks, agent))
        totals.setdefault("untrained model", []).extend(untrained_scores(world, tasks, seed))
    return {name: sum(values) / len(values) for name, values in totals.items()}


def earned(world: OfficeEnvironment, tasks: Sequence[Task], agent: Agent) -> Iterator[float]:
    """The reward of one rollout of every task."""
    for task in tasks:
        reward = play(world, task, agent).reward
        assert reward is not None, f"The office had an outage in {task.id}."
        yield reward.value


def source_replay(seeds: Sequence[Task]) -> Agent:
    """An agent that knows the train tasks by heart: the calls of a seed of the same structure."""
    known = {tools_of(seed): seed for seed in seeds}

    def agent(task: Task) -> Iterator[AssistantMessage]:
        source = known.get(tools_of(task))
        return reference(source) if source else silent(task)

    return agent


def tools_of(task: Task) -> tuple[tuple[str, ...], ...]:
    """The tools of the reference, turn by turn."""
    return tuple(tuple(call.name for call in turn.reference) for turn in task.turns)


def untrained_scores(world: OfficeEnvironment, tasks: Sequence[Task], seed: int) -> list[float]:
    """Mean rewards of the demo's model before any step of its warm start."""
    policy = untrained(world, read_corpus(world, seed), SIZES["office-1m"], seed)
    groups = Training(GrpoConfig(), policy, world, None, seed).evaluate(tasks, k=2, seed=seed)
    return [group.mean for group in groups]


# ------------------------------------------------------------------------------- the table
def row(arm: str, seed: int, folder: Path) -> dict[str, Any]:
    """What one run reached, in all and on each evaluation set."""
    summary = json.loads((folder / "summary.json").read_text())
    progress = summary["eval"]
    return {
        "arm": arm,
        "seed": seed,
        **{key: progress[key] for key in ("before", "after", "gain", "ci_low", "ci_high", "n")},
        "sets": {name: progress["sets"][name]["after"] for name in SETS},
        **{key: summary[key] for key in ("steps", "injected", "retired", "seconds")},
    }


def differences(out: Path, arms: Sequence[str], seed: int) -> Iterator[dict[str, Any]]:
    """The first arm minus each other one after training, paired by evaluation task."""
    first = scores(out / f"{arms[0]}-{seed}")
    for arm in arms[1:]:
        other = scores(out / f"{arm}-{seed}")
        shared = [task for task in first if task in other]
        gain = paired_gain([other[t] for t in shared], [first[t] for t in shared])
        yield {"seed": seed, "arms": f"{arms[0]} - {arm}", **interval(gain)}


def scores(folder: Path) -> dict[str, float]:
    """Task id -> mean progress after training."""
    found = read_scores(folder / "evaluation" / "after.jsonl.gz")
    return {score.task_id: score.mean for score in found if score.mean is not None}


def interval(gain: Interval) -> dict[str, float]:
    """An interval as JSON."""
    return {"gain": gain.mean, "ci_low": gain.low, "ci_high": gain.high, "n": gain.n}


def table(result: dict[str, Any]) -> Iterator[str]:
    """The result as Markdown."""
    yield (
        "| seed | arm | before | after | gain (95 % interval) | unseen entities "
        "| unseen compositions | injected | retired | seconds |\n|--|--|--|--|--|--|--|--|--|--|"
    )
    for r in result["runs"]:
        sets = " | ".join(f"{r['sets'][name]:.3f}" for name in SETS)
        gain = f"{r['gain']:+.3f} ({r['ci_low']:+.3f} to {r['ci_high']:+.3f})"
        yield (
            f"| {r['seed']} | {r['arm']} | {r['before']:.3f} | {r['after']:.3f} | {gain} | {sets} "
            f"| {r['injected']} | {r['retired']} | {r['seconds']:.0f} |"
        )
    yield "\n| seed | arms | difference after training (95 % interval) | tasks |\n|--|--|--|--|"
    for d in result["differences"]:
        gain = f"{d['gain']:+.3f} ({d['ci_low']:+.3f} to {d['ci_high']:+.3f})"
        yield f"| {d['seed']} | {d['arms']} | {gain} | {d['n']} |"
    yield "\n| control | mean progress |\n|--|--|"
    for name, value in result["controls"].items():
        yield f"| {name} | {value:.4f} |"


if __name__ == "__main__":
    main()
