"""The fake trainer keeps the contract of real ones: constant epochs, exact resume."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from rods.errors import DataError
from rods.testing import FakeEnvironment, FakeTrainer
from rods.types import EpochPlan, Regions, RolloutGroup, StepReport, Task, TrainingStage, Visit


class Curriculum:
    """Every train task once an epoch."""

    epochs, epoch_size = 2, 8

    def __init__(self) -> None:
        self.tasks = {task.id: task for task in FakeEnvironment().tasks("train")}
        self.observed: dict[int, tuple[RolloutGroup, ...]] = {}
        self.rewound: list[int] = []

    def begin_epoch(self, epoch: int) -> EpochPlan:
        visits = tuple(Visit(entry_id=task_id) for task_id in self.tasks)
        return EpochPlan(epoch=epoch, stage=TrainingStage(), visits=visits)

    def draw(self, visit: Visit) -> Task:
        return self.tasks[visit.entry_id]

    def observe(self, step: int, groups: Sequence[RolloutGroup]) -> None:
        self.observed[step] = tuple(groups)

    def rewind(self, step: int) -> None:
        self.rewound.append(step)


class KilledError(Exception):
    """A run that ends after some step."""


class Folder:
    """A run's folder that may be killed."""

    def __init__(self, path: Path, *, resume: bool = False, kill_after: int = 1000) -> None:
        self.path, self.seed, self.resume, self._kill_after = path, 7, resume, kill_after

    @property
    def checkpoints(self) -> Path:
        return self.path / "checkpoints"

    def log_rollouts(self, step: int, groups: Sequence[RolloutGroup]) -> None:
        if step > self._kill_after:
            raise KilledError

    def progress(self, what: str, done: int, total: int) -> None:
        """Nobody watches."""

    def report(
        self, step: int, steps: int, groups: Sequence[RolloutGroup], trainer: Mapping[str, float]
    ) -> StepReport:
        return StepReport(
            step=step,
            steps=steps,
            epoch=0,
            reward=0,
            regions=Regions(),
            pool={},
            funnel={},
            seconds=0,
        )


def train(folder: Folder, curriculum: Curriculum) -> FakeTrainer:
    trainer, world = FakeTrainer(), FakeEnvironment()
    trainer.prepare(world, world.tasks("train"), folder)
    trainer.train(curriculum, world, folder)
    return trainer


def test_a_killed_run_resumes_to_the_same_groups(tmp_path: Path) -> None:
    whole, parts = Curriculum(), Curriculum()
    train(Folder(tmp_path / "whole"), whole)
    with pytest.raises(KilledError):
        train(Folder(tmp_path / "parts", kill_after=2), parts)
    train(Folder(tmp_path / "parts", resume=True), parts)
    assert parts.rewound == [2]
    assert list(whole.observed) == [1, 2, 3, 4]
    assert parts.observed == whole.observed


def test_skill_grows_with_training_and_shows_in_the_reward(tmp_path: Path) -> None:
    trainer = train(Folder(tmp_path), Curriculum())
    world = FakeEnvironment()
    before = FakeTrainer(FakeTrainer.Config(skill=0.0))
    assert trainer.skill > trainer.config.skill
    means = [
        sum(g.mean for g in t.evaluate(world.tasks("eval"), world, k=4, seed=0))
        for t in (before, trainer)
    ]
    assert means[0] < means[1]


def test_a_saved_policy_loads_equal(tmp_path: Path) -> None:
    trainer = FakeTrainer(FakeTrainer.Config(skill=0.7))
    trainer.save(tmp_path)
    other = FakeTrainer()
    other.load(tmp_path)
    assert other.skill == 0.7


def test_a_folder_without_a_policy_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="holds no policy"):
        FakeTrainer().load(tmp_path)
