"""The conformance kit for trainers and selectors: ``rods check NAME`` where NAME brings no world.

A trainer trains two short epochs in the fake stockroom, is killed, resumes, saves and loads.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from rods.faults import owners_of
from rods.interfaces import Selector, Trainer
from rods.testing.findings import Finding, Told, checked
from rods.testing.groups import group, seed_task
from rods.testing.training import EveryTask, Killed, PlainFolder
from rods.testing.world import FakeEnvironment
from rods.types import KINDS, Check, RolloutGroup

if TYPE_CHECKING:
    from rods.pool import Pool

P = ParamSpec("P")
T = TypeVar("T")
W = TypeVar("W")
MakeTrainer = Callable[[], Trainer]
MakeSelector = Callable[["Pool"], Selector]


def check_trainer(make: MakeTrainer) -> list[Check]:
    """One line a check of the trainers that ``make`` gives; each starts anew."""
    return list(iter_trainer_checks(make))


def check_selector(make: MakeSelector) -> list[Check]:
    """One line a check of the selectors that ``make`` gives for a pool."""
    return list(iter_selector_checks(make))


def iter_trainer_checks(make: MakeTrainer) -> Iterator[Check]:
    """Run the checks one after the other, each with a folder of its own."""
    return rows(make, TRAINER_CHECKS, _folder)


def iter_selector_checks(make: MakeSelector) -> Iterator[Check]:
    """Run the checks one after the other, each with a pool of its own."""
    return rows(make, SELECTOR_CHECKS, _pool)


def rows(
    make: Callable[P, T],
    checks: Mapping[Callable[[Callable[P, T], W], str], str],
    place: Callable[[], AbstractContextManager[W]],
) -> Iterator[Check]:
    """A row for each check, in a place of its own; what the part raises is told once."""
    owners = set[str]()
    told, seen = Told(lambda: owners), watched(make, owners)
    for function, advice in checks.items():
        with place() as where:
            yield checked(function.__name__, advice, partial(function, seen, where), told)


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


@contextmanager
def _pool() -> Iterator[Pool]:
    from rods.pool import Pool  # noqa: PLC0415 - a world's tests need no database

    with Pool.open("sqlite://") as pool:
        pool.add_seeds(_SEEDS)
        yield pool


def watched(make: Callable[P, T], owners: set[str]) -> Callable[P, T]:
    """As ``make``; ``owners`` then holds the packages of what it made."""

    def making(*arguments: P.args, **options: P.kwargs) -> T:
        made = make(*arguments, **options)
        owners.update(owners_of(type(made)))
        return made

    return making


# ------------------------------------------------------------------------------- trainers
def every_visit_is_trained_on(make: MakeTrainer, folder: Path) -> str:
    """Each epoch's visits in order, in steps that are numbered from 1 and reported once."""
    curriculum, run = EveryTask(_world()), PlainFolder(folder)
    _train(make(), curriculum, run)
    steps = sorted(curriculum.observed)
    if steps != list(range(1, len(steps) + 1)):
        raise Finding(f"observe() was told of the steps {steps[:8]}.")
    played = [g.entry_id for step in steps for g in curriculum.observed[step]]
    if played != [*curriculum.tasks] * curriculum.epochs:
        raise Finding(f"{len(played)} groups, not one for each visit in the plan's order.")
    if run.reported != steps:
        raise Finding(f"report() was called for the steps {run.reported[:8]}.")
    return f"{len(played)} visits in {len(steps)} steps"


def groups_can_teach(make: MakeTrainer, folder: Path) -> str:
    """Every group has two rollouts or more, of the task that was drawn."""
    curriculum = EveryTask(_world())
    _train(make(), curriculum, PlainFolder(folder))
    groups = [g for found in curriculum.observed.values() for g in found]
    for one in groups:
        if one.task.id != one.entry_id:
            raise Finding(f"The group of {one.entry_id} played {one.task.id}.")
        if len(one.rollouts) < 2:
            raise Finding(f"The group of {one.entry_id} has {len(one.rollouts)} rollouts.")
    if not groups:
        raise Finding("observe() was never called with a group.")
    return f"{len(groups)} groups of {len(groups[0].rollouts)}"


def a_killed_run_goes_on(make: MakeTrainer, folder: Path) -> str:
    """Resumed, the curriculum is rewound to a checkpoint, and the steps go on behind it."""
    curriculum = EveryTask(_world())
    try:
        _train(make(), curriculum, PlainFolder(folder, kill_after=1))
    except Killed:
        pass
    else:
        return "skipped: the training has one step only"
    _train(make(), curriculum, PlainFolder(folder, resume=True))
    if not curriculum.rewound:
        raise Finding("curriculum.rewind() was not called.", "call it before begin_epoch()")
    steps = sorted(curriculum.observed)
    if steps != list(range(1, len(steps) + 1)):
        raise Finding(f"Resumed at step {curriculum.rewound[-1]}, it knows the steps {steps[:8]}.")
    return f"resumed at step {curriculum.rewound[-1]} of {len(steps)}"


def a_saved_policy_can_be_loaded(make: MakeTrainer, folder: Path) -> str:
    """``load`` reads what ``save`` wrote, and evaluates as the saved policy does."""
    world, first, second = _world(), make(), make()
    tasks = world.tasks("eval")[:4]
    first.prepare(world, tasks, PlainFolder(folder))
    first.save(folder / "policy")
    second.prepare(world, tasks, PlainFolder(folder / "other", seed=8))
    second.load(folder / "policy")
    results = [trainer.evaluate(tasks, world, k=2, seed=1) for trainer in (first, second)]
    if results[0] != results[1]:
        raise Finding(
            "With equal seeds, the loaded policy plays other rollouts than the saved one."
        )
    return f"{len(tasks)} tasks"


def evaluation_keeps_the_order(make: MakeTrainer, folder: Path) -> str:
    """``evaluate`` gives k rollouts of every task, in the order of the tasks."""
    world, trainer = _world(), make()
    tasks = list(world.tasks("eval"))[:4][::-1]
    trainer.prepare(world, tasks, PlainFolder(folder))
    groups = trainer.evaluate(tasks, world, k=3, seed=1)
    if [g.task.id for g in groups] != [task.id for task in tasks]:
        raise Finding("The groups are not those of the tasks, in their order.")
    if {len(g.rollouts) for g in groups} != {3}:
        raise Finding("With k=3, a group has another number of rollouts.")
    return f"{len(tasks)} tasks, 3 rollouts each"


TRAINER_CHECKS: Mapping[Callable[[MakeTrainer, Path], str], str] = {
    every_visit_is_trained_on: "observe() and report() once a step, with a group a visit",
    groups_can_teach: "play each drawn task group_size times, at least twice",
    a_killed_run_goes_on: "with run.resume load the last checkpoint, then curriculum.rewind(step)",
    a_saved_policy_can_be_loaded: "save() everything that load() needs; derive seeds from `seed`",
    evaluation_keeps_the_order: "one group a task, k rollouts a group, in the order of `tasks`",
}


def _world() -> FakeEnvironment:
    return FakeEnvironment()


def _train(trainer: Trainer, curriculum: EveryTask, run: PlainFolder) -> None:
    world = _world()
    run.path.mkdir(parents=True, exist_ok=True)
    trainer.prepare(world, list(curriculum.tasks.values()), run)
    trainer.train(curriculum, world, run)


# ------------------------------------------------------------------------------- selectors
_SEEDS = [seed_task(number, KINDS[number % len(KINDS)]) for number in range(16)]
_REWARDS = ((0.0, 0.0), (0.0, 0.5), (0.5, 0.5), (0.25, 0.75), (0.75, 1.0), (1.0, 1.0), (None, 0.5))


def _groups() -> list[RolloutGroup]:
    return [group(task, _REWARDS[i % len(_REWARDS)]) for i, task in enumerate(_SEEDS)]


def seeds_are_entries_of_the_pool(make: MakeSelector, pool: Pool) -> str:
    """What is chosen are ids of entries, each once."""
    groups = _groups()
    pool.record(1, 0, groups)
    chosen = make(pool).select(1, 0, groups)
    strange = set(chosen) - {task.id for task in _SEEDS}
    if strange or len(set(chosen)) != len(chosen):
        raise Finding(f"select() gave {chosen[:6]}.")
    return f"{len(chosen)} of {len(groups)} entries"


def equal_steps_choose_equally(make: MakeSelector, pool: Pool) -> str:
    """Two selectors of equal seed choose the same: a resumed run goes on as it would have."""
    groups = _groups()
    pool.record(1, 0, groups)
    first, second = (make(pool).select(1, 0, groups) for _ in range(2))
    if first != second:
        raise Finding(f"{first[:4]} and then {second[:4]}.")
    return f"{len(first)} entries, twice"


def nothing_scored_chooses_nothing(make: MakeSelector, pool: Pool) -> str:
    """Groups that an outage left without two rewards, and a step without groups, give no seed."""
    lost = [group(task, (None, None, 0.5)) for task in _SEEDS]
    chosen = make(pool).select(1, 0, lost) + make(pool).select(2, 0, [])
    if chosen:
        raise Finding(f"select() gave {chosen[:4]}.")
    return f"{len(lost)} groups"


def the_zone_lies_within_the_rewards(make: MakeSelector, pool: Pool) -> str:
    """``zone`` is a pair 0 <= low <= high <= 1: reports count what lies inside."""
    low, high = make(pool).zone
    if not 0 <= low <= high <= 1:
        raise Finding(f"zone is ({low}, {high}).")
    return f"{low} to {high}"


SELECTOR_CHECKS: Mapping[Callable[[MakeSelector, Pool], str], str] = {
    seeds_are_entries_of_the_pool: "give entry_ids of the groups, each once",
    equal_steps_choose_equally: "draw from random.Random(f'{self.seed}/{step}'); sort sets",
    nothing_scored_chooses_nothing: "skip groups that are not `scored`",
    the_zone_lies_within_the_rewards: "give (low, high) with 0 <= low <= high <= 1",
}
