"""A process beside the tests: serves requests, or moves entries until it is killed.

worker.py serve URL OWNER      worker.py churn URL
"""

from __future__ import annotations

import itertools
import sys

from rods.pool import Pool
from rods.testing.groups import group, variant
from rods.types import Candidate, PoolState, RetireReason, SynthesisOutcome


def serve(pool: Pool, owner: str) -> None:
    """Answer requests until none is left; print the ids of those taken."""
    while (request := pool.lease(owner, seconds=60)) is not None:
        task = variant(pool.task(request.entry_id), request.step)
        candidate = Candidate(task=task, seed_id=request.entry_id)
        pool.stage(request, SynthesisOutcome(candidates=(candidate,)), step=request.step)
        print(request.id, flush=True)


def churn(pool: Pool) -> None:
    """Record, retire, park and bring back, one transaction after the other; print each step."""
    tasks = [pool.task(entry.id) for entry in pool.entries()]
    for step in itertools.count(pool.step + 1):
        pool.record(step, 0, [group(task, [0.5, step % 21 / 20]) for task in tasks])
        pool.retire(RetireReason.MASTERED)
        pool.move(PoolState.PARKED)
        pool.move(PoolState.CANDIDATE)
        pool.move(PoolState.TRIAL)
        print(step, flush=True)


if __name__ == "__main__":
    with Pool.open(sys.argv[2], create=False) as opened:
        if sys.argv[1] == "serve":
            serve(opened, sys.argv[3])
        else:
            churn(opened)
