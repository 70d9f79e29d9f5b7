"""Variants made with the stage are sound and worded by it."""

from __future__ import annotations

from rods.synthesis.skill_aligned import SkillAlignedSynthesizer
from rods.testing import FakeEnvironment, play, reference

from my_stage.rewrite import OPENINGS, MyStage

WORLD = FakeEnvironment()
MINE = f"{MyStage.__module__}:{MyStage.__name__}"
OPTIONS = SkillAlignedSynthesizer.Config.model_validate({"stages": {"rewrite": MINE}})
OUTCOME = SkillAlignedSynthesizer(OPTIONS, WORLD).synthesize(
    WORLD.tasks("train")[0], n=6, rng_seed=1
)


def test_variants_come_out_in_the_words_of_the_stage() -> None:
    first_words = [candidate.task.turns[0].user for candidate in OUTCOME.candidates]
    assert first_words, OUTCOME.rejections
    assert any(text.startswith(OPENINGS[1:]) for text in first_words)


def test_their_references_earn_everything() -> None:
    for candidate in OUTCOME.candidates:
        reward = play(WORLD, candidate.task, reference).reward
        assert reward is not None
        assert reward.value == 1
