"""The trainer, and what it sees of the curriculum and of the run's folder."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from rods.interfaces.components import Component
from rods.interfaces.worlds import Environment
from rods.types import (
    Check,
    EpochPlan,
    RolloutGroup,
    StepReport,
    Task,
    Visit,
)


class CurriculumSeam(Protocol):
    """The curriculum as a trainer sees it (implemented by ``rods.curriculum.Curriculum``)."""

    epochs: int
    epoch_size: int  # prompts an epoch, equal for all epochs

    def begin_epoch(self, epoch: int) -> EpochPlan:
        """Move the pool across the boundary; idempotent."""
        ...

    def draw(self, visit: Visit) -> Task:
        """The task that this visit plays."""
        ...

    def observe(self, step: int, groups: Sequence[RolloutGroup]) -> None:
        """Learn from the groups whose update is optimizer step ``step`` (1-based)."""
        ...

    def rewind(self, step: int) -> None:
        """Forget all that happened after step ``step``: the checkpoint that training resumes at."""
        ...


class RunFolder(Protocol):
    """The part of a run's folder that a trainer uses (implemented by ``rods.run_dir.RunDir``)."""

    path: Path
    seed: int
    resume: bool

    @property
    def checkpoints(self) -> Path:
        """Where the trainer keeps its checkpoints; the pool is rewound to the one it resumes at.

        With ``resume`` the trainer calls ``curriculum.rewind(step)`` before the first
        ``begin_epoch``, with 0 where there is no checkpoint yet.
        """
        ...

    @property
    def stopping(self) -> bool:
        """Somebody wants the run to end: Ctrl-C, for the first time.

        A trainer that looks at it after ``report`` writes a checkpoint and raises
        KeyboardInterrupt; one that does not is interrupted a step later.
        """
        ...

    def progress(self, what: str, done: int, total: int) -> None:
        """Show how far a long part outside the steps is, such as the warm start."""
        ...

    def log_rollouts(self, step: int, groups: Sequence[RolloutGroup]) -> None:
        """Append the groups to the run's rollouts."""
        ...

    def report(
        self, step: int, steps: int, groups: Sequence[RolloutGroup], trainer: Mapping[str, float]
    ) -> StepReport:
        """Tell observers and ``metrics.jsonl`` that optimizer step ``step`` is done.

        Called before the checkpoint of this step is written: a resumed run then misses no line.
        """
        ...


class Trainer(Component, ABC):
    """Owns rollouts and updates; asks a curriculum for tasks and tells it what they earned.

    Under torchrun every rank calls preflight, prepare, evaluate, train (or load), save and evaluate
    in this order. Only rank 0 has a curriculum that answers and a folder that is written: what it
    says is the trainer's to broadcast.
    """

    def __init__(self, config: Component.Config | None = None) -> None:
        self.config = config if config is not None else self.Config()

    def preflight(self, environment: Environment, tasks: Sequence[Task]) -> list[Check]:
        """What can be found out without a GPU, in seconds: packages, template, options, memory."""
        return []

    def check_schedule(self, epochs: int, epoch_size: int) -> list[Check]:
        """Whether epochs of ``epoch_size`` prompts are whole steps of this trainer."""
        return []

    def notes(self, environment: Environment) -> Sequence[str]:
        """What a reader of the results must know, such as a policy too small for these tasks."""
        return ()

    @abstractmethod
    def prepare(self, environment: Environment, tasks: Sequence[Task], run: RunFolder) -> None:
        """Load or warm-start the policy; called once before ``evaluate`` and ``train``."""

    @abstractmethod
    def train(self, curriculum: CurriculumSeam, environment: Environment, run: RunFolder) -> None:
        """Train over all epochs of the curriculum, resuming from ``run.checkpoints`` if asked."""

    @abstractmethod
    def evaluate(
        self,
        tasks: Sequence[Task],
        environment: Environment,
        *,
        k: int,
        seed: int,
        progress: Callable[[int, int], None] | None = None,
    ) -> list[RolloutGroup]:
        """k sampled rollouts of every task with the present policy, in the order of ``tasks``."""

    @abstractmethod
    def save(self, folder: Path) -> None:
        """Write the policy so that ``load`` and ``--policy`` read it."""

    @abstractmethod
    def load(self, folder: Path) -> None:
        """Read a policy that ``save`` wrote, or any model folder the trainer knows."""
