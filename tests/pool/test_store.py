"""What the pool keeps of tasks and rewards, on SQLite and on PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from rods.errors import PoolError
from rods.pool import Pool, tables
from rods.testing.groups import group, seed_task, variant
from rods.types import (
    Candidate,
    PoolState,
    Rejection,
    RetireReason,
    Stage,
    SynthesisOutcome,
    Task,
)

SEEDS = [seed_task(i) for i in range(3)]


def stage(pool: Pool, *tasks: Task, step: int = 1, rejections: tuple[Rejection, ...] = ()) -> int:
    """The tasks are candidates, made of the first seed."""
    candidates = tuple(Candidate(task=t, seed_id=SEEDS[0].id, distance=0.25) for t in tasks)
    outcome = SynthesisOutcome(candidates=candidates, rejections=rejections, seconds=2.0)
    return pool.stage(pool.request_synthesis(SEEDS[0].id, step), outcome, step=step)


# ---------------------------------------------------------------- entering
def test_seeds_enter_once_as_active(pool: Pool) -> None:
    assert pool.add_seeds(SEEDS[:2]) == 2
    pool.record(1, 0, [group(SEEDS[0], [0.5, 1.0])])
    assert pool.add_seeds(SEEDS) == 1
    assert pool.entry("seed-0").visits == 1
    assert [e.state for e in pool.entries()] == [PoolState.ACTIVE] * 3


def test_a_task_comes_back_as_it_went_in(pool: Pool) -> None:
    child = variant(SEEDS[0], 1)
    pool.add_seeds(SEEDS)
    stage(pool, child)
    assert pool.task(child.id) == child
    assert pool.task("seed-1") == SEEDS[1]
    assert pool.tasks([child.id, "seed-1"]) == {child.id: child, "seed-1": SEEDS[1]}


def test_a_candidate_waits_and_is_counted(pool: Pool) -> None:
    pool.add_seeds(SEEDS)
    child = variant(SEEDS[0], 1)
    rejections = (
        Rejection(stage=Stage.PLAN, reason="no_pattern", detail="first"),
        Rejection(stage=Stage.PLAN, reason="no_pattern", detail="second"),
        Rejection(stage=Stage.CRITIQUE, reason="leak"),
    )
    assert stage(pool, child, rejections=rejections) == 1
    entry, stats = pool.entry(child.id), pool.stats()
    assert (entry.state, entry.distance, entry.parent_id) == (PoolState.CANDIDATE, 0.25, "seed-0")
    assert stats.funnel == {
        "plan": {"no_pattern": 2},
        "critique": {"leak": 1},
        "admitted": {"total": 1},
    }
    assert (stats.tokens, stats.synthesis_seconds, stats.pending_requests) == (10, 2.0, 0)
    found = {(r.stage, r.reason): (r.count, r.details) for r in pool.rejections(details=1)}
    assert found == {("plan", "no_pattern"): (2, ("first",)), ("critique", "leak"): (1, ())}


def test_equal_content_enters_once_and_counts_as_a_duplicate(pool: Pool) -> None:
    pool.add_seeds(SEEDS)
    child = variant(SEEDS[0], 1)
    assert stage(pool, child, child, step=1) == 1
    assert stage(pool, child, step=2) == 0
    assert pool.stats().funnel["critique"] == {"duplicate": 2}


def test_an_outcome_counts_once_however_often_it_is_staged(pool: Pool) -> None:
    pool.add_seeds(SEEDS)
    assert stage(pool, variant(SEEDS[0], 1)) == 1
    before = pool.digest()
    assert stage(pool, variant(SEEDS[0], 2)) == 0
    assert pool.digest() == before


def test_lineage_leads_from_the_seed_to_the_entry(pool: Pool) -> None:
    pool.add_seeds(SEEDS)
    child = variant(SEEDS[0], 1)
    grandchild = variant(child, 2)
    stage(pool, child, step=1)
    stage(pool, grandchild, step=2)
    assert [e.id for e in pool.lineage(grandchild.id)] == ["seed-0", child.id, grandchild.id]
    assert pool.children("seed-0") == [child.id]


# ---------------------------------------------------------------- measuring
def test_a_scored_group_moves_its_entry(pool: Pool) -> None:
    pool.add_seeds(SEEDS)
    played = group(SEEDS[0], [0.2, 0.6, None], malformed=1, draw_seed=2**47, policy_version=3)
    pool.record(4, 1, [played])
    entry, (seen,) = pool.entry("seed-0"), pool.observations("seed-0")
    assert (entry.visits, entry.mean, entry.last_step) == (1, pytest.approx(0.4), 4)
    assert entry.variance == pytest.approx(0.04)
    assert seen.rewards == (0.2, 0.6, None)
    assert (seen.step, seen.epoch, seen.draw_seed, seen.policy_version) == (4, 1, 2**47, 3)
    assert (seen.unscored, seen.format_failures) == (1, 1)
    assert pool.step == 4


def test_an_unscored_group_is_kept_and_moves_nothing(pool: Pool) -> None:
    pool.add_seeds(SEEDS)
    before = pool.entry("seed-0")
    pool.record(1, 0, [group(SEEDS[0], [None, None, 0.0])])
    assert pool.entry("seed-0") == before
    assert pool.observations("seed-0")[0].rewards == (None, None, 0.0)


def test_a_trial_is_active_after_its_first_scored_group(pool: Pool) -> None:
    pool.add_seeds(SEEDS)
    child = variant(SEEDS[0], 1)
    pool.record(1, 0, [])
    stage(pool, child)
    pool.move(PoolState.TRIAL, epoch=1)
    pool.record(2, 1, [group(child, [None, 0.1])])
    assert pool.entry(child.id).state == PoolState.TRIAL
    pool.record(3, 1, [group(child, [0.1, 0.3]), group(child, [0.9, 0.7])])
    entry = pool.entry(child.id)
    assert (entry.state, entry.visits) == (PoolState.ACTIVE, 2)
    assert (entry.first_mean, entry.mean) == (pytest.approx(0.2), pytest.approx(0.8))
    log = [(t.step, t.to_state) for t in pool.transitions(child.id)]
    assert log == [(1, "candidate"), (1, "trial"), (3, "active")]


def test_flat_groups_are_counted_until_one_varies(pool: Pool) -> None:
    pool.add_seeds(SEEDS)
    flat = group(SEEDS[0], [0.1, 0.1, 0.1])  # their mean is not 0.1 in floating point
    pool.record(1, 0, [flat, flat])
    pool.record(2, 0, [group(SEEDS[0], [0.1, None])])
    assert pool.entry("seed-0").flat_visits == 2
    pool.record(3, 0, [group(SEEDS[0], [0.1, 0.2]), flat])
    assert pool.entry("seed-0").flat_visits == 1


def test_an_unknown_entry_is_refused_with_its_whole_step(pool: Pool) -> None:
    pool.add_seeds(SEEDS)
    before = pool.digest()
    with pytest.raises(PoolError, match="'seed-7' is not in the pool"):
        pool.record(1, 0, [group(SEEDS[0], [0, 1]), group(seed_task(7), [0, 1])])
    assert pool.digest() == before


def test_steps_never_go_back(pool: Pool) -> None:
    pool.add_seeds(SEEDS)
    pool.record(2, 0, [])
    pool.record(2, 0, [group(SEEDS[0], [0, 1])])
    with pytest.raises(PoolError, match="Step 1 cannot be recorded after step 2"):
        pool.record(1, 0, [])


# ---------------------------------------------------------------- states
def test_only_the_allowed_ways_are_taken(pool: Pool) -> None:
    pool.add_seeds(SEEDS)
    assert pool.move(PoolState.TRIAL) == 0
    assert pool.move(PoolState.CANDIDATE) == 0
    assert pool.retire(RetireReason.MASTERED, tables.entry.c.id == "seed-0", epoch=3) == 1
    assert pool.retire(RetireReason.MASTERED, tables.entry.c.id == "seed-0") == 0
    assert pool.move(PoolState.PARKED) == 3
    assert pool.move(PoolState.CANDIDATE) == 3
    assert pool.entry("seed-0").reason is None
    first = [(t.from_state, t.to_state, t.reason, t.epoch) for t in pool.transitions("seed-0")]
    assert first == [
        (None, "active", None, None),
        ("active", "retired", "mastered", 3),
        ("retired", "parked", None, None),
        ("parked", "candidate", None, None),
    ]


def test_a_limit_takes_the_first_in_order_and_breaks_ties_by_id(pool: Pool) -> None:
    pool.add_seeds(SEEDS)
    rewards = {0: [0.5, 0.7], 1: [0.1, 0.3], 2: [0.1, 0.3]}
    pool.record(1, 0, [group(SEEDS[i], r) for i, r in rewards.items()])
    moved = pool.retire(RetireReason.OVER_CAPACITY, order_by=[tables.entry.c.mean], limit=1)
    assert moved == 1
    assert [e.id for e in pool.entries(PoolState.RETIRED)] == ["seed-1"]
    assert pool.stats().retired == {RetireReason.OVER_CAPACITY: 1}


def test_an_entry_that_comes_back_counts_as_injected_once(pool: Pool) -> None:
    pool.add_seeds(SEEDS)
    stage(pool, variant(SEEDS[0], 1))
    for state in (PoolState.TRIAL, PoolState.PARKED, PoolState.CANDIDATE, PoolState.TRIAL):
        pool.move(state, tables.entry.c.origin == "synthetic")
    assert pool.stats().injected == 1


# ---------------------------------------------------------------- questions
def test_entries_come_in_pages_without_a_gap(new_pool: Callable[[], Pool]) -> None:
    pool = new_pool()
    pool.add_seeds(seed_task(i, "miss_func" if i % 2 else "base") for i in range(1201))
    found = [entry.id for entry in pool.entries()]
    assert found == sorted(f"seed-{i}" for i in range(1201))
    assert [e.id for e in pool.entries(limit=501)] == found[:501]
    assert sum(1 for _ in pool.entries(PoolState.ACTIVE, "miss_func")) == 600


def test_an_unknown_id_is_one_clear_line(pool: Pool) -> None:
    for question in (pool.task, pool.entry, pool.lineage):
        with pytest.raises(PoolError, match="no entry 'nobody' in the pool"):
            question("nobody")


def test_the_digest_sees_content_and_no_clock(new_pool: Callable[[], Pool]) -> None:
    digests = []
    for seconds, number in ((1.0, 1), (9.0, 1), (1.0, 2)):
        pool = new_pool()
        pool.add_seeds(SEEDS)
        child = variant(SEEDS[0], number)
        assert child.provenance is not None
        made = child.provenance.model_copy(update={"seconds": seconds, "seed": 1})
        candidate = Candidate(task=child.model_copy(update={"provenance": made}), seed_id="seed-0")
        request = pool.request_synthesis("seed-0", 1)
        pool.stage(request, SynthesisOutcome(candidates=(candidate,), seconds=seconds), step=1)
        digests.append(pool.digest())
    assert digests[0] == digests[1] != digests[2]
