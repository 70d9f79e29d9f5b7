"""The trainer keeps what every trainer must, and learns."""

from __future__ import annotations

from pathlib import Path

from rods.testing import EveryTask, FakeEnvironment, PlainFolder, check_trainer

from my_trainer.trainer import MyTrainer


def test_the_trainer_conforms() -> None:
    """All that ``rods check my-trainer`` asks for: order, groups, resuming, saving, evaluation."""
    failed = [check for check in check_trainer(MyTrainer) if not check.ok]
    assert not failed, "\n".join(f"{c.name}: {c.detail}\n  {c.fix}" for c in failed)


def test_training_raises_the_skill(tmp_path: Path) -> None:
    world, trainer = FakeEnvironment(), MyTrainer()
    curriculum, run = EveryTask(world, epochs=3), PlainFolder(tmp_path)
    trainer.prepare(world, world.tasks("train"), run)
    before = trainer.policy.skill
    trainer.train(curriculum, world, run)
    assert trainer.policy.skill > before
