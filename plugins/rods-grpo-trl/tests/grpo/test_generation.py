"""Two ways to sample, one conversation."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from rods_grpo_trl.adapter import SeamTrainer
from rods_grpo_trl.config import GrpoConfig
from rods_grpo_trl.conversation import Conversation
from rods_grpo_trl.policy import choose_generation
from rods_grpo_trl.sampler import CachedSampler
from rods_grpo_trl.seeds import derive_seed
from rods_grpo_trl.trl_generation import TrlGenerator

from rods.episode import Episode
from rods.errors import ConfigError

from .fakes import LampDialect, LampWorld, lamp_policy


def talks() -> list[Conversation]:
    world = LampWorld()
    return [
        Conversation(Episode(world, task), LampDialect(), budget=20, message_budget=4)
        for task in (*world.tasks("train"), *world.tasks("eval"))
    ]


def test_both_samplers_say_the_same_when_they_always_take_the_likeliest(
    make_trl: Callable[..., SeamTrainer], tmp_path: Path
) -> None:
    trainer = make_trl(temperature=1e-4)
    by_trl, by_cache = talks(), talks()
    TrlGenerator(trainer, seed=0).run(by_trl)
    CachedSampler(trainer.model, LampDialect().eos_ids, temperature=0).run(by_cache)
    assert [t.completion_ids for t in by_trl] == [t.completion_ids for t in by_cache]
    assert [t.mask for t in by_trl] == [t.mask for t in by_cache]


def test_equal_seeds_repeat_the_samples_whatever_else_was_drawn(
    make_trl: Callable[..., SeamTrainer],
) -> None:
    trainer = make_trl()
    runs = []
    for seed in (1, 1, 2):
        torch.rand(3)
        conversations = talks()
        TrlGenerator(trainer, seed).run(conversations)
        runs.append([t.completion_ids for t in conversations])
    assert runs[0] == runs[1] != runs[2]


def test_sampling_leaves_the_random_state_as_it_was(
    make_trl: Callable[..., SeamTrainer],
) -> None:
    trainer = make_trl()
    torch.manual_seed(3)
    TrlGenerator(trainer, 1).run(talks())
    after = torch.rand(1)
    torch.manual_seed(3)
    assert torch.equal(torch.rand(1), after)


def test_a_rank_without_conversations_samples_nothing(
    make_trl: Callable[..., SeamTrainer],
) -> None:
    TrlGenerator(make_trl(), 1).run([])


def test_the_cache_samples_on_a_cpu_where_it_can(tmp_path: Path) -> None:
    policy: Any = lamp_policy(tmp_path)
    assert choose_generation(GrpoConfig(), policy) == "cached"
    policy.model.to(torch.bfloat16)
    assert choose_generation(GrpoConfig(), policy) == "transformers"
    with pytest.raises(ConfigError, match="cannot sample from 'tiny': its weights are"):
        choose_generation(GrpoConfig(generation="cached"), policy)


def test_seeds_depend_on_every_part() -> None:
    seeds = {derive_seed(*parts) for parts in ((1, 2), (12,), (2, 1), (1, "2", 0))}
    assert len(seeds) == 4
    assert derive_seed(1, "train", 7) == derive_seed(1, "train", 7) < 2**63
