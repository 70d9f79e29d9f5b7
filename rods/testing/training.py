"""A curriculum and a run's folder without a database: what a trainer is tested with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from rods.interfaces import Environment
from rods.types import EpochPlan, Regions, RolloutGroup, StepReport, Task, TrainingStage, Visit


class EveryTask:
    """A curriculum whose epochs are all train tasks of a world, in order; it remembers."""

    def __init__(self, environment: Environment, epochs: int = 2) -> None:
        self.tasks = {task.id: task for task in environment.tasks("train")}
        self.epochs, self.epoch_size = epochs, len(self.tasks)
        self.observed: dict[int, tuple[RolloutGroup, ...]] = {}
        self.rewound: list[int] = []

    def begin_epoch(self, epoch: int) -> EpochPlan:
        """The same plan each time."""
        visits = tuple(Visit(entry_id=task_id) for task_id in self.tasks)
        return EpochPlan(epoch=epoch, stage=TrainingStage(), visits=visits)

    def draw(self, visit: Visit) -> Task:
        """The entry's task, never with other entities."""
        return self.tasks[visit.entry_id]

    def observe(self, step: int, groups: Sequence[RolloutGroup]) -> None:
        """Keep the groups of the step."""
        self.observed[step] = tuple(groups)

    def rewind(self, step: int) -> None:
        """Forget what was observed after the step."""
        self.rewound.append(step)
        self.observed = {s: groups for s, groups in self.observed.items() if s <= step}


class Killed(Exception):  # noqa: N818 - what happens to a run, not a fault of it
    """A run ends as if it were killed."""


class PlainFolder:
    """A run's folder that writes no metrics; the run is killed after step ``kill_after``."""

    def __init__(
        self, path: Path, *, seed: int = 7, resume: bool = False, kill_after: int | None = None
    ) -> None:
        self.path, self.seed, self.resume, self._kill_after = path, seed, resume, kill_after
        self.reported: list[int] = []

    @property
    def checkpoints(self) -> Path:
        """A folder below the run's."""
        return self.path / "checkpoints"

    @property
    def stopping(self) -> bool:
        """Nobody presses Ctrl-C."""
        return False

    def log_rollouts(self, step: int, groups: Sequence[RolloutGroup]) -> None:
        """Keep nothing; raise Killed in the step after ``kill_after``."""
        if self._kill_after is not None and step > self._kill_after:
            raise Killed

    def progress(self, what: str, done: int, total: int) -> None:
        """Nobody watches."""

    def report(
        self, step: int, steps: int, groups: Sequence[RolloutGroup], trainer: Mapping[str, float]
    ) -> StepReport:
        """A report of the step's reward and of nothing else."""
        self.reported.append(step)
        scored = [group.mean for group in groups if group.rewards]
        return StepReport(
            step=step,
            steps=steps,
            epoch=0,
            reward=sum(scored) / max(1, len(scored)),
            regions=Regions(),
            pool={},
            funnel={},
            seconds=0.0,
            trainer=dict(trainer),
        )
