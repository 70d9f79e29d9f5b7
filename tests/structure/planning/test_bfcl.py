"""Seeds of BFCL for which plans were hard to find keep theirs."""

from __future__ import annotations

import random

import pytest
from rods_bfcl.environment import BfclEnvironment

from rods.structure.constants import constants
from rods.structure.lookups import lookup_tables
from rods.structure.planning import PlanningOptions, StructurePlanner
from rods.structure.sources import Labeller
from rods.types import SourceKind

pytestmark = pytest.mark.slow
HARD = {
    18: "only the seed's own tools get far",
    26: "the text of a result becomes prose of another tool",
    46: "a call that answers nothing moves a hidden cursor which the next ones need",
    55: "a turn that shows what the turn before has shown",
    156: "a seed whose own tools allow nothing new",
    165: "a history that is empty without a patch",
    196: "a call that needs another only if the world begins with another limit",
    197: "six parameters, three of them with one label",
}


@pytest.fixture(scope="module")
def planner() -> StructurePlanner:
    environment = BfclEnvironment(BfclEnvironment.Config(kinds=("base",), exclude_flagged=False))
    tasks = environment.tasks("train")
    labeller = Labeller(constants(environment.tools(), tasks), lookup_tables(environment))
    return StructurePlanner(environment, labeller, PlanningOptions())


@pytest.mark.parametrize("index", HARD)
def test_a_hard_seed_gets_a_plan_of_exactly_its_structure(
    planner: StructurePlanner, index: int
) -> None:
    tasks = planner._environment.tasks("train")
    seed = next(task for task in tasks if task.id == f"multi_turn_base_{index}")
    outcome = planner.propose(seed, random.Random(seed.id), 1)
    assert outcome.proposals, (HARD[index], outcome.rejects, outcome.failed_calls)
    plan, wanted = outcome.proposals[0], planner.studied(seed).profile
    assert plan.profile.calls_per_turn == wanted.calls_per_turn
    assert plan.profile.depth == wanted.depth
    assert [sorted(s.values()) for s in plan.profile.sources] == [
        sorted(SourceKind.USER if k is SourceKind.UNKNOWN else k for k in s.values())
        for s in wanted.sources
    ]
