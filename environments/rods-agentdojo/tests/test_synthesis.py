"""Variants without a language model, judged by their replayed reference."""

from __future__ import annotations

from rods_agentdojo.environment import AgentDojoEnvironment

from rods.synthesis.skill_aligned import SkillAlignedSynthesizer
from rods.testing.agents import play, reference, silent
from rods.types import Task


def test_a_variant_has_its_seeds_profile(
    environment: AgentDojoEnvironment, tasks: dict[str, Task]
) -> None:
    made = [
        SkillAlignedSynthesizer(None, environment).synthesize(tasks[name], n=1, rng_seed=0)
        for name in ("banking/user_task_0", "banking/user_task_3", "banking/user_task_4")
    ]
    variants = [candidate for outcome in made for candidate in outcome.candidates]
    assert variants
    for variant in variants:
        assert variant.distance == 0
        played = play(environment, variant.task, reference).reward
        idle = play(environment, variant.task, silent).reward
        assert played is not None
        assert played.solved
        assert idle is not None
        assert not idle.solved
