"""What the stages of one environment share, and the stages made of it.

Learned parts (constants, tables, the planner's catalog, the studies of seeds) are made once; stages
are cheap, so a program that is tuned makes its own around its own predictors.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Mapping
from functools import cached_property
from importlib import import_module
from typing import Any, Self

from rods.errors import ConfigError
from rods.interfaces import Environment
from rods.structure.constants import constants
from rods.structure.lookups import lookup_tables
from rods.structure.planning import PlanningOutcome, StructurePlanner
from rods.structure.sources import Labeller
from rods.synthesis.augment import KindEditor
from rods.synthesis.blueprint import Blueprint
from rods.synthesis.contracts import (
    AugmentStage,
    CritiqueStage,
    ExecuteStage,
    PlanStage,
    RewriteStage,
    Stages,
)
from rods.synthesis.critique import RuleCritic
from rods.synthesis.execute import Resampler
from rods.synthesis.finding import SlotFinder
from rods.synthesis.pipeline import Pipeline
from rods.synthesis.plan import SeedPlanner
from rods.synthesis.rewrite import Substituter
from rods.synthesis.skill_config import SkillAlignedConfig
from rods.synthesis.structures.assistant import Assistant, NoAssistant
from rods.synthesis.structures.base_form import base_form
from rods.synthesis.structures.critique import ProposalCritic
from rods.synthesis.structures.dispatch import ExecuteByPlan, RewriteByPlan
from rods.synthesis.structures.execute import ProposalRunner
from rods.synthesis.structures.patching import StatePatcher
from rods.synthesis.structures.plan import NewStructures
from rods.synthesis.structures.rewrite import ProposalWriter
from rods.synthesis.study import SeedStudy
from rods.synthesis.turns import Turn
from rods.synthesis.wording.checks import WordingCheck
from rods.types import Stage, Task

_CONTRACTS: Mapping[Stage, type] = {
    Stage.PLAN: PlanStage,
    Stage.EXECUTE: ExecuteStage,
    Stage.REWRITE: RewriteStage,
    Stage.CRITIQUE: CritiqueStage,
    Stage.AUGMENT: AugmentStage,
}


class Workshop:
    """Shared parts of one environment; a deep copy is the workshop itself."""

    def __init__(self, options: SkillAlignedConfig, environment: Environment) -> None:
        self.options, self.environment = options, environment
        self.turn = Turn()
        self._planning = threading.Lock()
        self._base_blueprints: dict[str, Blueprint] = {}

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    # ------------------------------------------------------------------ learned once
    @cached_property
    def tables(self) -> Mapping[str, Mapping[str, str]]:
        """The environment's lookup tables."""
        return lookup_tables(self.environment)

    @cached_property
    def labeller(self) -> Labeller:
        """Labels the sources of arguments."""
        known = constants(self.environment.tools(), self.environment.tasks("train"))
        return Labeller(known, self.tables)

    @cached_property
    def study(self) -> SeedStudy:
        """Studies seeds."""
        finder = SlotFinder(self.environment, self.tables)
        return SeedStudy(self.environment, self.labeller, finder)

    @cached_property
    def seed_planner(self) -> SeedPlanner:
        """The seed's own structure."""
        return SeedPlanner(self.options.augment.weights())

    @cached_property
    def _rules(self) -> RuleCritic:
        return RuleCritic(self.options.critique, self.environment, self.labeller)

    @cached_property
    def _planner(self) -> StructurePlanner:
        return StructurePlanner(self.environment, self.labeller, self.options.planning.search)

    def propose(self, seed: Task, rng: random.Random, n: int) -> PlanningOutcome:
        """New plans; one thread searches at a time, and redraws need not wait for it."""
        with self.turn.given_up(), self._planning:
            return self._planner.propose(seed, rng, n)

    def base_blueprint(self, task: Task) -> Blueprint:
        """The study of the task's base form, none of its values tried."""
        if task.id not in self._base_blueprints:
            self._base_blueprints[task.id] = self.study.executed(base_form(task))
        return self._base_blueprints[task.id]

    # ------------------------------------------------------------------ made of it
    def pipeline(self, assistant: Assistant | None = None) -> Pipeline:
        """The stages with this assistant, and the studies that they share."""
        return Pipeline(
            self.stages(assistant or NoAssistant()),
            self.study,
            attempts=self.options.attempts,
            trials=self.options.study_trials,
            turn=self.turn,
        )

    def stages(self, assistant: Assistant) -> Stages:
        """The five stages; ``options.stages`` puts others in their place."""
        options, environment = self.options, self.environment
        runner = ProposalRunner(
            environment,
            assistant,
            fills=options.fill_texts,
            patcher=StatePatcher(environment, assistant, options.planning.search.max_patches),
        )
        made: dict[Stage, Any] = {
            Stage.PLAN: self._plan_stage(assistant),
            Stage.EXECUTE: ExecuteByPlan(Resampler(environment), runner),
            Stage.REWRITE: RewriteByPlan(Substituter(), self._writer(runner, assistant)),
            Stage.CRITIQUE: ProposalCritic(
                options.judging,
                environment,
                rules=self._rules,
                assistant=assistant,
                exact=options.planning.search.strictness == "exact",
            ),
            Stage.AUGMENT: KindEditor(options.augment, environment, self.labeller, assistant),
        }
        for stage, path in options.stages.items():
            made[stage] = loaded_stage(stage, path)(options, environment)
        return Stages(**{stage.value: made[stage] for stage in Stage})

    def _plan_stage(self, assistant: Assistant) -> PlanStage:
        options, structures = self.options, self.options.structures
        if structures == "auto":
            structures = "new" if any(map(assistant.helps, Stage)) else "seed"
        if structures == "seed":
            return self.seed_planner
        return NewStructures(
            options.planning,
            structures=structures,
            propose=self.propose,
            seed_planner=self.seed_planner,
            base_blueprint=self.base_blueprint,
            specs=self.environment.tools(),
            assistant=assistant,
            narrative=options.narrative,
            feedback=options.feedback,
        )

    def _writer(self, runner: ProposalRunner, assistant: Assistant) -> ProposalWriter:
        return ProposalWriter(
            self.options.writing,
            self.environment,
            runner=runner,
            check=WordingCheck(self.environment, self.labeller),
            tables=self.tables,
            assistant=assistant,
            coherent=self.options.coherent_rewrite,
            feedback=self.options.feedback,
        )


def loaded_stage(stage: Stage, path: str) -> type:
    """The class at 'module:Class'; a ConfigError where it is none of the stage's contract."""
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
