"""One transaction a change: nothing half done, whoever fails, waits or is killed."""

from __future__ import annotations

import contextlib
import random
import subprocess
import threading
import time
from collections.abc import Callable

import pytest
import sqlalchemy as sa

from rods.errors import PoolError
from rods.pool import Pool, tables
from rods.testing.groups import group, seed_task
from rods.types import PoolState

Start = Callable[..., subprocess.Popen[str]]


def nested_then_fails(pool: Pool) -> None:
    """Two joined transactions; the outer one fails after the inner one has ended."""
    with pool.transaction():
        with pool.transaction():
            pool.add_seeds([seed_task(1)])
        pool.record(1, 0, [group(seed_task(1), [0, 1])])
        assert pool.entry("seed-1").visits == 1
        raise ZeroDivisionError


def catches_inside(pool: Pool) -> None:
    """A transaction that goes on after a part of it has failed."""
    with pool.transaction():
        pool.add_seeds([seed_task(1)])
        with contextlib.suppress(PoolError):
            pool.request_synthesis("seed-9", 1)


def test_nested_transactions_are_one(pool: Pool) -> None:
    with pytest.raises(ZeroDivisionError):
        nested_then_fails(pool)
    assert (list(pool.entries()), pool.step) == ([], 0)


def test_a_caught_failure_inside_still_undoes_everything(pool: Pool) -> None:
    with pytest.raises(PoolError, match="Nothing of this transaction was kept: 'seed-9'"):
        catches_inside(pool)
    assert list(pool.entries()) == []


def test_a_pool_works_on_after_a_failed_transaction(pool: Pool) -> None:
    with pytest.raises(ValueError, match="no"), pool.transaction():
        raise ValueError("no")
    assert pool.add_seeds([seed_task(1)]) == 1


def test_threads_share_a_pool(pool: Pool) -> None:
    tasks = [seed_task(i) for i in range(40)]
    threads = [threading.Thread(target=pool.add_seeds, args=(tasks[i::4],)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert pool.stats().states[PoolState.ACTIVE] == 40


def test_a_reader_does_not_wait_for_a_writer(url: str) -> None:
    with Pool.open(url) as writer, Pool.open(url, timeout_s=0.1) as reader:
        with writer.transaction():
            writer.add_seeds([seed_task(1)])
            assert list(reader.entries()) == []
        assert len(list(reader.entries())) == 1


@pytest.mark.slow
def test_two_processes_serve_every_request_once(url: str, start_worker: Start) -> None:
    with Pool.open(url) as pool:
        pool.add_seeds(seed_task(i) for i in range(5))
        asked = {pool.request_synthesis(f"seed-{i % 5}", 1 + i // 5).id for i in range(30)}
        workers = [start_worker("serve", url, f"worker-{i}") for i in range(2)]
        outputs = [worker.communicate(timeout=120)[0] for worker in workers]
        served = [int(line) for output in outputs for line in output.split()]
        assert [worker.returncode for worker in workers] == [0, 0]
        assert sorted(served) == sorted(asked)
        stats = pool.stats()
    assert (stats.pending_requests, stats.funnel) == (0, {"admitted": {"total": 30}})


@pytest.mark.slow
def test_a_killed_writer_leaves_a_consistent_pool(url: str, start_worker: Start) -> None:
    rng = random.Random(0)
    with Pool.open(url) as pool:
        pool.add_seeds(seed_task(i) for i in range(30))
        for _ in range(2):
            before, worker = pool.step, start_worker("churn", url)
            assert worker.stdout is not None
            assert int(worker.stdout.readline()) == before + 1
            time.sleep(rng.random() / 5)
            worker.kill()
            worker.wait()
            assert pool.step > before
            assert contradictions(pool) == []
            pool.rewind(before + 1)
            assert (pool.step, contradictions(pool)) == (before + 1, [])


def contradictions(pool: Pool) -> list[str]:
    """Entries whose columns are not what the logs say."""
    entry, log, seen = tables.entry, tables.transition, tables.observation
    mine = seen.c.entry_id == entry.c.id
    last = sa.select(log.c.to_state).where(log.c.entry_id == entry.c.id)
    last = last.order_by(log.c.id.desc()).limit(1)
    visits = sa.select(sa.func.count()).select_from(seen).where(mine, seen.c.scored)
    wrong = sa.select(entry.c.id).where(
        sa.or_(entry.c.state != last.scalar_subquery(), entry.c.visits != visits.scalar_subquery())
    )
    half = (
        sa.select(sa.func.count())
        .select_from(seen)
        .group_by(seen.c.step)
        .having(sa.func.count() != 30)
    )
    with pool.query() as connection:
        return [*connection.scalars(wrong), *map(str, connection.scalars(half))]
