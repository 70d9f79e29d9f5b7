"""GRPO with TRL behind the curriculum: the trainer that ``rods run --plugins ...,grpo-trl`` uses.

This module is light, so that ``rods plugins show grpo-trl`` is quick; torch and TRL are imported by
``training`` when a policy is wanted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from rods.interfaces import CurriculumSeam, Environment, RunFolder, Trainer
from rods.types import Check, RolloutGroup, Task
from rods_grpo_trl.config import GrpoConfig

if TYPE_CHECKING:
    from rods_grpo_trl.policy import Policy
    from rods_grpo_trl.training import Training

TINY_NOTE = (
    "The policy is a transformer of 1-2 million parameters, warm-started on practice tasks of the "
    "world {world!r}; its scores are not those of a language model."
)
TOO_SMALL_NOTE = (
    "It is too small to learn tasks like these: the run exercises the whole machinery and shows no "
    "more."
)


class GrpoTrainer(Trainer):
    """A policy, and the training that it goes through."""

    name = "grpo-trl"
    Config = GrpoConfig
    config: GrpoConfig
    presets: ClassVar[Mapping[str, Mapping[str, Mapping[str, Any]]]] = {
        "paper": {"trainer": {"group_size": 16, "learning_rate": 1e-6, "beta": 0.01}}
    }

    def __init__(self, config: GrpoConfig | None = None) -> None:
        super().__init__(config if config is not None else GrpoConfig())
        self._folder: Path | None = None  # of a policy that was loaded
        self._training: Training | None = None

    def preflight(self, environment: Environment, tasks: Sequence[Task]) -> list[Check]:
        """Packages, options, template, memory; nothing is downloaded and no policy is loaded."""
        from rods_grpo_trl.preflight import checks  # noqa: PLC0415 - heavy, see the module

        return checks(self.config, environment, tasks)

    def check_schedule(self, epochs: int, epoch_size: int) -> list[Check]:
        """An epoch must be whole optimizer steps."""
        size = self.config.prompts_per_step
        detail = f"{epochs} epochs of {epoch_size} prompts are "
        if epoch_size % size:
            detail += f"not whole steps of {size} prompts"
            fix = f"curriculum.epoch_size = {-(-epoch_size // size) * size}"
            return [Check(name="steps", ok=False, detail=detail, fix=fix)]
        detail += f"{epochs * (epoch_size // size)} batches of rollouts"
        return [Check(name="steps", ok=True, detail=detail)]

    def notes(self, environment: Environment) -> Sequence[str]:
        """That a tiny policy is no language model, and whether it can learn this world at all."""
        if not self.config.tiny:
            return ()
        note = TINY_NOTE.format(world=environment.name)
        return (note,) if environment.fits_tiny_policy else (note, TOO_SMALL_NOTE)

    def prepare(self, environment: Environment, tasks: Sequence[Task], run: RunFolder) -> None:
        """Load the policy, or warm-start the tiny one."""
        self._training = self._train_with(
            self.make_policy(environment, run), environment, run.checkpoints, self._seed(run)
        )

    def train(self, curriculum: CurriculumSeam, environment: Environment, run: RunFolder) -> None:
        """Train over all epochs; resume at the newest whole checkpoint if ``run.resume``."""
        if self._training is None:
            raise RuntimeError("GrpoTrainer.prepare was not called before train.")
        self._training.train(curriculum, run)

    def evaluate(
        self,
        tasks: Sequence[Task],
        environment: Environment,
        *,
        k: int,
        seed: int,
        progress: Callable[[int, int], None] | None = None,
    ) -> list[RolloutGroup]:
        """k rollouts of every task, sampled as in training; equal seeds give equal rollouts."""
        return self._ready(environment).evaluate(tasks, k=k, seed=seed, progress=progress)

    def save(self, folder: Path) -> None:
        """Write the present policy."""
        if self._training is None:
            raise RuntimeError("There is no policy to save: call prepare or evaluate first.")
        self._training.save(folder)

    def load(self, folder: Path) -> None:
        """Take the policy from a folder: one of ``save``, a checkpoint, or any model's."""
        self._folder, self._training = folder, None

    # ---------------------------------------------------------------- inside
    def make_policy(self, environment: Environment, run: RunFolder | None) -> Policy:
        """The policy that the configuration or ``load`` names."""
        from rods_grpo_trl import policies  # noqa: PLC0415 - heavy, see the module

        policies.limit_threads(self.config)
        if self._folder is not None:
            return policies.load(self._folder, environment, self.config)
        return policies.make(self.config, environment, run)

    def _ready(self, environment: Environment) -> Training:
        if self._training is None:
            policy = self.make_policy(environment, None)
            self._training = self._train_with(policy, environment, None, self.config.seed or 0)
        return self._training

    def _train_with(
        self, policy: Policy, environment: Environment, output: Path | None, seed: int
    ) -> Training:
        from rods_grpo_trl.training import Training  # noqa: PLC0415 - heavy, see the module

        return Training(self.config, policy, environment, output, seed)

    def _seed(self, run: RunFolder) -> int:
        return self.config.seed if self.config.seed is not None else run.seed
