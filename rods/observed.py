"""The curriculum as the trainer gets it from a run: observers and the run's folder follow it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rods.curriculum import Curriculum
from rods.errors import RodsError
from rods.run_dir import RunDir
from rods.types import EpochPlan, RolloutGroup, StepReport, Task, Visit


class HookListener:
    """Passes what the run's folder reports on to the hooks."""

    def __init__(self, hook: Any) -> None:
        self.hook = hook

    def step_finished(self, report: StepReport) -> None:
        """``rods_step_finished``."""
        self.hook.rods_step_finished(report=report)

    def progress(self, what: str, done: int, total: int) -> None:
        """``rods_progress``."""
        self.hook.rods_progress(what=what, done=done, total=total)


class ObservedCurriculum:
    """A curriculum whose epochs are announced and whose rewinds reach the folder too."""

    def __init__(self, curriculum: Curriculum, folder: RunDir, hook: Any) -> None:
        self.curriculum, self.folder, self.hook = curriculum, folder, hook
        self.epochs, self.epoch_size = curriculum.epochs, curriculum.epoch_size
        self._announced: int | None = None
        self._serving = False
        if not folder.resume:
            self._serve()

    def begin_epoch(self, epoch: int) -> EpochPlan:
        """Move the pool across the boundary; observers hear of each boundary once."""
        if not self._serving:
            raise RodsError(
                "The trainer went on without curriculum.rewind(step): the pool may be ahead of its "
                "checkpoint. A trainer calls it first when run.resume is set."
            )
        self.folder.enter_epoch(epoch)
        plan = self.curriculum.begin_epoch(epoch)
        if epoch != self._announced:
            self._announced = epoch
            self.hook.rods_epoch_started(
                epoch=epoch,
                injected=plan.injected,
                retired=plan.retired,
                pool=self.curriculum.pool.stats(),
            )
        return plan

    def draw(self, visit: Visit) -> Task:
        """The task that this visit plays."""
        return self.curriculum.draw(visit)

    def observe(self, step: int, groups: Sequence[RolloutGroup]) -> None:
        """Learn from the groups of one step."""
        self.curriculum.observe(step, groups)

    def rewind(self, step: int) -> None:
        """Pool, metrics and rollouts know nothing after ``step``; synthesis begins from there."""
        self.folder.rewind(step)
        self.curriculum.rewind(step)
        self._serve()
        self.hook.rods_run_resumed(step=step)

    def _serve(self) -> None:
        """Let synthesis work: after the rewind, so that nothing it makes belongs to the past."""
        if not self._serving:
            self._serving = True
            self.curriculum.synthesis.start()
