"""A rewound pool equals the one that stopped there, and goes on as if nothing had happened."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from rods.errors import PoolError
from rods.pool import Pool, tables
from rods.testing.groups import group, seed_task, variant
from rods.types import (
    Candidate,
    EpochPlan,
    PoolState,
    Rejection,
    RetireReason,
    Stage,
    SynthesisOutcome,
    TrainingStage,
    Visit,
)

ENTRY = tables.entry
PHASES = (Phase.explicit, Phase.reuse, Phase.generate)  # shrinking would take minutes
Operation = tuple[Any, ...]

numbers = st.integers(0, 5)
rewards = st.sampled_from([[0.5, 0.5], [0.1, 1.0], [0.0, 0.0], [None, 0.5], [0.5, 0.6, None]])
visits = st.lists(st.tuples(numbers, rewards), min_size=1, max_size=3)
record = st.tuples(st.just("record"), visits)
operations = st.one_of(
    record,
    record,
    record,
    record,
    st.tuples(st.just("ask"), numbers),
    st.tuples(st.just("stage"), st.lists(st.integers(0, 9), min_size=1, max_size=2)),
    st.tuples(st.just("trial"), st.integers(0, 2)),
    st.tuples(st.just("retire"), st.sampled_from([0.2, 0.6])),
    st.tuples(st.just("park"), numbers),
    st.tuples(st.just("unpark")),
    st.tuples(st.just("plan")),
    st.tuples(st.just("seed")),
)


def run(pool: Pool, done: Sequence[Operation]) -> None:
    """Do all operations, each at the pool's step; ``record`` begins the next one."""
    for name, *arguments in done:
        ids = [entry.id for entry in pool.entries()]
        step = pool.step
        match name, arguments:
            case "record", [visits]:
                played = [group(pool.task(ids[n % len(ids)]), r) for n, r in visits]
                pool.record(step + 1, step // 3, played)
            case "ask", [number]:
                pool.request_synthesis(ids[number % len(ids)], step)
            case "stage", [numbers]:
                answer(pool, numbers, step)
            case "trial", [limit]:
                pool.move(PoolState.TRIAL, order_by=[ENTRY.c.created_step.desc()], limit=limit)
            case "retire", [threshold]:
                pool.retire(RetireReason.UNSOLVABLE, ENTRY.c.mean < threshold, epoch=step)
            case "park", [number]:
                pool.move(PoolState.PARKED, ENTRY.c.id == ids[number % len(ids)])
            case "unpark", []:
                pool.move(PoolState.CANDIDATE)
            case "plan", []:
                if pool.plan(step) is None:
                    visit = Visit(entry_id=ids[-1])
                    plan = EpochPlan(epoch=step, stage=TrainingStage(), visits=(visit,))
                    pool.save_plan(plan)
            case "seed", []:
                pool.add_seeds([seed_task(len(ids))])


def answer(pool: Pool, numbers: Sequence[int], step: int) -> None:
    """Stage variants for the oldest open request."""
    if (request := pool.lease("test", 60)) is None:
        return
    seed = pool.task(request.entry_id)
    candidates = tuple(Candidate(task=variant(seed, n), seed_id=seed.id) for n in numbers)
    rejections = (Rejection(stage=Stage.EXECUTE, reason="leak", detail=str(step)),)
    outcome = SynthesisOutcome(candidates=candidates, rejections=rejections, seconds=1.0)
    pool.stage(request, outcome, step=step)


def prefix(done: Sequence[Operation], step: int) -> int:
    """How many operations happen before step ``step + 1`` begins."""
    begins = [i for i, (name, *_) in enumerate(done) if name == "record"]
    return begins[step] if step < len(begins) else len(done)


def check(pool: Pool, other: Pool, done: Sequence[Operation], step: int) -> None:
    """``pool`` runs all and is rewound, ``other`` stops at ``step``; then both run the rest."""
    kept = prefix(done, step)
    for each in (pool, other):
        each.add_seeds(seed_task(i) for i in range(3))
    run(pool, done)
    end = pool.digest()
    run(other, done[:kept])
    pool.rewind(step)
    assert pool.digest() == other.digest()
    assert pool.stats() == other.stats()
    run(pool, done[kept:])
    assert pool.digest() == end


@pytest.mark.slow
@settings(max_examples=20, suppress_health_check=list(HealthCheck), phases=PHASES)
@given(done=st.lists(operations, min_size=8, max_size=16), step=st.integers(0, 6))
def test_a_rewound_pool_equals_the_one_that_stopped_there(
    empty_file: Path, done: list[Operation], step: int
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / name for name in ("all.sqlite", "stopped.sqlite")]
        for path in paths:
            shutil.copy(empty_file, path)
        with Pool.open(str(paths[0])) as pool, Pool.open(str(paths[1])) as other:
            check(pool, other, done, step)


HISTORY: list[Operation] = [
    ("record", [(0, [0.5, 1.0]), (1, [0.0, 0.0])]),
    ("ask", 0),
    ("ask", 1),
    ("stage", [1, 2]),
    ("trial", 1),
    ("plan",),
    ("record", [(3, [0.1, 0.1]), (1, [None, None]), (0, [0.5, 0.5])]),
    ("stage", [3, 3]),
    ("retire", 0.2),
    ("park", 0),
    ("record", [(2, [0.1, 0.5]), (0, [0.5, 0.5]), (4, [1.0, 1.0])]),
    ("unpark",),
    ("trial", 2),
    ("seed",),
    ("plan",),
    ("record", [(0, [0.1, 1.0]), (5, [0.0, 0.5])]),
]


@pytest.mark.parametrize("step", range(5))
def test_a_pool_on_a_server_rewinds_to_the_same_content(
    pool: Pool, empty_file: Path, tmp_path: Path, step: int
) -> None:
    shutil.copy(empty_file, tmp_path / "other.sqlite")
    with Pool.open(str(tmp_path / "other.sqlite")) as other:
        check(pool, other, HISTORY, step)


def test_what_was_answered_later_is_open_again(pool: Pool) -> None:
    pool.add_seeds([seed_task(1)])
    pool.record(1, 0, [])
    pool.request_synthesis("seed-1", 1)
    pool.record(2, 0, [])
    answer(pool, [1], step=2)
    pool.rewind(1)
    assert pool.children("seed-1") == []
    assert pool.lease("again", 60) is not None


def test_a_lease_of_a_killed_worker_does_not_outlive_a_rewind(pool: Pool) -> None:
    pool.add_seeds([seed_task(1)])
    pool.request_synthesis("seed-1", 0)
    assert pool.lease("killed", 3600) is not None
    pool.rewind(0)
    assert pool.lease("again", 60) is not None


def test_there_is_nothing_before_the_set_up(pool: Pool) -> None:
    with pytest.raises(PoolError, match="Step -1 does not exist"):
        pool.rewind(-1)
