"""Time and memory of an epoch boundary (retire, inject, plan) in pools of growing size.

Each pool is built through its own interface: 400 seeds, generated tasks that were measured, and
one task in ten still waiting as a candidate; P_max is three quarters of it, so a third of the pool
moves. The boundary then runs in a fresh process. `cpu` is processor time: what the wall clock
would say on an idle machine.

    python benchmarks/pool.py [--sizes 1000 10000 100000] [--json]
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from rods.buffers import DualControlBuffer
from rods.pool import Pool
from rods.types import (
    KINDS,
    Candidate,
    PoolState,
    ProgressReward,
    Provenance,
    Rollout,
    RolloutGroup,
    SynthesisOutcome,
    Task,
    TrainingStage,
    Trajectory,
    Turn,
    TurnVerdict,
)

SEEDS, TURNS, K, EPOCH, LIMIT_S = 400, 4, 8, 1024, 2.0
BATCH = 1000  # tasks staged and measured at a time


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--boundary", nargs=2, metavar=("URL", "SIZE"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.boundary:
        print(json.dumps(boundary(options.boundary[0], int(options.boundary[1]))))
        return
    rows = [measure(size) for size in options.sizes]
    largest = max(rows, key=lambda row: row["tasks"])
    result = {
        "rows": rows,
        "limit_s": LIMIT_S,
        "ratio": largest["seconds"] / LIMIT_S,
        "memory_growth": largest["peak_mb"] / min(rows, key=lambda row: row["tasks"])["peak_mb"],
    }
    if options.json:
        print(json.dumps(result))
        return
    names = ("boundary", "cpu", "retire", "inject", "plan")
    print(f"{'tasks':>8}" + "".join(f"{name:>10}" for name in names) + f"{'peak MB':>10}")
    for row in rows:
        times = ("seconds", "cpu_s", "retire_s", "inject_s", "plan_s")
        seconds = "".join(f"{row[name]:9.2f}s" for name in times)
        print(f"{row['tasks']:8.0f}{seconds}{row['peak_mb']:10.0f}")
    print(
        f"{largest['tasks']:.0f} tasks take {result['ratio']:.2f} of the {LIMIT_S:.0f} s allowed; "
        f"peak memory is {result['memory_growth']:.2f} of the smallest pool's"
    )


def measure(size: int) -> dict[str, float]:
    """One pool of ``size`` tasks, its boundary measured in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{Path(folder) / 'pool.sqlite'}"
        build(url, size)
        command = [sys.executable, __file__, "--boundary", url, str(size)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        row: dict[str, float] = json.loads(done.stdout)
        return row


def boundary(url: str, size: int) -> dict[str, float]:
    """Seconds of each part and peak memory of this process, MB."""
    with Pool.open(url, create=False) as pool:
        config = DualControlBuffer.Config(p_max=size * 3 // 4)
        buffer = DualControlBuffer(config, pool, seed=0)
        cpu, marks = time.process_time(), [time.perf_counter()]
        with pool.transaction():
            retired = buffer.retire(1)
            marks.append(time.perf_counter())
            injected = buffer.inject(1)
            marks.append(time.perf_counter())
            planned = buffer.plan(1, TrainingStage(), EPOCH)
            marks.append(time.perf_counter())
        end, cpu = time.perf_counter(), time.process_time() - cpu
        assert len(planned) == EPOCH
        assert sum(pool.stats().states.values()) == size
    return {
        "tasks": size,
        "seconds": end - marks[0],
        "cpu_s": cpu,
        "retire_s": marks[1] - marks[0],
        "inject_s": marks[2] - marks[1],
        "plan_s": marks[3] - marks[2],
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "retired": retired,
        "injected": injected,
    }


# -------------------------------------------------------------------------------- the pool
def build(url: str, size: int) -> None:
    """A pool of ``size`` tasks: seeds, measured variants, and a tenth of candidates."""
    rng = random.Random(size)
    scores = [rollout(passed) for passed in range(TURNS + 1)]
    seeds, variants = [task(i) for i in range(SEEDS)], make_variants(size - SEEDS)
    waiting, step = size // 10, 1
    with Pool.open(url) as pool:
        pool.add_seeds(seeds)
        pool.record(step, 0, [group(seed, scores, rng) for seed in seeds])
        measured = size - SEEDS - waiting
        while batch := list(islice(variants, min(BATCH, measured) or BATCH)):
            step += 1
            request = pool.request_synthesis(seeds[step % SEEDS].id, step)
            candidates = tuple(Candidate(task=t, seed_id=request.entry_id) for t in batch)
            assert pool.stage(request, SynthesisOutcome(candidates=candidates), step=step)
            if measured:
                measured -= len(batch)
                pool.move(PoolState.TRIAL, epoch=0)
                pool.record(step, 0, [group(variant, scores, rng) for variant in batch])


def make_variants(count: int) -> Iterator[Task]:
    """Synthetic tasks, equal but for their content."""
    for i in range(count):
        provenance = Provenance(synthesizer="benchmark", seed=i)
        update = {"origin": "synthetic", "parent_id": f"seed_{i % SEEDS}", "provenance": provenance}
        yield task(SEEDS + i).model_copy(update=update).with_content_id()


def task(i: int) -> Task:
    """A task with a payload of about 4 kB."""
    return Task(
        id=f"seed_{i}",
        environment="benchmark",
        kind=KINDS[i % len(KINDS)],
        tools=("look", "move"),
        turns=tuple(Turn(user=f"Request {turn} of task {i}") for turn in range(TURNS)),
        initial_state={"number": i, "text": "x" * 3500},
    )


def rollout(passed: int) -> Rollout:
    """A rollout that passed so many turns."""
    verdicts = tuple(TurnVerdict(state_ok=t < passed, response_ok=True) for t in range(TURNS))
    trajectory = Trajectory(task_id="benchmark", turns=())
    return Rollout(trajectory=trajectory, reward=ProgressReward(verdicts=verdicts))


def group(played: Task, scores: Sequence[Rollout], rng: random.Random) -> RolloutGroup:
    """K rollouts around a mean of its own."""
    level = rng.random() * TURNS
    passed = [min(TURNS, max(0, round(rng.gauss(level, 1)))) for _ in range(K)]
    return RolloutGroup(entry_id=played.id, task=played, rollouts=tuple(scores[p] for p in passed))


if __name__ == "__main__":
    main()
