"""The synthesizer ``skill-aligned``: variants of equal complexity, executed and verified."""

from __future__ import annotations

import logging
import random
import time

from rods.errors import WorldError
from rods.faults import fault, owners_of
from rods.interfaces import Component, Environment, StageModels, Synthesizer
from rods.random_seeds import derived_seed
from rods.structure.distance import distance
from rods.synthesis.contracts import Draft, PlanStage, rejection
from rods.synthesis.lm.usage import Meter, counting
from rods.synthesis.pipeline import Pipeline
from rods.synthesis.reasons import Reason
from rods.synthesis.skill_config import SkillAlignedConfig
from rods.synthesis.structures.assistant import Assistant
from rods.synthesis.structures.base_form import structural_distance
from rods.synthesis.workshop import Workshop
from rods.types import Candidate, Provenance, Rejection, Stage, SynthesisOutcome, Task

logger = logging.getLogger(__name__)


class SkillAlignedSynthesizer(Synthesizer):
    """New entities, amounts and state for the seed's structure, or other functions in it.

    Ground truth runs before a word is written. Without language models all is done by code.
    """

    name = "skill-aligned"

    class Config(SkillAlignedConfig, Component.Config):
        """How variants are made."""

    def __init__(
        self,
        config: Component.Config | None,
        environment: Environment,
        models: StageModels | None = None,
    ) -> None:
        super().__init__(config, environment)
        assert isinstance(self.config, SkillAlignedConfig)
        self.options: SkillAlignedConfig = self.config
        self.workshop: Workshop = Workshop(self.options, environment)
        self._assistant: Assistant | None = None
        self._digest: str = ""
        self._pipeline: Pipeline | None = None
        if models is not None:
            self.use(models)

    def use(self, models: StageModels, program: str = "") -> None:
        """Let language models choose, write and judge from now on.

        ``program`` is a file of tuned prompts; its digest stands in the provenance of every task.
        """
        if not any(map(models.has, Stage)):
            return
        from rods.synthesis.program import assisted  # noqa: PLC0415 - loads dspy

        self._assistant, self._digest = assisted(models, program, self.workshop.turn)
        self._pipeline = None

    # ------------------------------------------------------------------ the interface
    def synthesize(self, seed: Task, *, n: int, rng_seed: int) -> SynthesisOutcome:
        """Up to ``n`` verified variants, and why the other attempts failed.

        A WorldError passes: an outage says nothing about the seed.
        """
        started = time.perf_counter()
        candidates: list[Candidate] = []
        rejections: list[Rejection] = []
        with counting() as meter:
            try:
                self._make(seed, n, rng_seed, candidates, rejections)
            except WorldError:
                raise
            except Exception as error:  # noqa: BLE001 - a faulty seed or stage must not end training
                rejections.append(_failure(error, seed, self.environment))
        return SynthesisOutcome(
            candidates=tuple(candidates),
            rejections=tuple(rejections),
            usage=meter.rows(),
            seconds=time.perf_counter() - started,
        )

    def _make(
        self,
        seed: Task,
        n: int,
        rng_seed: int,
        candidates: list[Candidate],
        rejections: list[Rejection],
    ) -> None:
        known = {seed.id, self.pipeline.content_id(seed)}
        for index in range(n):
            draw_seed = rng_seed if index == 0 else derived_seed(rng_seed, index)
            rng, began = random.Random(f"{draw_seed}/{seed.id}"), time.perf_counter()
            with counting() as meter:
                draft, failed = self.pipeline.variant(seed, rng, known)
            rejections += failed
            if draft is None:
                break
            task = self._finished(draft, draw_seed, meter, time.perf_counter() - began)
            known.add(task.id)
            candidates.append(
                Candidate(task=task, seed_id=seed.id, distance=self._distance(draft, seed))
            )

    def redraw(self, task: Task, *, rng_seed: int) -> Task | None:
        """The same task with other entities, verified; None where nothing can change.

        The words stay and no language model is asked, whoever wrote them.
        """
        rng = random.Random(f"{rng_seed}/{task.id}/redraw")
        try:
            draft, _ = self.pipeline.variant(task, rng, {task.id}, self._redrawing)
        except Exception as error:  # noqa: BLE001 - training goes on with the task as it is
            logger.warning("Task %s was not redrawn: %s: %s", task.id, type(error).__name__, error)
            return None
        if draft is None:
            return None
        return self._finished(draft, rng_seed, Meter(), 0.0)  # a visit repeated is the same task

    # ------------------------------------------------------------------ inside
    @property
    def pipeline(self) -> Pipeline:
        """The stages with what they share, made when first needed."""
        if self._pipeline is None:
            self._pipeline = self.workshop.pipeline(self._assistant)
        return self._pipeline

    @property
    def _redrawing(self) -> PlanStage | None:
        """Keeps the structure; a plan stage of a third party does that by itself."""
        return None if Stage.PLAN in self.options.stages else self.workshop.seed_planner

    def _distance(self, draft: Draft, seed: Task) -> float:
        ours, theirs = draft.expected, self.pipeline.blueprint(seed).profile
        if draft.execution.plan.proposal is None:
            return distance(ours, draft.execution.plan.blueprint.profile)
        return structural_distance(ours, theirs)

    def _finished(self, draft: Draft, rng_seed: int, meter: Meter, seconds: float) -> Task:
        asked = {row.model for row in meter.rows()}
        stages = _kept(draft, meter)
        kept = {name for names in stages.values() for name in names}
        provenance = Provenance(
            synthesizer=self.name,
            seed=rng_seed,
            program=self._digest if meter.calls else "",
            substitutions=dict(draft.substitutions),
            edit=draft.edit,
            structure="seed" if draft.execution.plan.proposal is None else "new",
            models=tuple(sorted(kept)),
            stages=stages,
            tried=tuple(sorted(asked - kept)),
            calls=meter.calls,
            tokens=meter.tokens,
            seconds=seconds,
        )
        return draft.task.model_copy(update={"provenance": provenance})


def _kept(draft: Draft, meter: Meter) -> dict[str, tuple[str, ...]]:
    """Stage -> the backbones asked there, for the stages that kept an answer."""
    names = {
        stage.value: tuple(row.model for row in meter.rows() if row.stage is stage)
        for stage in Stage
        if stage in draft.kept
    }
    return {stage: found for stage, found in names.items() if found}


def _failure(error: Exception, seed: Task, environment: Environment) -> Rejection:
    """What was raised, with the line of the world, or of a stage, that raised it."""
    found = fault(error, owners_of(type(environment)))
    detail = str(found if found.place else fault(error))
    return rejection(Stage.EXECUTE, Reason.PIPELINE_EXCEPTION, detail, seed.id)
