"""TRL's trainer around the lamp policy, made once where a test only looks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from rods_grpo_trl.adapter import SeamTrainer
from rods_grpo_trl.grpo_args import grpo_config

from .fakes import lamp_config, lamp_policy


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def make_trl(tmp_path: Path) -> Callable[..., SeamTrainer]:
    """TRL's trainer with the lamp policy and some options."""

    def make(skip_flat_groups: bool = True, **options: Any) -> SeamTrainer:
        policy = lamp_policy(tmp_path / "policy")
        config = lamp_config(**options)
        args = grpo_config(
            config,
            tmp_path / "output",
            seed=0,
            generation="transformers",
            eos_ids=policy.dialect.eos_ids,
        )
        return SeamTrainer(policy.model, args, policy.tokenizer, skip_flat_groups=skip_flat_groups)

    return make
