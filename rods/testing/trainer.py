"""A trainer without a model: its policy plays a turn's reference with a chance that grows."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from pydantic import Field

from rods.errors import DataError
from rods.interfaces import CurriculumSeam, Environment, RunFolder, Trainer
from rods.testing.agents import Agent, play
from rods.types import AssistantMessage, RolloutGroup, Task

_FILE = "policy.json"


class FakeTrainer(Trainer):
    """Deterministic groups in milliseconds; checkpoints after every step, exact resume."""

    name = "fake"

    class Config(Trainer.Config):
        """The fake policy and its batches."""

        group_size: int = Field(4, ge=1, description="Rollouts of one prompt (K).")
        prompts_per_step: int = Field(4, ge=1, description="Prompts of one optimizer step.")
        skill: float = Field(0.4, ge=0, le=1, description="Chance to solve a turn at the start.")
        gain: float = Field(0.02, ge=0, description="Skill learned from one step.")

    config: Config

    def __init__(self, config: Config | None = None) -> None:
        super().__init__(config or self.Config())
        self.skill, self.step, self._seed = self.config.skill, 0, 0

    def prepare(self, environment: Environment, tasks: Sequence[Task], run: RunFolder) -> None:
        """Start from ``config.skill``."""
        self.skill, self.step, self._seed = self.config.skill, 0, run.seed

    def train(self, curriculum: CurriculumSeam, environment: Environment, run: RunFolder) -> None:
        """Play every visit of every epoch; the pool is told before the checkpoint is written."""
        size = self.config.prompts_per_step
        steps_per_epoch = -(-curriculum.epoch_size // size)
        steps = curriculum.epochs * steps_per_epoch
        if run.resume:
            self._load_last(run.checkpoints)
            curriculum.rewind(self.step)
        for step in range(self.step + 1, steps + 1):
            epoch, position = divmod(step - 1, steps_per_epoch)
            visits = curriculum.begin_epoch(epoch).visits[position * size : (position + 1) * size]
            groups = [
                self._group(environment, curriculum.draw(v), v.entry_id, v.draw_seed, step, i)
                for i, v in enumerate(visits)
            ]
            self.step, self.skill = step, min(1.0, self.skill + self.config.gain)
            run.log_rollouts(step, groups)
            curriculum.observe(step, groups)
            run.report(step, steps, groups, {"skill": self.skill})  # before the checkpoint knows it
            self.save(run.checkpoints / f"checkpoint-{step}")
            if run.stopping:
                raise KeyboardInterrupt

    def evaluate(
        self,
        tasks: Sequence[Task],
        environment: Environment,
        *,
        k: int,
        seed: int,
        progress: Callable[[int, int], None] | None = None,
    ) -> list[RolloutGroup]:
        """k rollouts a task with the present skill."""
        groups = []
        for index, task in enumerate(tasks):
            rollouts = tuple(
                play(environment, task, noisy_reference(self.skill, f"{seed}/{i}"))
                for i in range(k)
            )
            groups.append(RolloutGroup(entry_id=task.id, task=task, rollouts=rollouts))
            if progress is not None:
                progress(index + 1, len(tasks))
        return groups

    def save(self, folder: Path) -> None:
        """Write ``policy.json``, complete or not at all."""
        folder.mkdir(parents=True, exist_ok=True)
        part = folder / f"{_FILE}.part"
        part.write_text(json.dumps({"skill": self.skill, "step": self.step}))
        part.rename(folder / _FILE)

    def load(self, folder: Path) -> None:
        """Read ``policy.json``."""
        try:
            saved = json.loads((folder / _FILE).read_text())
            self.skill, self.step = float(saved["skill"]), int(saved["step"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise DataError(f"{folder} holds no policy of the fake trainer: {error}") from error

    def _load_last(self, checkpoints: Path) -> None:
        done = [p.parent for p in checkpoints.glob(f"checkpoint-*/{_FILE}")]
        if done:
            self.load(max(done, key=lambda folder: int(folder.name.rpartition("-")[2])))

    def _group(
        self,
        environment: Environment,
        task: Task,
        entry_id: str,
        draw_seed: int | None,
        step: int,
        position: int,
    ) -> RolloutGroup:
        rollouts = tuple(
            play(
                environment,
                task,
                noisy_reference(self.skill, f"{self._seed}/{step}/{position}/{i}"),
            )
            for i in range(self.config.group_size)
        )
        versioned = tuple(r.model_copy(update={"policy_version": step - 1}) for r in rollouts)
        return RolloutGroup(entry_id=entry_id, task=task, rollouts=versioned, draw_seed=draw_seed)


def noisy_reference(skill: float, seed: str) -> Agent:
    """An agent that plays each turn's reference with chance ``skill``, else says nothing."""

    def agent(task: Task) -> Iterator[AssistantMessage]:
        rng = random.Random(f"{seed}/{task.id}")
        for turn in task.turns:
            if turn.reference and rng.random() < skill:
                yield AssistantMessage(calls=turn.reference)
            yield AssistantMessage(content="Done.")

    return agent
