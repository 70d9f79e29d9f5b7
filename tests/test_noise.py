"""Noise is shown to the policy and to nobody else: results, references and scores stay exact."""

from __future__ import annotations

import json
import random

import pytest

from rods.episode import Episode, noisy
from rods.synthesis.augment import AugmentConfig
from rods.synthesis.skill_aligned import SkillAlignedSynthesizer
from rods.testing import FakeEnvironment
from rods.types import AssistantMessage, Message, Rollout, Task


def solved(task: Task) -> tuple[list[Message], Rollout]:
    """What a policy that knows the reference is shown, and its rollout."""
    episode = Episode(FakeEnvironment(), task)
    shown = list(episode.opening())
    for turn in task.turns:
        shown += episode.advance(AssistantMessage(calls=turn.reference, ends_turn=True))
    return shown, episode.finish()


@pytest.mark.parametrize("content", ['{"id": 3, "b": {"c": []}}', "{}", "plain", "", "[1]", '"x"'])
def test_noise_adds_and_changes_nothing(content: str) -> None:
    for seed in range(9):
        shown = noisy(content, random.Random(seed))
        assert shown != content
        if content.startswith("{"):
            assert json.loads(content).items() < json.loads(shown).items()
        else:
            assert shown.startswith(content)


def test_the_policy_sees_noise_and_the_score_does_not() -> None:
    clean = FakeEnvironment().tasks("train")[0]
    noisy_task = clean.model_copy(update={"noise": 7})
    (before, plain), (after, rollout) = solved(clean), solved(noisy_task)
    pairs = [(a, b) for a, b in zip(before, after, strict=True) if a.role == "tool"]
    assert pairs
    assert all(b.content != a.content for a, b in pairs)
    assert solved(noisy_task)[0] == after
    assert rollout.trajectory == plain.trajectory
    assert rollout.reward == plain.reward
    assert rollout.reward is not None
    assert rollout.reward.value == 1


def test_noise_belongs_to_the_content_only_where_there_is_some() -> None:
    task = FakeEnvironment().tasks("train")[0]
    ids = {task.model_copy(update={"noise": n}).with_content_id().id for n in (None, 1, 2)}
    assert len(ids) == 3
    assert task.model_copy(update={"noise": 1}).with_content_id().id != task.with_content_id().id


def test_variants_get_noise_by_share_and_keep_it_when_redrawn() -> None:
    environment = FakeEnvironment()
    config = SkillAlignedSynthesizer.Config(augment=AugmentConfig(noise=1.0))
    synthesizer = SkillAlignedSynthesizer(config, environment)
    plain = SkillAlignedSynthesizer(None, environment)
    seed = environment.tasks("train")[0]
    (made,), (clean,) = (
        s.synthesize(seed, n=1, rng_seed=1).candidates for s in (synthesizer, plain)
    )
    assert made.task.turns == clean.task.turns
    assert clean.task.noise is None
    assert made.task.noise is not None
    assert made.task.provenance is not None
    assert made.task.provenance.edit == "noise"
    redrawn = plain.redraw(made.task, rng_seed=2)
    assert redrawn is not None
    assert redrawn.noise == made.task.noise
