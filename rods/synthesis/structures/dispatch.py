"""Sends each plan to the stages made for it: new structures, or the seed's own."""

from __future__ import annotations

import random

from rods.synthesis.contracts import (
    Draft,
    ExecuteStage,
    Execution,
    Plan,
    RewriteStage,
)
from rods.types import Rejection


class ExecuteByPlan(ExecuteStage):
    """Two ways to make ground truth."""

    def __init__(self, seeds: ExecuteStage, proposals: ExecuteStage) -> None:
        self._seeds, self._proposals = seeds, proposals

    def execute(self, plan: Plan, rng: random.Random) -> Execution | Rejection:
        """The execution by the stage that fits the plan."""
        stage = self._seeds if plan.proposal is None else self._proposals
        return stage.execute(plan, rng)


class RewriteByPlan(RewriteStage):
    """Two ways to find words."""

    def __init__(self, seeds: RewriteStage, proposals: RewriteStage) -> None:
        self._seeds, self._proposals = seeds, proposals

    def rewrite(self, execution: Execution, rng: random.Random) -> Draft | Rejection:
        """The words by the stage that fits the plan."""
        return self._of(execution).rewrite(execution, rng)

    def refine(self, draft: Draft, remarks: str, rng: random.Random) -> Draft | Rejection | None:
        """Other words by the stage that wrote the first ones."""
        return self._of(draft.execution).refine(draft, remarks, rng)

    def _of(self, execution: Execution) -> RewriteStage:
        return self._seeds if execution.plan.proposal is None else self._proposals
