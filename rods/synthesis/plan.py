"""I. Plan without a language model: the seed's own structure with other values."""

from __future__ import annotations

import random
from collections.abc import Mapping

from rods.synthesis.blueprint import Blueprint
from rods.synthesis.contracts import Plan, PlanStage, rejection
from rods.synthesis.reasons import Reason
from rods.types import Kind, Rejection, Stage


class SeedPlanner(PlanStage):
    """Keeps every call of the seed and changes all values that can change."""

    def __init__(self, edits: Mapping[Kind, float] | None = None) -> None:
        """``edits``: kind -> probability that a base seed becomes one; at most 1 in all."""
        self._edits = {kind: p for kind, p in (edits or {}).items() if p > 0}

    def plan(self, blueprint: Blueprint, rng: random.Random) -> Plan | Rejection:
        """The seed's structure; a rejection where nothing can change."""
        task = blueprint.task
        if not blueprint.slots:
            return rejection(Stage.PLAN, Reason.NOTHING_TO_CHANGE, seed_id=task.id)
        return Plan.of(blueprint, blueprint.slots, self.edit(task.kind, rng))

    def edit(self, kind: Kind, rng: random.Random) -> Kind | None:
        """What the augmentation is to make of a task of this kind."""
        if kind != "base" or not self._edits:
            return None
        kinds = list(self._edits)
        rest = max(0.0, 1 - sum(self._edits.values()))
        return rng.choices([*kinds, None], [*self._edits.values(), rest])[0]
