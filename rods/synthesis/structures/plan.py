"""I. Plan: a proposal of other functions in the seed's structure, and the story it tells.

Code enumerates executed proposals. Without a model the most plausible one is taken; a model chooses
among them and writes a narrative. Where none is found, the seed's own structure is varied.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from pydantic import Field

from rods.interfaces import ComponentConfig
from rods.structure.planning import PlanningOptions, PlanningOutcome
from rods.structure.proposal import Proposal
from rods.synthesis.blueprint import Blueprint
from rods.synthesis.contracts import Feedback, Plan, PlanStage, rejection
from rods.synthesis.kept import keep
from rods.synthesis.plan import SeedPlanner
from rods.synthesis.reasons import Reason
from rods.synthesis.structures.assistant import Assistant
from rods.synthesis.structures.base_form import base_form
from rods.types import Rejection, Stage, Task, ToolSpec

Propose = Callable[[Task, random.Random, int], PlanningOutcome]
Structures = Literal["auto", "seed", "new", "new-only", "mixed"]


class NewPlansConfig(ComponentConfig):
    """How plans of other functions are found and chosen."""

    choices: int = Field(3, ge=1, description="Plans that are looked for before one is chosen.")
    share: float = Field(0.5, ge=0, le=1, description="Share of new plans where structures=mixed.")
    search: PlanningOptions = PlanningOptions()


class NewStructures(PlanStage):
    """Chooses between new functions and the seed's own."""

    def __init__(
        self,
        config: NewPlansConfig,
        *,
        structures: Structures,
        propose: Propose,
        seed_planner: SeedPlanner,
        base_blueprint: Callable[[Task], Blueprint],
        specs: Mapping[str, ToolSpec],
        assistant: Assistant,
        narrative: bool = True,
        feedback: bool = True,
    ) -> None:
        self._config, self._structures, self._propose = config, structures, propose
        self._seed_planner, self._base_blueprint = seed_planner, base_blueprint
        self._specs, self._assistant = specs, assistant
        self._narrative, self._feedback = narrative, feedback

    def plan(self, blueprint: Blueprint, rng: random.Random) -> Plan | Rejection:
        """The plan of a first attempt."""
        return self.plan_again(blueprint, rng, Feedback())

    def plan_again(
        self, blueprint: Blueprint, rng: random.Random, feedback: Feedback
    ) -> Plan | Rejection:
        """A proposal that has not failed yet; where none is left the seed's own structure, or none.

        ``new-only`` ends the variant there.
        """
        if feedback.new_structure is None:
            feedback.new_structure = self._wants_new(rng)
        if not feedback.new_structure:
            return self._seed_planner.plan(blueprint, rng)
        if feedback.proposals is None:
            outcome = self._propose(base_form(blueprint.task), rng, self._config.choices)
            feedback.proposals = list(outcome.proposals)
            if not feedback.proposals:
                self._give_up(feedback)
                why = ", ".join(f"{why} {n}" for why, n in outcome.rejects.most_common(4))
                return rejection(Stage.PLAN, Reason.FUNC_SAMPLE_FAILED, why, blueprint.task.id)
        left = [p for p in feedback.proposals if not any(p is f for f in feedback.failed)]
        if not left:
            self._give_up(feedback)
            if feedback.ended:
                why = f"all {len(feedback.proposals)} plans have failed"
                return rejection(Stage.PLAN, Reason.FUNC_SAMPLE_FAILED, why, blueprint.task.id)
            return self._seed_planner.plan(blueprint, rng)
        return self._chosen(blueprint, left, rng, feedback)

    def _wants_new(self, rng: random.Random) -> bool:
        if self._structures == "mixed":
            return rng.random() < self._config.share
        return self._structures in ("new", "new-only")

    def _give_up(self, feedback: Feedback) -> None:
        """There is no plan of other functions: the seed's own, or nothing."""
        feedback.new_structure, feedback.ended = False, self._structures == "new-only"

    def _chosen(
        self, blueprint: Blueprint, left: list[Proposal], rng: random.Random, feedback: Feedback
    ) -> Plan:
        guidance: Sequence[str] = feedback.guidance if self._feedback else ()
        if self._feedback:
            left = _unblocked(left, feedback.blocked)
        left = sorted(left, key=lambda proposal: -proposal.plausibility)
        index, narrative = 0, ""
        if self._narrative and self._assistant.helps(Stage.PLAN):
            key = f"{blueprint.task.id}/{rng.getrandbits(32)}"
            options = [outline(proposal) for proposal in left]
            choice = self._assistant.choose(key, self._domain(left), options, guidance)
            if choice is not None and 0 <= choice.index < len(left):
                index, narrative = choice.index, choice.narrative.strip()
                keep(Stage.PLAN)
        task = blueprint.task
        base = self._base_blueprint(task)
        if task.kind == "base":
            return Plan.new(base, left[index], narrative, self._seed_planner.edit("base", rng))
        return Plan.new(base, left[index], narrative, task.kind, blueprint.profile)

    def _domain(self, proposals: Sequence[Proposal]) -> str:
        """What the functions of the proposals do, one line each."""
        names = dict.fromkeys(c.call.name for p in proposals for c in p.calls)
        return "\n".join(f"{name}: {self._specs[name].description[:300]}" for name in names)


def outline(proposal: Proposal) -> str:
    """The calls of a proposal, one line a turn, each argument with its source."""
    lines = []
    for number, turn in enumerate(proposal.turns, 1):
        calls = [
            planned.call.name
            + "("
            + ", ".join(
                f"{name}={value!r} [{planned.sources.get(name, 'constant')}]"
                for name, value in planned.call.arguments.items()
            )
            + ")"
            for planned in turn
        ]
        lines.append(f"message {number}: {'; '.join(calls)}")
    return "\n".join(lines)


def _unblocked(proposals: list[Proposal], blocked: frozenset[str]) -> list[Proposal]:
    """The proposals without a function that has failed, if there are any."""
    free = [p for p in proposals if not blocked.intersection(c.call.name for c in p.calls)]
    return free or proposals
