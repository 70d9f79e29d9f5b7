"""The training loop: rods says what to play, the trainer plays and learns."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path

import rods
from pydantic import Field
from rods.episode import Episode
from rods.interfaces import CurriculumSeam, RunFolder
from rods.types import Rollout, RolloutGroup, Task, Visit

from my_trainer.policy import FILE, Policy


class MyTrainer(rods.Trainer):
    """A loop without a model; the policy is a coin that grows with what teaches."""

    name = "my-trainer"

    class Config(rods.Trainer.Config):
        """What users may set: -o trainer.group_size=8."""

        group_size: int = Field(4, ge=2, description="Rollouts of one prompt (K).")
        prompts_per_step: int = Field(4, ge=1, description="Prompts of one update.")

    config: Config
    policy = Policy()
    seed = 0

    def prepare(self, environment: rods.Environment, tasks: Sequence[Task], run: RunFolder) -> None:
        """Make or load the policy; called once, before anything else."""
        self.policy, self.seed = Policy(), run.seed

    def train(
        self, curriculum: CurriculumSeam, environment: rods.Environment, run: RunFolder
    ) -> None:
        """All epochs. The order within a step is the contract: observe, report, checkpoint."""
        size = self.config.prompts_per_step
        steps_per_epoch = -(-curriculum.epoch_size // size)
        steps = curriculum.epochs * steps_per_epoch
        if run.resume:
            self._load_last(run.checkpoints)
            curriculum.rewind(self.policy.step)  # the pool forgets what came after
        for step in range(self.policy.step + 1, steps + 1):
            epoch, position = divmod(step - 1, steps_per_epoch)
            visits = curriculum.begin_epoch(epoch).visits  # asking twice changes nothing
            groups = [
                self._visit(curriculum, environment, visit, f"{step}/{number}")
                for number, visit in enumerate(visits[position * size : (position + 1) * size])
            ]
            for group in groups:
                self.policy.learn(list(group.rewards))
            self.policy.step = step
            run.log_rollouts(step, groups)
            curriculum.observe(step, groups)
            run.report(step, steps, groups, {"skill": self.policy.skill})
            self.save(run.checkpoints / f"checkpoint-{step}")

    def evaluate(
        self,
        tasks: Sequence[Task],
        environment: rods.Environment,
        *,
        k: int,
        seed: int,
        progress: Callable[[int, int], None] | None = None,
    ) -> list[RolloutGroup]:
        """k rollouts of every task, in the order of the tasks."""
        groups = []
        for done, task in enumerate(tasks, start=1):
            rollouts = tuple(self._play(environment, task, f"{seed}/{i}") for i in range(k))
            groups.append(RolloutGroup(entry_id=task.id, task=task, rollouts=rollouts))
            if progress is not None:
                progress(done, len(tasks))
        return groups

    def save(self, folder: Path) -> None:
        """Write the policy."""
        self.policy.save(folder)

    def load(self, folder: Path) -> None:
        """Read a policy that ``save`` wrote."""
        self.policy = Policy.load(folder)

    def _visit(
        self, curriculum: CurriculumSeam, environment: rods.Environment, visit: Visit, at: str
    ) -> RolloutGroup:
        """K rollouts of the task that the visit draws."""
        task = curriculum.draw(visit)
        seeds = [f"{self.seed}/{at}/{i}" for i in range(self.config.group_size)]
        return RolloutGroup(
            entry_id=visit.entry_id,
            task=task,
            rollouts=tuple(self._play(environment, task, seed) for seed in seeds),
            draw_seed=visit.draw_seed,
        )

    def _play(self, environment: rods.Environment, task: Task, seed: str) -> Rollout:
        """One rollout. The episode runs the calls, releases the next user turn, and scores."""
        rng = random.Random(f"{seed}/{task.id}")
        episode = Episode(environment, task)
        if not episode.done:  # a world that does not answer ends an episode at once
            episode.opening()  # the messages that a model would read first
        turn = 0
        while not episode.done:
            episode.advance(self.policy.act(task, turn, rng))  # gives what it reads next
            turn += 1
        return episode.finish(self.policy.step)

    def _load_last(self, checkpoints: Path) -> None:
        done = [path.parent for path in checkpoints.glob(f"checkpoint-*/{FILE}")]
        if done:
            self.load(max(done, key=lambda folder: int(folder.name.rpartition("-")[2])))
