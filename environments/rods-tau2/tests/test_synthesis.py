"""Variants without a language model: other people and ids, the seed's structure and words."""

from __future__ import annotations

import pytest
from rods_tau2.constants import constants
from rods_tau2.environment import Tau2Environment

from rods.synthesis.skill_aligned import SkillAlignedSynthesizer
from rods.testing.agents import play, reference, silent
from rods.types import Task


@pytest.fixture(scope="module")
def retail() -> Tau2Environment:
    """The shop alone, as one would train on it."""
    return Tau2Environment(Tau2Environment.Config(domains=("retail",)))


def test_goods_prices_and_cities_are_kept(tasks: dict[str, Task]) -> None:
    kept = constants(tasks["retail/3"].initial_state)
    assert {"T-Shirt", "v-neck", 49.67, "polyester", "pending", "credit_card"} <= kept
    assert not {"Yusuf", "yusuf_rossi_9620", "#W4776164", "19122", "9647292434"} & kept


@pytest.mark.parametrize(("seed_id", "rng_seed"), [("retail/0", 1), ("retail/3", 0)])
def test_a_variant_has_its_seeds_profile_and_upstreams_checks(
    seed_id: str, rng_seed: int, retail: Tau2Environment, tasks: dict[str, Task]
) -> None:
    seed = tasks[seed_id]
    synthesizer = SkillAlignedSynthesizer(None, retail)
    outcome = synthesizer.synthesize(seed, n=1, rng_seed=rng_seed)
    (variant,) = outcome.candidates
    assert variant.distance == 0
    assert "Yusuf" not in variant.task.turns[0].user
    assert variant.task.turns[0].answer == seed.turns[0].answer
    played = play(retail, variant.task, reference).reward
    idle = play(retail, variant.task, silent).reward
    assert played is not None
    assert (played.solved, played.value) == (True, 1)
    assert idle is not None
    assert (idle.solved, idle.value) == (False, 0)


def test_a_task_with_other_calls_is_judged_by_its_own_reference(
    environment: Tau2Environment, tasks: dict[str, Task]
) -> None:
    seed = tasks["retail/3"]  # upstream wants "10" to be said
    shorter = seed.turns[0].model_copy(update={"reference": seed.turns[0].reference[:2]})
    other = seed.model_copy(update={"turns": (shorter.model_copy(update={"answer": ""}),)})
    played = play(environment, other, reference).reward
    idle = play(environment, other, silent).reward
    assert played is not None
    assert played.solved
    assert idle is not None
    assert not idle.solved
