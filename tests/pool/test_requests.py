"""Who makes which variants: asked once, held by one worker, answered once."""

from __future__ import annotations

import pytest

from rods.errors import PoolError
from rods.pool import Pool
from rods.testing.groups import seed_task, variant
from rods.types import Candidate, SynthesisOutcome


@pytest.fixture(autouse=True)
def seeds(pool: Pool) -> None:
    """Three entries to ask variants of."""
    pool.add_seeds(seed_task(i) for i in range(3))


def test_asking_twice_at_one_step_is_asking_once(pool: Pool) -> None:
    first = pool.request_synthesis("seed-1", 4)
    assert pool.request_synthesis("seed-1", 4) == first
    assert pool.request_synthesis("seed-1", 5) != first
    assert pool.stats().pending_requests == 2


def test_only_entries_can_be_asked_for(pool: Pool) -> None:
    with pytest.raises(PoolError, match="'seed-9' is not in the pool"):
        pool.request_synthesis("seed-9", 1)


def test_the_oldest_request_is_leased_first_and_by_one_worker(pool: Pool) -> None:
    late, early = pool.request_synthesis("seed-1", 5), pool.request_synthesis("seed-2", 3)
    leased = [pool.lease(owner, 60) for owner in ("a", "b", "c")]
    assert [r and (r.id, r.owner) for r in leased] == [(early.id, "a"), (late.id, "b"), None]


def test_an_expired_lease_is_taken_again_and_the_first_answer_counts(pool: Pool) -> None:
    pool.request_synthesis("seed-1", 1)
    slow = pool.lease("slow", seconds=0)
    quick = pool.lease("quick", seconds=60)
    assert slow is not None
    assert quick is not None
    assert slow.id == quick.id
    answers = [
        SynthesisOutcome(candidates=(Candidate(task=variant(seed_task(1), i), seed_id="seed-1"),))
        for i in range(2)
    ]
    assert pool.stage(quick, answers[0], step=2) == 1
    assert pool.stage(slow, answers[1], step=2) == 0
    assert pool.children("seed-1") == [answers[0].candidates[0].task.id]
    assert pool.lease("late", 60) is None


def test_a_request_given_back_is_free_unless_another_holds_it(pool: Pool) -> None:
    pool.request_synthesis("seed-1", 1)
    first = pool.lease("first", seconds=0)
    second = pool.lease("second", seconds=60)
    assert first is not None
    assert second is not None
    pool.release(first)
    assert pool.lease("third", 60) is None
    pool.release(second)
    assert pool.lease("third", 60) is not None


def test_the_last_request_before_a_step_is_known(pool: Pool) -> None:
    for step in (1, 4, 9):
        pool.request_synthesis("seed-1", step)
    assert pool.last_requests(["seed-1", "seed-2"], before=9) == {"seed-1": 4}
    assert pool.last_requests([], before=9) == {}
