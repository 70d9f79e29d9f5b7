"""The three edits move the reference and nothing else, and pass every gate again."""

from __future__ import annotations

import random
from typing import Any

import pytest
from pydantic import ValidationError

from rods.interfaces import Environment
from rods.synthesis.augment import AugmentConfig
from rods.synthesis.skill_aligned import SkillAlignedSynthesizer
from rods.testing import FakeEnvironment
from rods.types import Task, ToolCall


def edited(environment: Environment, kind: str, n: int = 6) -> list[Task]:
    """Variants of the first base seed as another kind."""
    config = SkillAlignedSynthesizer.Config(augment=AugmentConfig.model_validate({kind: 1.0}))
    synthesizer = SkillAlignedSynthesizer(config, environment)
    seed = next(task for task in environment.tasks("train") if task.kind == "base")
    outcome = synthesizer.synthesize(seed, n=n, rng_seed=2)
    tasks = [candidate.task for candidate in outcome.candidates]
    assert all(candidate.distance > 0 for candidate in outcome.candidates)  # another kind
    assert tasks, outcome.rejections
    assert {task.kind for task in tasks} == {kind}
    return tasks


def calls(task: Task) -> list[ToolCall]:
    return [call for turn in task.turns for call in turn.reference]


def test_a_withheld_tool_is_handed_over_in_the_next_turn(shop: Any) -> None:
    for task in edited(shop(), "miss_func"):
        (empty,) = [i for i, turn in enumerate(task.turns) if not turn.reference]
        later = task.turns[empty + 1]
        (name,) = later.reveals
        assert name not in task.tools_at(empty)
        assert name in task.tools_at(empty + 1)
        assert name in {call.name for call in later.reference}
        assert name not in {c.name for t in task.turns[:empty] for c in t.reference}
        assert len(calls(task)) == 5
        assert task.provenance is not None
        assert task.provenance.edit == f"miss_func:{empty}:{name}"


def test_the_environments_own_words_hand_a_tool_over() -> None:
    for task in edited(FakeEnvironment(), "miss_func"):
        ((handed, revealed),) = [(t.user, t.reveals) for t in task.turns if t.reveals]
        assert handed == f"You can {revealed[0]} now."


def test_distractors_are_offered_and_the_reference_stays() -> None:
    bfcl = pytest.importorskip("rods_bfcl.environment").BfclEnvironment()
    seed = bfcl.tasks("train")[0]
    plain, wide = (
        SkillAlignedSynthesizer(
            SkillAlignedSynthesizer.Config.model_validate({"augment": augment}), bfcl
        )
        .synthesize(seed, n=1, rng_seed=1)
        .candidates[0]
        .task
        for augment in ({}, {"distractors": 1.0, "distractor_tools": 3})
    )
    assert [turn.reference for turn in wide.turns] == [turn.reference for turn in plain.turns]
    more = set(wide.tools) - set(plain.tools)
    assert len(more) == 3
    answers = [bfcl.open(wide).call(ToolCall(name=name)).content for name in more]
    assert not any("is not defined" in answer for answer in answers)


def test_a_value_that_is_left_out_comes_in_the_next_turn(shop: Any) -> None:
    for task in edited(shop(), "miss_param"):
        (empty,) = [i for i, turn in enumerate(task.turns) if not turn.reference]
        later = task.turns[empty + 1]
        assert task.provenance is not None
        parameter = task.provenance.edit.rsplit(":", 1)[1]
        (value,) = {
            str(c.arguments[parameter]) for c in later.reference if parameter in c.arguments
        }
        assert later.user.replace("'", "").endswith(f" is {value.rstrip('.')}.")
        assert value in later.user
        assert not any(value in turn.user for turn in task.turns[: empty + 1])
        assert len(calls(task)) == 5


def test_a_long_context_is_long_before_the_request(shop: Any) -> None:
    for task in edited(shop(), "long_context", n=2):
        assert len(task.turns[0].user) > 2000
        assert "Look up the '" in task.turns[0].user
        assert len(task.turns) == 3


def test_a_world_that_can_lengthen_itself_does() -> None:
    module = pytest.importorskip("rods_bfcl.environment")
    environment = module.BfclEnvironment(module.BfclEnvironment.Config(kinds=("base",)))
    config = SkillAlignedSynthesizer.Config(augment=AugmentConfig(long_context=1.0))
    synthesizer = SkillAlignedSynthesizer(config, environment)
    (candidate,) = synthesizer.synthesize(environment.tasks("train")[0], n=1, rng_seed=1).candidates
    assert candidate.task.initial_state["long_context"] is True
    assert candidate.task.provenance is not None
    assert candidate.task.provenance.edit == "long_context:world"


def test_by_default_variants_keep_their_seeds_kind() -> None:
    assert sum(AugmentConfig().weights().values()) == 0
    environment = FakeEnvironment()
    synthesizer = SkillAlignedSynthesizer(None, environment)
    for seed in environment.tasks("train"):
        for candidate in synthesizer.synthesize(seed, n=2, rng_seed=1).candidates:
            assert candidate.task.kind == seed.kind


def test_only_base_seeds_are_edited() -> None:
    environment = FakeEnvironment()
    config = SkillAlignedSynthesizer.Config(augment=AugmentConfig(miss_func=1.0))
    synthesizer = SkillAlignedSynthesizer(config, environment)
    seed = next(task for task in environment.tasks("train") if task.kind == "miss_param")
    outcome = synthesizer.synthesize(seed, n=2, rng_seed=1)
    assert {candidate.task.kind for candidate in outcome.candidates} == {"miss_param"}


def test_shares_are_shares() -> None:
    with pytest.raises(ValidationError, match="at most 1"):
        AugmentConfig(miss_func=0.6, miss_param=0.6)
    environment = FakeEnvironment()
    config = SkillAlignedSynthesizer.Config(augment=AugmentConfig(miss_func=0.5))
    stages = SkillAlignedSynthesizer(config, environment).pipeline._stages
    pipeline = SkillAlignedSynthesizer(config, environment).pipeline
    blueprint = pipeline.blueprint(environment.tasks("train")[0])
    plans = [stages.plan.plan(blueprint, random.Random(seed)) for seed in range(200)]
    edits = [plan.edit for plan in plans]  # type: ignore[union-attr]
    assert 70 < edits.count("miss_func") < 130
    assert set(edits) == {"miss_func", None}
