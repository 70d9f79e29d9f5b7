"""The synthesizer ``skill-aligned``: variants of equal complexity, made and verified by code."""

from __future__ import annotations

import hashlib
import logging
import random
import time
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from pydantic import Field

from rods.errors import ConfigError, WorldError
from rods.interfaces import Component, ComponentConfig, Environment, Synthesizer
from rods.structure.constants import constants
from rods.structure.distance import distance
from rods.structure.lookups import lookup_tables
from rods.structure.sources import Labeller
from rods.synthesis.augment import AugmentConfig, KindEditor
from rods.synthesis.contracts import (
    AugmentStage,
    CritiqueStage,
    Draft,
    ExecuteStage,
    PlanStage,
    RewriteStage,
    Stages,
    rejection,
)
from rods.synthesis.critique import CritiqueConfig, RuleCritic
from rods.synthesis.execute import Resampler
from rods.synthesis.finding import SlotFinder
from rods.synthesis.pipeline import Pipeline
from rods.synthesis.plan import SeedPlanner
from rods.synthesis.reasons import Reason
from rods.synthesis.rewrite import Substituter
from rods.synthesis.study import SeedStudy
from rods.types import Candidate, Provenance, Rejection, Stage, SynthesisOutcome, Task

logger = logging.getLogger(__name__)

_CONTRACTS: Mapping[Stage, type] = {
    Stage.PLAN: PlanStage,
    Stage.EXECUTE: ExecuteStage,
    Stage.REWRITE: RewriteStage,
    Stage.CRITIQUE: CritiqueStage,
    Stage.AUGMENT: AugmentStage,
}


class SkillAlignedConfig(ComponentConfig):
    """How variants are made."""

    attempts: int = Field(4, ge=1, description="Draws for one variant before giving up.")
    study_trials: int = Field(
        60, ge=1, description="Executions to find out which values of a seed can change."
    )
    critique: CritiqueConfig = CritiqueConfig()
    augment: AugmentConfig = AugmentConfig()
    stages: dict[Stage, str] = Field(
        default_factory=dict,
        description="Stage -> 'module:Class' of a replacement; it gets the configuration and "
        "the environment.",
    )


class SkillAlignedSynthesizer(Synthesizer):
    """New entities, amounts and state for the seed's own structure; ground truth runs first."""

    name = "skill-aligned"

    class Config(SkillAlignedConfig, Component.Config):
        """How variants are made."""

    def __init__(self, config: Component.Config | None, environment: Environment) -> None:
        super().__init__(config, environment)
        assert isinstance(self.config, SkillAlignedConfig)
        self.options: SkillAlignedConfig = self.config
        self._pipeline: Pipeline | None = None

    # ------------------------------------------------------------------ the interface
    def synthesize(self, seed: Task, *, n: int, rng_seed: int) -> SynthesisOutcome:
        """Up to ``n`` verified variants, and why the other attempts failed.

        A WorldError passes: an outage says nothing about the seed.
        """
        started = time.perf_counter()
        candidates: list[Candidate] = []
        rejections: list[Rejection] = []
        try:
            known = {seed.id, self.pipeline.content_id(seed)}
            for index in range(n):
                draw_seed = rng_seed if index == 0 else _mixed(rng_seed, index)
                rng = random.Random(f"{draw_seed}/{seed.id}")
                draft, failed = self.pipeline.variant(seed, rng, known)
                rejections += failed
                if draft is None:
                    break
                task = self._finished(draft, draw_seed)
                known.add(task.id)
                apart = distance(draft.expected, draft.execution.plan.blueprint.profile)
                candidates.append(Candidate(task=task, seed_id=seed.id, distance=apart))
        except WorldError:
            raise
        except Exception as error:  # noqa: BLE001 - a faulty seed or stage must not end training
            rejections.append(_failure(error, seed))
        return SynthesisOutcome(
            candidates=tuple(candidates),
            rejections=tuple(rejections),
            seconds=time.perf_counter() - started,
        )

    def redraw(self, task: Task, *, rng_seed: int) -> Task | None:
        """The same task with other entities, verified; None where nothing can change."""
        rng = random.Random(f"{rng_seed}/{task.id}/redraw")
        try:
            draft, _ = self.pipeline.variant(task, rng, {task.id})
        except Exception as error:  # noqa: BLE001 - training goes on with the task as it is
            logger.warning("Task %s was not redrawn: %s: %s", task.id, type(error).__name__, error)
            return None
        return None if draft is None else self._finished(draft, rng_seed)

    # ------------------------------------------------------------------ the stages
    @property
    def pipeline(self) -> Pipeline:
        """The stages with what they share, made when first needed."""
        if self._pipeline is None:
            tables = lookup_tables(self.environment)
            known = constants(self.environment.tools(), self.environment.tasks("train"))
            labeller = Labeller(known, tables)
            study = SeedStudy(self.environment, labeller, SlotFinder(self.environment, tables))
            self._pipeline = Pipeline(
                self.stages(labeller),
                study,
                attempts=self.options.attempts,
                trials=self.options.study_trials,
            )
        return self._pipeline

    def stages(self, labeller: Labeller) -> Stages:
        """The five stages; a subclass or ``config.stages`` puts others in their place."""
        made: dict[Stage, Any] = {
            Stage.PLAN: SeedPlanner(self.options.augment.weights()),
            Stage.EXECUTE: Resampler(self.environment),
            Stage.REWRITE: Substituter(),
            Stage.CRITIQUE: RuleCritic(self.options.critique, self.environment, labeller),
            Stage.AUGMENT: KindEditor(self.options.augment, self.environment),
        }
        for stage, path in self.options.stages.items():
            made[stage] = _loaded(stage, path)(self.options, self.environment)
        return Stages(**{stage.value: made[stage] for stage in Stage})

    def _finished(self, draft: Draft, rng_seed: int) -> Task:
        provenance = Provenance(
            synthesizer=self.name,
            seed=rng_seed,
            substitutions=dict(draft.substitutions),
            edit=draft.edit,
        )
        return draft.task.model_copy(update={"provenance": provenance})


def _mixed(rng_seed: int, index: int) -> int:
    """48 bits for one of several variants; with them and n = 1 it is made again."""
    digest = hashlib.sha256(f"{rng_seed}/{index}".encode()).digest()
    return int.from_bytes(digest[:6], "big")


def _loaded(stage: Stage, path: str) -> type:
    module, _, name = path.partition(":")
    try:
        found = getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise ConfigError(
            f"synthesizer.stages.{stage} = {path!r} cannot be loaded: {error}. "
            "Give it as 'module:Class'."
        ) from error
    if not (isinstance(found, type) and issubclass(found, _CONTRACTS[stage])):
        raise ConfigError(
            f"synthesizer.stages.{stage} = {path!r} is no {_CONTRACTS[stage].__name__}; derive it "
            "from rods.synthesis.contracts."
        )
    return found


def _failure(error: Exception, seed: Task) -> Rejection:
    detail = f"{type(error).__name__}: {error}"
    return rejection(Stage.EXECUTE, Reason.PIPELINE_EXCEPTION, detail, seed.id)
