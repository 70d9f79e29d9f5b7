"""What the policy trains on next: the whole method on one screen.

A trainer asks for tasks and tells what their rollouts earned; that is all it needs to know.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from rods.interfaces import Buffer, ComponentConfig, Selector, Synthesizer
from rods.pool import Pool
from rods.random_seeds import derived_seed
from rods.synthesis.service import SynthesisService
from rods.types import EpochPlan, RolloutGroup, Task, TrainingStage, Visit


class CurriculumConfig(ComponentConfig):
    """The schedule of a run."""

    epoch_size: int = Field(
        64, ge=1, le=1_000_000, description="Prompts an epoch; equal for all epochs."
    )
    redraw: Literal["visit", "epoch", "never"] = Field(
        "visit", description="When a task is drawn again with new entities (paper: never)."
    )
    redraw_seeds: bool = Field(False, description="Redraw the original tasks too.")
    stages: tuple[TrainingStage, ...] = Field(
        (TrainingStage(),),
        min_length=1,
        description="What is trained on, in order. Their epochs are the "
        "length of the run: `--epochs 12`, or -o 'curriculum.stages=[{epochs=12}]'.",
    )


class Curriculum:
    """A pool of tasks that follows the policy's capability boundary."""

    def __init__(
        self,
        config: CurriculumConfig,
        *,
        pool: Pool,
        selector: Selector,
        buffer: Buffer,
        synthesizer: Synthesizer,
        synthesis: SynthesisService,
        seed: int = 0,
    ) -> None:
        self.config, self.seed = config, seed
        self.pool, self.selector, self.buffer = pool, selector, buffer
        self.synthesizer, self.synthesis = synthesizer, synthesis
        self.epoch_size = config.epoch_size
        self.epochs = sum(stage.epochs for stage in config.stages)
        self._epoch = 0

    def begin_epoch(self, epoch: int) -> EpochPlan:
        """Move the pool across an epoch boundary. Idempotent: a resumed run gets the same plan."""
        self._epoch = epoch
        stage = self.stage(epoch)
        with self.pool.transaction():
            if (saved := self.pool.plan(epoch)) is not None:
                return saved
            retired = self.buffer.retire(epoch)
            injected = self.buffer.inject(epoch) if stage.synthesis else 0
            entries = self.buffer.plan(epoch, stage, self.epoch_size)
            visits = tuple(self._visit(epoch, i, entry) for i, entry in enumerate(entries))
            plan = EpochPlan(
                epoch=epoch, stage=stage, visits=visits, injected=injected, retired=retired
            )
            self.pool.save_plan(plan)
        return plan

    def draw(self, visit: Visit) -> Task:
        """The task that this visit plays: the entry itself, or the same one with new entities."""
        task = self.pool.task(visit.entry_id)
        if visit.draw_seed is None:
            return task
        return self.synthesizer.redraw(task, rng_seed=visit.draw_seed) or task

    def observe(self, step: int, groups: Sequence[RolloutGroup]) -> None:
        """Learn from K rollouts a task: record them, find boundary seeds, ask for variants."""
        self.pool.record(step, self._epoch, groups)
        if self.stage(self._epoch).synthesis:
            for entry_id in self.selector.select(step, self._epoch, groups):
                self.synthesis.request(entry_id, step)  # a variant enters as a candidate

    def rewind(self, step: int) -> None:
        """Forget what happened after step ``step``: training resumes at its checkpoint."""
        self.synthesis.drain()
        self.pool.rewind(step)

    def stage(self, epoch: int) -> TrainingStage:
        """The stage of the schedule that ``epoch`` (0-based) lies in."""
        for stage in self.config.stages:
            if epoch < stage.epochs:
                return stage
            epoch -= stage.epochs
        return self.config.stages[-1]

    def _visit(self, epoch: int, position: int, entry_id: str) -> Visit:
        redraw = self.config.redraw
        original = not entry_id.startswith("syn-")
        if redraw == "never" or (original and not self.config.redraw_seeds):
            return Visit(entry_id=entry_id)
        place = position if redraw == "visit" else ""
        seed = derived_seed(self.seed, epoch, place, entry_id)
        return Visit(entry_id=entry_id, draw_seed=seed)
