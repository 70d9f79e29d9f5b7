"""The conformance kit for buffers: ``rods check NAME`` where NAME brings nothing else to test."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rods.interfaces import Buffer
from rods.testing.findings import Finding
from rods.testing.groups import group, seed_task, variant
from rods.testing.part_checks import rows
from rods.types import KINDS, Candidate, Check, PoolState, SynthesisOutcome, TrainingStage

if TYPE_CHECKING:
    from rods.pool import Pool

MakeBuffer = Callable[["Pool"], Buffer]
_SEEDS = [seed_task(number, KINDS[number % len(KINDS)]) for number in range(16)]
_REWARDS = ((0.0, 0.0), (0.0, 0.5), (0.5, 0.5), (0.25, 0.75), (0.75, 1.0), (1.0, 1.0), (None, 0.5))
_STAGES = (TrainingStage(), TrainingStage(name="base", kinds=("base",)))


def check_buffer(make: MakeBuffer) -> list[Check]:
    """One line a check of the buffers that ``make`` gives for a pool."""
    return list(iter_buffer_checks(make))


def iter_buffer_checks(make: MakeBuffer) -> Iterator[Check]:
    """Run the checks one after the other, each with a pool of its own."""
    return rows(make, BUFFER_CHECKS, _pool)


def an_epoch_is_planned(make: MakeBuffer, pool: Pool) -> str:
    """``plan`` gives as many entries as asked for, all in the pool and of the stage's kinds."""
    buffer, playable = make(pool), set(_playable(pool))
    for stage in _STAGES:
        for size in (3, 40):
            plan = list(buffer.plan(0, stage, size))
            if len(plan) != size:
                raise Finding(f"plan(0, {stage.name!r}, {size}) gave {len(plan)} entries.")
            strange = [entry for entry in plan if entry not in playable]
            strange += [e for e, t in pool.tasks(plan).items() if t.kind not in stage.kinds]
            if strange:
                raise Finding(f"plan(0, {stage.name!r}, {size}) gave {strange[:3]}.")
    return f"3 and 40 of {len(playable)} entries, {len(_STAGES)} stages"


def equal_epochs_plan_equally(make: MakeBuffer, pool: Pool) -> str:
    """Two buffers of equal seed plan an epoch equally: a resumed run trains on what it would."""
    first, second = (list(make(pool).plan(1, _STAGES[0], 24)) for _ in range(2))
    if first != second:
        raise Finding(f"{first[:4]} and then {second[:4]}.")
    return f"{len(first)} entries, twice"


def what_leaves_and_enters_is_counted(make: MakeBuffer, pool: Pool) -> str:
    """``retire`` and ``inject`` give how many entries left the pool, and how many entered it."""
    buffer, moved = make(pool), list[int]()
    for name, act in (("retire", buffer.retire), ("inject", buffer.inject)):
        before = len(_playable(pool))
        moved.append(act(0))
        change = len(_playable(pool)) - before
        if moved[-1] != (change if name == "inject" else -change):
            raise Finding(f"{name}(0) gave {moved[-1]!r}, and the pool has {change:+d} entries.")
    return f"{moved[0]} left, {moved[1]} entered"


BUFFER_CHECKS: Mapping[Callable[[MakeBuffer, Pool], str], str] = {
    an_epoch_is_planned: "give `size` ids of playable entries of stage.kinds, again where too few",
    equal_epochs_plan_equally: "draw from random.Random(f'{self.seed}/{epoch}'); order the query",
    what_leaves_and_enters_is_counted: "give the number of entries that pool.move or retire gave",
}


# ------------------------------------------------------------------------------- inside
@contextmanager
def _pool() -> Iterator[Pool]:
    from rods.pool import Pool  # noqa: PLC0415 - a world's tests need no database

    with Pool.open("sqlite://") as pool:
        _fill(pool)
        yield pool


def _fill(pool: Pool) -> None:
    """Seeds that were played once, and a candidate of each that waits to be let in."""
    pool.add_seeds(_SEEDS)
    pool.record(1, 0, [group(t, _REWARDS[i % len(_REWARDS)]) for i, t in enumerate(_SEEDS)])
    for number, seed in enumerate(_SEEDS):
        pool.request_synthesis(seed.id, 1)
        request = pool.lease("rods check", 60.0)
        assert request is not None
        made = Candidate(
            task=variant(pool.task(request.entry_id), number), seed_id=request.entry_id
        )
        pool.stage(request, SynthesisOutcome(candidates=(made,)), step=1)


def _playable(pool: Pool) -> list[str]:
    return [e.id for state in (PoolState.TRIAL, PoolState.ACTIVE) for e in pool.entries(state)]
