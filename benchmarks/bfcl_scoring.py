"""Speed of scoring BFCL's 800 ground truths, against the official checker on the same machine.

Both sides judge every task in a fresh world, one step a turn (the quickest way for the official
checker). They run in turns, ours in this process and the official checker in a child of it; the
best of the runs counts. What rods keeps between runs is the reference side of each task (its
results and states); the rollout itself is always executed. The first pass, which has to run the
references, is reported as `cold`.

    python benchmarks/bfcl_scoring.py [--repeat N] [--json]
"""

from __future__ import annotations

import argparse
import itertools
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rods_bfcl.asset import open_asset
from rods_bfcl.environment import BfclEnvironment
from rods_bfcl.parsing import render_call

from rods.types import AssistantMessage, Step, Task, Trajectory

CHECKER = "bfcl_eval.eval_checker.multi_turn_eval"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repeat", type=int, default=7, help="runs of each side")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--official", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.official:
        serve_official()
        return
    result = measure(options.repeat)
    if options.json:
        print(json.dumps(result))
        return
    print(f"{'':24}tasks/s    of official")
    for name in ("official", "score", "score_cold", "score_recording"):
        rate = result[name]
        print(f"{name:20}{rate:11.0f}{rate / result['official']:13.1f}x")
    print(f"ratio {result['ratio']:.1f} (at least 4, aim 10); {result['tasks']} tasks, all solved")


def measure(repeat: int) -> dict[str, float]:
    """Tasks a second of each side, best of ``repeat`` interleaved runs."""
    environment = BfclEnvironment(BfclEnvironment.Config(exclude_flagged=False))
    tasks = [*environment.tasks("train"), *environment.tasks("eval")]
    rollouts = [(task, ground_truth(task)) for task in tasks]
    recordings = [record(task) for task in tasks]

    def score() -> int:
        return sum(environment.score(task, trajectory).solved for task, trajectory in rollouts)

    def score_recordings() -> int:
        return sum(bool(environment.score_recording(r)["valid"]) for r in recordings)

    cold = seconds(score, len(tasks))
    best = {"official": float("inf"), "score": float("inf"), "score_recording": float("inf")}
    with official_checker(recordings) as official:
        for _ in range(repeat):
            best["official"] = min(best["official"], official())
            best["score"] = min(best["score"], seconds(score, len(tasks)))
            best["score_recording"] = min(
                best["score_recording"], seconds(score_recordings, len(tasks))
            )
    rates = {name: len(tasks) / taken for name, taken in best.items()}
    ratio = rates["score"] / rates["official"]
    return {**rates, "score_cold": len(tasks) / cold, "tasks": len(tasks), "ratio": ratio}


def ground_truth(task: Task) -> Trajectory:
    """The reference as a rollout, one message a turn."""
    turns = tuple(
        (Step(message=AssistantMessage(calls=turn.reference)),) if turn.reference else ()
        for turn in task.turns
    )
    return Trajectory(task_id=task.id, turns=turns)


def record(task: Task) -> dict[str, Any]:
    """The reference as a recording."""
    turns = [[[render_call(call) for call in turn.reference]] for turn in task.turns]
    return {"task_id": task.id, "trajectory": turns}


def seconds(run: Callable[[], int], expected: int) -> float:
    """How long ``run`` takes; all tasks must come out solved."""
    start = time.perf_counter()
    solved = run()
    taken = time.perf_counter() - start
    if solved != expected:
        raise SystemExit(f"{solved} of {expected} ground truths were judged valid")
    return taken


# ---------------------------------------------------------------- the official checker, in a child
@contextmanager
def official_checker(recordings: Sequence[dict[str, Any]]) -> Iterator[Callable[[], float]]:
    """A function that runs the official checker over all recordings: its seconds."""
    child = subprocess.Popen(
        [sys.executable, __file__, "--official"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdin is not None
    assert child.stdout is not None
    stdin, stdout = child.stdin, child.stdout
    stdin.write(json.dumps(list(recordings)) + "\n")

    def run() -> float:
        stdin.write("run\n")
        stdin.flush()
        return float(stdout.readline())

    try:
        yield run
    finally:
        stdin.close()
        child.wait(timeout=30)


def serve_official() -> None:
    """Read the recordings, then answer every line with the seconds of one run over all."""
    sys.path.insert(0, open_asset().origin)
    checker = __import__(f"{CHECKER}.multi_turn_checker", fromlist=["_"])
    globals_of_executor = __import__(f"{CHECKER}.multi_turn_utils", fromlist=["_"]).__dict__
    recordings = json.loads(sys.stdin.readline())
    entries, answers = official_data()
    names = (f"run{number}" for number in itertools.count())

    def run() -> int:
        valid = 0
        for recording in recordings:
            task_id = recording["task_id"]
            name = next(names)  # a name used twice would be judged on stale instances
            steps = [[s for s in turn if s] for turn in recording["trajectory"]]
            verdict = checker.multi_turn_checker(
                steps, answers[task_id], entries[task_id], task_id.rsplit("_", 1)[0], name
            )
            valid += verdict["valid"]
            for key in [k for k in globals_of_executor if k.startswith(f"{name}_")]:
                del globals_of_executor[key]
        return valid

    for _ in sys.stdin:
        print(seconds(run, len(recordings)), flush=True)


def official_data() -> tuple[dict[str, Any], dict[str, Any]]:
    """Entries and ground truths by task id, as upstream keeps them."""
    asset = open_asset()
    entries: dict[str, Any] = {}
    answers: dict[str, Any] = {}
    for kind in ("base", "miss_func", "miss_param", "long_context"):
        file = f"BFCL_v4_multi_turn_{kind}.json"
        entries |= {str(e["id"]): e for e in asset.lines(f"bfcl_eval/data/{file}")}
        for answer in asset.lines(f"bfcl_eval/data/possible_answer/{file}"):
            answers[str(answer["id"])] = answer["ground_truth"]
    return entries, answers


if __name__ == "__main__":
    main()
