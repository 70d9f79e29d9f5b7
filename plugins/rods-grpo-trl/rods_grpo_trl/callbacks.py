"""Where TRL's training loop meets the curriculum: epochs, steps and logs."""

from __future__ import annotations

import math
import shutil
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from transformers import TrainerCallback, TrainerControl, TrainerState, TrainingArguments

from rods.files import sync_tree
from rods.interfaces import CurriculumSeam, RunFolder
from rods.types import EpochPlan, RolloutGroup, StepReport, Task
from rods_grpo_trl.harvest import Ledger
from rods_grpo_trl.ranks import from_rank_zero, rank
from rods_grpo_trl.rollouts import RolloutFunction
from rods_grpo_trl.schedule import Schedule


class CurriculumCallback(TrainerCallback):
    """Rank 0 asks the curriculum and tells it; the others get the plan and the tasks.

    A step is told after its update: observe, then report, then (by TRL) the checkpoint. Killed in
    between, a run resumes at the last checkpoint and the curriculum is rewound to it.
    """

    def __init__(
        self,
        curriculum: CurriculumSeam,
        run: RunFolder,
        rollouts: RolloutFunction,
        *,
        steps_per_epoch: int,
        updates: int,
        policy_files: Sequence[Path] = (),
    ) -> None:
        self.curriculum, self.run, self.rollouts = curriculum, run, rollouts
        self.ledger: Ledger = rollouts.ledger
        self.schedule: Schedule = self.ledger.schedule
        self.steps_per_epoch, self.updates = steps_per_epoch, updates
        self.policy_files = policy_files
        self._told: list[RolloutGroup] = []
        self._since = time.perf_counter()

    def on_epoch_begin(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any
    ) -> None:
        """Draw the epoch's tasks; the same ones if a resumed run comes back into it."""
        epoch = state.global_step // self.steps_per_epoch
        self.schedule.enter(*from_rank_zero(lambda: self._draw(epoch)))

    def on_step_end(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any
    ) -> None:
        """Tell the curriculum what the rollouts earned, once all their updates are done."""
        if state.global_step % self.updates:
            return
        groups = self.ledger.take()
        if rank() == 0:
            self.curriculum.observe(state.global_step, groups)
            self.run.log_rollouts(state.global_step, groups)
            self._told = groups

    def on_log(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        logs: dict[str, Any] | None = None,
        **_: Any,
    ) -> None:
        """Report the step, and add what the curriculum measures to what the trackers get."""
        if not self._told or logs is None:
            return
        groups, self._told = self._told, []
        del state.log_history[:-1]  # the run's metrics have it; checkpoints would grow with it
        metrics = {**numbers(logs), **self._speed()}
        report = self.run.report(state.global_step, state.max_steps, groups, metrics)
        logs.update(curriculum_metrics(report))
        control.should_save = control.should_save or self.run.stopping

    def on_save(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any
    ) -> None:
        """Make the checkpoint a policy's folder that ``rods eval --policy`` reads, on the disk."""
        if rank() > 0:
            return
        checkpoint = Path(str(args.output_dir)) / f"checkpoint-{state.global_step}"
        for path in self.policy_files:
            if path.is_file():
                shutil.copy(path, checkpoint)
        sync_tree(checkpoint)
        if self.run.stopping:
            raise KeyboardInterrupt

    def _draw(self, epoch: int) -> tuple[EpochPlan, tuple[Task, ...]]:
        plan = self.curriculum.begin_epoch(epoch)
        return plan, tuple(self.curriculum.draw(visit) for visit in plan.visits)

    def _speed(self) -> dict[str, float]:
        now, before = time.perf_counter(), self._since
        self._since = now
        seconds = self.rollouts.seconds
        return {
            "step_s": now - before,
            "rollouts_s": seconds,
            "tokens_per_s": self.rollouts.tokens / seconds if seconds > 0 else 0.0,
        }


def numbers(logs: Mapping[str, Any]) -> dict[str, float]:
    """The finite numbers among TRL's metrics."""
    return {
        key: float(value)
        for key, value in logs.items()
        if isinstance(value, int | float) and math.isfinite(value)
    }


def curriculum_metrics(report: StepReport) -> dict[str, float]:
    """Regions and pool as flat names, the way trackers draw them."""
    regions = {f"regions/{name}": float(n) for name, n in report.regions.model_dump().items()}
    pool = {f"pool/{name}": float(n) for name, n in report.pool.items()}
    return {"progress": report.reward, **regions, **pool}
