"""Who leaves and enters the pool at an epoch boundary, and what the epoch trains on."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence

import pytest
from pydantic import ValidationError

from rods.buffers import DualControlBuffer, StaticBuffer
from rods.errors import PoolError
from rods.pool import Pool
from rods.testing.groups import group, seed_task, variant
from rods.types import (
    KINDS,
    Candidate,
    PoolState,
    RetireReason,
    SynthesisOutcome,
    Task,
    TrainingStage,
)

SEEDS = [seed_task(i) for i in range(20)]
VARIANTS = [variant(SEEDS[0], i) for i in range(20)]
ALL = TrainingStage()


@pytest.fixture
def pool() -> Iterator[Pool]:
    """Twenty seeds, in memory."""
    with Pool.open("sqlite://") as opened:
        opened.add_seeds(SEEDS)
        yield opened


def buffer(pool: Pool, seed: int = 0, **options: object) -> DualControlBuffer:
    """The paper's buffer with some options of its own."""
    return DualControlBuffer(DualControlBuffer.Config.model_validate(options), pool, seed)


def stage(pool: Pool, tasks: Sequence[Task], step: int) -> None:
    """The tasks are candidates."""
    candidates = tuple(Candidate(task=task, seed_id=SEEDS[0].id) for task in tasks)
    request = pool.request_synthesis(SEEDS[0].id, step)
    pool.stage(request, SynthesisOutcome(candidates=candidates), step=step)


def measured(pool: Pool, tasks: Sequence[Task], rewards: Sequence[Sequence[float]]) -> None:
    """The tasks are in the pool, visited once with these rewards."""
    stage(pool, tasks, pool.step)
    pool.move(PoolState.TRIAL)
    groups = [group(task, r) for task, r in zip(tasks, rewards, strict=True)]
    pool.record(pool.step + 1, 0, groups)


def visit(pool: Pool, task: Task, *rewards: float) -> None:
    """One more group at the next step."""
    pool.record(pool.step + 1, 0, [group(task, rewards)])


def reasons(pool: Pool) -> dict[str, RetireReason | None]:
    """Retired entries and why."""
    return {entry.id: entry.reason for entry in pool.entries(PoolState.RETIRED)}


# ---------------------------------------------------------------- leaving
def test_each_rule_retires_its_own(pool: Pool) -> None:
    tasks = VARIANTS[:6]
    measured(pool, tasks, [[0.1, 0.2], [0.5, 0.5], [0.5, 0.6], [0.2, 0.2], [0.5, 0.6], [0.5, 0.6]])
    visit(pool, tasks[2], 1.0, 1.0)
    visit(pool, tasks[4], 0.95, 0.95)  # not above the threshold
    visit(pool, tasks[5], 0.0, 0.1)
    for _ in range(2):
        visit(pool, tasks[1], 0.5, 0.5)
    assert buffer(pool).retire(1) == 4
    assert reasons(pool) == {
        tasks[0].id: RetireReason.BURN_IN,
        tasks[1].id: RetireReason.NO_VARIANCE,
        tasks[2].id: RetireReason.MASTERED,
        tasks[5].id: RetireReason.UNSOLVABLE,
    }
    assert {t.epoch for t in pool.transitions(tasks[0].id)} == {None, 0, 1}


def test_a_bad_start_is_burn_in_even_if_it_got_better(pool: Pool) -> None:
    measured(pool, VARIANTS[:1], [[0.1, 0.2]])
    visit(pool, VARIANTS[0], 0.5, 0.6)
    buffer(pool).retire(1)
    assert reasons(pool) == {VARIANTS[0].id: RetireReason.BURN_IN}


def test_one_look_is_not_enough_where_more_are_asked_for(pool: Pool) -> None:
    measured(pool, VARIANTS[:2], [[1.0, 1.0], [0.5, 0.6]])
    visit(pool, VARIANTS[1], 1.0, 1.0)
    assert buffer(pool, min_visits=2).retire(1) == 1
    assert reasons(pool) == {VARIANTS[1].id: RetireReason.MASTERED}


def test_flat_entries_stay_where_the_paper_is_followed(pool: Pool) -> None:
    measured(pool, VARIANTS[:1], [[0.5, 0.5]])
    for _ in range(5):
        visit(pool, VARIANTS[0], 0.5, 0.5)
    paper = DualControlBuffer.presets["paper"]["buffer:dual-control"]
    assert buffer(pool, **paper).retire(1) == 0
    assert buffer(pool).retire(1) == 1


def test_seeds_leave_only_where_they_are_not_protected(pool: Pool) -> None:
    pool.record(1, 0, [group(SEEDS[0], [1.0, 1.0]), group(SEEDS[1], [0.0, 0.0])])
    assert buffer(pool).retire(1) == 0
    assert buffer(pool, protect_seeds=False).retire(1) == 2


def test_an_unscored_visit_retires_nobody(pool: Pool) -> None:
    stage(pool, VARIANTS[:1], 0)
    pool.move(PoolState.TRIAL)
    outage = group(VARIANTS[0], [None, None, 0.0])
    pool.record(1, 0, [outage] * 5)
    assert buffer(pool, flat_visits=1).retire(1) == 0
    assert pool.entry(VARIANTS[0].id).state == PoolState.TRIAL


def test_the_lowest_phi_makes_room_for_those_that_wait(pool: Pool) -> None:
    means = [0.5, 0.3, 0.8, 0.6, 0.9]
    measured(pool, VARIANTS[:5], [[m - 0.05, m + 0.05] for m in means])
    stage(pool, VARIANTS[5:7], pool.step)
    full = buffer(pool, p_max=5)
    assert full.retire(1) == 2
    assert reasons(pool) == {
        VARIANTS[4].id: RetireReason.OVER_CAPACITY,
        VARIANTS[2].id: RetireReason.OVER_CAPACITY,
    }
    assert full.inject(1) == 2
    assert full.retire(2) == 0  # nobody waits: the pool may stay full


def test_what_is_on_trial_is_not_judged_by_a_phi_it_does_not_have(pool: Pool) -> None:
    stage(pool, VARIANTS[:4], 0)
    pool.move(PoolState.TRIAL)
    assert buffer(pool, p_max=2).retire(1) == 0
    assert buffer(pool, p_max=2).inject(1) == 0


# ---------------------------------------------------------------- entering
def test_at_most_beta_of_the_active_pool_enters(pool: Pool) -> None:
    stage(pool, VARIANTS, 0)
    assert buffer(pool).inject(1) == 4
    assert buffer(pool, beta=0.0).inject(2) == 0
    assert buffer(pool, p_max=5).inject(3) == 1  # those on trial count
    assert pool.stats().injected == 5


def test_one_enters_however_small_the_pool_is(pool: Pool) -> None:
    stage(pool, VARIANTS[:3], 0)
    assert buffer(pool, beta=0.01).inject(1) == 1


@pytest.mark.parametrize(("order", "first"), [("newest", 1), ("oldest", 0)])
def test_candidates_enter_in_the_order_asked_for(pool: Pool, order: str, first: int) -> None:
    stage(pool, VARIANTS[:1], 0)
    pool.record(1, 0, [])
    stage(pool, VARIANTS[1:2], 1)
    buffer(pool, beta=0.01, candidate_order=order).inject(1)
    assert [e.id for e in pool.entries(PoolState.TRIAL)] == [VARIANTS[first].id]


def test_a_static_pool_never_changes(pool: Pool) -> None:
    measured(pool, VARIANTS[:2], [[0.0, 0.0], [1.0, 1.0]])
    stage(pool, VARIANTS[2:4], pool.step)
    before, static = pool.digest(), StaticBuffer(None, pool)
    assert (static.retire(1), static.inject(1)) == (0, 0)
    assert pool.digest() == before
    assert len(static.plan(1, ALL, 8)) == 8


# ---------------------------------------------------------------- the plan
def test_a_small_pool_is_played_round_after_round(pool: Pool) -> None:
    plan = buffer(pool).plan(0, ALL, 50)
    assert sorted(plan[:20]) == sorted(plan[20:40]) == sorted(task.id for task in SEEDS)
    assert plan[:20] != plan[20:40]
    assert len(set(plan[40:])) == 10


def test_a_plan_depends_on_seed_and_epoch_alone(pool: Pool) -> None:
    first = buffer(pool).plan(0, ALL, 12)
    assert buffer(pool).plan(0, ALL, 12) == first
    assert buffer(pool, seed=1).plan(0, ALL, 12) != first
    assert buffer(pool).plan(1, ALL, 12) != first


def test_new_entries_come_first_then_the_boundary_longest_unseen(pool: Pool) -> None:
    stage(pool, VARIANTS[:3], 0)
    pool.move(PoolState.TRIAL)
    for seed in SEEDS[:5]:  # boundary, seed-0 the stalest
        visit(pool, seed, 0.4, 0.6)
    pool.record(6, 0, [group(seed, [0.5, 0.5]) for seed in SEEDS[5:12]])  # no variance
    plan = buffer(pool, explore=0.0).plan(1, ALL, 6)
    assert set(plan) == {v.id for v in VARIANTS[:3]} | {"seed-0", "seed-1", "seed-2"}
    plan = buffer(pool, explore=0.0).plan(1, ALL, 16)
    unmeasured = {seed.id for seed in SEEDS[12:]}
    assert unmeasured <= set(plan)


def test_no_region_starves(pool: Pool) -> None:
    for seed in SEEDS[:10]:
        visit(pool, seed, 0.4, 0.6)
    pool.record(11, 0, [group(seed, [1.0, 1.0]) for seed in SEEDS[10:]])
    seen = Counter(entry for epoch in range(150) for entry in buffer(pool).plan(epoch, ALL, 8))
    assert set(seen) == {seed.id for seed in SEEDS}
    boundary = sum(seen[seed.id] for seed in SEEDS[:10])
    assert boundary > 7 * 150  # one place of eight is drawn uniformly
    uniform = Counter(
        entry for epoch in range(100) for entry in StaticBuffer(None, pool).plan(epoch, ALL, 8)
    )
    assert min(uniform.values()) > 100 * 8 / 20 * 0.5


def test_only_the_stages_kinds_are_played(pool: Pool) -> None:
    others = [seed_task(100 + i, kind) for i, kind in enumerate(KINDS[1:])]
    pool.add_seeds(others)
    stage_of = TrainingStage(kinds=("miss_func", "long_context"))
    assert set(buffer(pool).plan(0, stage_of, 10)) == {"seed-100", "seed-102"}


def test_waiting_parked_and_retired_entries_are_not_played(pool: Pool) -> None:
    stage(pool, VARIANTS[:3], 0)
    pool.retire(RetireReason.MASTERED, limit=5)
    pool.move(PoolState.PARKED, limit=2)
    plan = buffer(pool).plan(0, ALL, 100)
    playable = {entry.id for entry in pool.entries(PoolState.ACTIVE)}
    assert set(plan) == playable


def test_a_stage_without_tasks_is_one_clear_line(pool: Pool) -> None:
    with pytest.raises(PoolError, match=r"No task of the kinds miss_param .* stage 'second'"):
        buffer(pool).plan(0, TrainingStage(name="second", kinds=("miss_param",)), 8)


def test_a_boundary_of_many_entries_takes_a_moment(pool: Pool) -> None:
    pool.add_seeds(seed_task(i, KINDS[i % 4]) for i in range(20, 3000))
    started = time.process_time()
    busy = buffer(pool, protect_seeds=False)
    busy.retire(1)
    busy.inject(1)
    busy.plan(1, ALL, 256)
    assert time.process_time() - started < 2.0


def test_thresholds_outside_zero_and_one_are_refused() -> None:
    with pytest.raises(ValidationError, match="beta"):
        DualControlBuffer.Config(beta=1.5)
    with pytest.raises(ValidationError, match="alpha_low"):
        DualControlBuffer.Config(alpha_low=0.9)
