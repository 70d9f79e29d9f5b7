"""The main path: what is trained on next, and what the rollouts change about it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from rods.buffers import DualControlBuffer
from rods.curriculum import Curriculum, CurriculumConfig
from rods.errors import PoolError
from rods.interfaces import CurriculumSeam
from rods.pool import Pool
from rods.selectors import BoundarySelector
from rods.testing.groups import group, seed_task, variant
from rods.types import (
    Candidate,
    PoolState,
    SynthesisOutcome,
    Task,
    TrainingStage,
    Turn,
)

SEEDS = [seed_task(i) for i in range(4)]
OTHERS = [seed_task(10 + i, "miss_func") for i in range(2)]


class InStep:
    """A synthesis that answers each request at once with one variant."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self.drained = 0

    def request(self, entry_id: str, step: int) -> None:
        """The variant is a candidate."""
        request = self.pool.request_synthesis(entry_id, step)
        candidate = Candidate(task=variant(self.pool.task(entry_id), step), seed_id=entry_id)
        self.pool.stage(request, SynthesisOutcome(candidates=(candidate,)), step=step)

    def drain(self) -> None:
        """Nothing is under way."""
        self.drained += 1


class Redrawing:
    """A synthesizer that can draw every task again but those of kind miss_func."""

    def redraw(self, task: Task, *, rng_seed: int) -> Task | None:
        """The same task with another request."""
        if task.kind == "miss_func":
            return None
        return task.model_copy(update={"turns": (Turn(user=f"Look at {rng_seed}."),)})


@pytest.fixture
def pool() -> Iterator[Pool]:
    """Four base seeds and two of another kind, in memory."""
    with Pool.open("sqlite://") as opened:
        opened.add_seeds([*SEEDS, *OTHERS])
        yield opened


def curriculum(pool: Pool, *, seed: int = 0, **options: object) -> Curriculum:
    """The real selector and buffer around fakes, eight prompts an epoch."""
    config = CurriculumConfig.model_validate({"epoch_size": 8, **options})
    return Curriculum(
        config,
        pool=pool,
        selector=BoundarySelector(BoundarySelector.Config(), pool, seed),
        buffer=DualControlBuffer(DualControlBuffer.Config(), pool, seed),
        synthesizer=Redrawing(),  # type: ignore[arg-type]
        synthesis=InStep(pool),  # type: ignore[arg-type]
        seed=seed,
    )


def stages(*stages: dict[str, object]) -> list[TrainingStage]:
    """A schedule."""
    return [TrainingStage.model_validate(stage) for stage in stages]


def entries(visits: Sequence[object]) -> set[str]:
    """The entries of a plan."""
    return {visit.entry_id for visit in visits}  # type: ignore[attr-defined]


# ---------------------------------------------------------------- epochs
def test_a_trainer_sees_the_seam_it_was_promised(pool: Pool) -> None:
    seam: CurriculumSeam = curriculum(pool, stages=stages({"epochs": 2}, {"epochs": 3}))
    assert (seam.epochs, seam.epoch_size) == (5, 8)


def test_beginning_an_epoch_again_changes_nothing(pool: Pool) -> None:
    first = curriculum(pool)
    first.begin_epoch(0)
    first.observe(1, [group(SEEDS[0], [0.2, 0.8])])
    plan = first.begin_epoch(1)
    before = pool.digest()
    assert curriculum(pool).begin_epoch(1) == plan  # another process after a kill
    assert pool.digest() == before
    assert len(plan.visits) == 8
    assert plan.injected == 1


def test_a_boundary_that_fails_leaves_the_pool_as_it_was(pool: Pool) -> None:
    loop = curriculum(pool, stages=stages({"epochs": 1}, {"kinds": ["miss_param"]}))
    loop.begin_epoch(0)
    loop.observe(1, [group(SEEDS[0], [0.2, 0.8])])
    before = pool.digest()
    with pytest.raises(PoolError, match="No task of the kinds miss_param"):
        loop.begin_epoch(1)
    assert pool.digest() == before
    assert pool.stats().states[PoolState.CANDIDATE] == 1


def test_each_stage_trains_on_its_own_kinds_for_its_epochs(pool: Pool) -> None:
    schedule = stages(
        {"name": "format", "epochs": 1, "reward": "format", "kinds": ["base"], "synthesis": False},
        {"name": "base", "epochs": 2, "kinds": ["base"]},
        {"name": "all", "epochs": 1},
    )
    loop = curriculum(pool, stages=schedule)
    plans = [loop.begin_epoch(epoch) for epoch in range(loop.epochs)]
    assert [plan.stage.name for plan in plans] == ["format", "base", "base", "all"]
    assert all(entries(plan.visits) == {t.id for t in SEEDS} for plan in plans[:3])
    assert entries(plans[3].visits) == {t.id for t in [*SEEDS, *OTHERS]}


def test_a_stage_without_synthesis_asks_for_nothing_and_lets_nothing_in(pool: Pool) -> None:
    schedule = stages({"epochs": 2}, {"epochs": 2, "synthesis": False})
    loop = curriculum(pool, stages=schedule)
    loop.begin_epoch(0)
    loop.observe(1, [group(SEEDS[0], [0.2, 0.8])])
    loop.begin_epoch(2)
    loop.observe(2, [group(SEEDS[1], [0.2, 0.8])])
    assert loop.begin_epoch(3).injected == 0
    assert pool.stats().states[PoolState.CANDIDATE] == 1
    assert pool.children(SEEDS[1].id) == []


# ---------------------------------------------------------------- the boundary moves
def test_what_is_learned_moves_the_boundary(pool: Pool) -> None:
    loop = curriculum(pool)
    loop.begin_epoch(0)
    loop.observe(1, [group(SEEDS[0], [0.4, 0.6]), group(SEEDS[1], [0.0, 0.1])])
    assert len(pool.children(SEEDS[0].id)) == 1
    assert pool.children(SEEDS[1].id) == []
    (child,) = (pool.task(key) for key in pool.children(SEEDS[0].id))
    assert child.id in entries(loop.begin_epoch(1).visits)
    loop.observe(20, [group(child, [1.0, 1.0]), group(SEEDS[1], [0.4, 0.6])])
    plan = loop.begin_epoch(2)
    assert child.id not in entries(plan.visits)
    assert (plan.retired, plan.injected) == (1, 1)
    assert entries(plan.visits) >= set(pool.children(SEEDS[1].id))


def test_a_timeout_does_not_move_the_boundary(pool: Pool) -> None:
    loop = curriculum(pool)
    loop.begin_epoch(0)
    before = list(pool.entries())
    loop.observe(1, [group(SEEDS[0], [None, None, 0.5]), group(SEEDS[1], [None, None])])
    assert list(pool.entries()) == before
    assert pool.stats().pending_requests == 0
    assert len(pool.observations(SEEDS[0].id)) == 1


# ---------------------------------------------------------------- draws
def with_variants(pool: Pool, **options: object) -> Curriculum:
    """A curriculum whose next epoch holds a variant."""
    loop = curriculum(pool, **options)
    loop.begin_epoch(0)
    loop.observe(1, [group(SEEDS[0], [0.2, 0.8])])
    return loop


def test_each_visit_draws_anew_and_repeats_its_draw(pool: Pool) -> None:
    loop = with_variants(pool, epoch_size=30)
    visits = loop.begin_epoch(1).visits
    (child,) = pool.children(SEEDS[0].id)
    drawn = [visit for visit in visits if visit.entry_id == child]
    assert len({visit.draw_seed for visit in drawn}) == len(drawn) > 1
    assert loop.draw(drawn[0]) == curriculum(pool).draw(drawn[0]) != pool.task(child)
    assert {visit.draw_seed for visit in visits if visit.entry_id in {t.id for t in SEEDS}} == {
        None
    }


def test_an_epoch_may_share_one_draw(pool: Pool) -> None:
    loop = with_variants(pool, epoch_size=30, redraw="epoch")
    (child,) = pool.children(SEEDS[0].id)
    draws = [
        {visit.draw_seed for visit in loop.begin_epoch(epoch).visits if visit.entry_id == child}
        for epoch in (1, 2)
    ]
    assert [len(found) for found in draws] == [1, 1]
    assert draws[0] != draws[1]


def test_tasks_keep_their_entities_where_the_paper_is_followed(pool: Pool) -> None:
    loop = with_variants(pool, redraw="never", redraw_seeds=True)
    visits = loop.begin_epoch(1).visits
    assert {visit.draw_seed for visit in visits} == {None}
    assert all(loop.draw(visit) == pool.task(visit.entry_id) for visit in visits)


def test_seeds_are_drawn_anew_on_request_only(pool: Pool) -> None:
    visits = curriculum(pool, redraw_seeds=True).begin_epoch(0).visits
    assert None not in {visit.draw_seed for visit in visits}
    other = curriculum(Pool.open("sqlite://"), seed=1, redraw_seeds=True)
    other.pool.add_seeds([*SEEDS, *OTHERS])
    assert other.begin_epoch(0).visits != visits
    other.pool.close()


def test_what_cannot_be_drawn_anew_is_played_as_it_is(pool: Pool) -> None:
    loop = curriculum(pool, redraw_seeds=True)
    visits = loop.begin_epoch(0).visits
    drawn = {visit.entry_id: loop.draw(visit) for visit in visits}
    assert [drawn[task.id] for task in OTHERS] == OTHERS
    assert drawn[SEEDS[0].id] != SEEDS[0]


# ---------------------------------------------------------------- resuming
def test_a_rewound_curriculum_repeats_the_uninterrupted_one(pool: Pool) -> None:
    loop = curriculum(pool)

    def train(first: int, last: int) -> None:
        for step in range(first, last + 1):
            visits = loop.begin_epoch((step - 1) // 2).visits
            half = visits[:4] if step % 2 else visits[4:]
            loop.observe(step, [group(pool.task(v.entry_id), [step % 5 / 5, 0.5]) for v in half])

    train(1, 8)
    end = pool.digest()
    loop.rewind(5)
    assert pool.step == 5
    assert loop.synthesis.drained == 1  # type: ignore[attr-defined]
    train(6, 8)
    assert pool.digest() == end
