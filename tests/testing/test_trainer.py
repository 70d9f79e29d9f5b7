"""The fake trainer keeps the contract of real ones: constant epochs, exact resume."""

from __future__ import annotations

from pathlib import Path

import pytest

from rods.errors import DataError
from rods.testing import FakeEnvironment, FakeTrainer
from rods.testing.training import EveryTask, Killed, PlainFolder


def train(folder: PlainFolder, curriculum: EveryTask) -> FakeTrainer:
    trainer, world = FakeTrainer(), FakeEnvironment()
    trainer.prepare(world, world.tasks("train"), folder)
    trainer.train(curriculum, world, folder)
    return trainer


def test_a_killed_run_resumes_to_the_same_groups(tmp_path: Path) -> None:
    whole, parts = EveryTask(FakeEnvironment()), EveryTask(FakeEnvironment())
    train(PlainFolder(tmp_path / "whole"), whole)
    with pytest.raises(Killed):
        train(PlainFolder(tmp_path / "parts", kill_after=2), parts)
    train(PlainFolder(tmp_path / "parts", resume=True), parts)
    assert parts.rewound == [2]
    assert list(whole.observed) == [1, 2, 3, 4]
    assert parts.observed == whole.observed


def test_skill_grows_with_training_and_shows_in_the_reward(tmp_path: Path) -> None:
    trainer = train(PlainFolder(tmp_path), EveryTask(FakeEnvironment()))
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
