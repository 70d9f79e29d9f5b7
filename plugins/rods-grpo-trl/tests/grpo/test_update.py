"""Our update is TRL's update: packing and skipping change the work, not the gradient."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from rods_grpo_trl.adapter import SeamTrainer
from rods_grpo_trl.flat_groups import rows_with_signal, sampled_only, with_signal
from rods_grpo_trl.packing import packs, unpack
from torch import Tensor
from trl.trainer.grpo_trainer import GRPOTrainer

from .fakes import WORDS

LOSSES = ("dapo", "grpo", "dr_grpo", "bnpo", "cispo", "sapo", "luspo", "vespo")


def batch(rows: int = 6, flat: tuple[int, ...] = (), seed: int = 0, **extra: Tensor) -> Any:
    """Rows of unequal prompts and completions, padded as TRL pads them."""
    rng = torch.Generator().manual_seed(seed)
    prompts = torch.randint(1, 6, (rows,), generator=rng)
    completions = torch.randint(2, 9, (rows,), generator=rng)
    p, c = int(prompts.max()) + 1, int(completions.max()) + 2
    advantages = torch.randn(rows, generator=rng)
    advantages[list(flat)] = 0.0
    completion_mask = (torch.arange(c)[None] < completions[:, None]).long()
    tool_mask = torch.randint(0, 2, (rows, c), generator=rng)
    tool_mask[:, 0] = 1
    return {
        "prompt_ids": torch.randint(1, len(WORDS), (rows, p), generator=rng),
        "prompt_mask": (torch.arange(p)[None] >= p - prompts[:, None]).long(),
        "completion_ids": torch.randint(1, len(WORDS), (rows, c), generator=rng),
        "completion_mask": completion_mask,
        "tool_mask": tool_mask,
        "advantages": advantages,
        "num_items_in_batch": (completion_mask * tool_mask).sum(),
        **extra,
    }


def gradient(trainer: SeamTrainer, inputs: Any, plain: bool) -> tuple[float, Tensor]:
    """The loss and its gradient, by TRL's own code or through the seam."""
    trainer.model.train()
    trainer.model.zero_grad()
    trainer.current_gradient_accumulation_steps = 1
    compute = GRPOTrainer._compute_loss if plain else SeamTrainer._compute_loss
    loss = compute(trainer, trainer.model, dict(inputs))
    loss.backward()
    parts = [p.grad.flatten() for p in trainer.model.parameters() if p.grad is not None]
    return float(loss.detach()), torch.cat(parts)


def assert_equal(trainer: SeamTrainer, inputs: Any) -> Tensor:
    loss, grad = gradient(trainer, inputs, plain=False)
    wanted_loss, wanted = gradient(trainer, inputs, plain=True)
    assert math.isclose(loss, wanted_loss, rel_tol=1e-4, abs_tol=1e-6)
    torch.testing.assert_close(grad, wanted, rtol=1e-3, atol=1e-6)
    return wanted


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize("loss", LOSSES)
def test_the_gradient_is_trls(make_trl: Callable[..., SeamTrainer], loss: str) -> None:
    level = {"grpo": {"importance_sampling_level": "sequence"}} if loss == "luspo" else {}
    trainer = make_trl(loss_type=loss, **level)
    assert trainer.skip_flat_groups
    assert float(assert_equal(trainer, batch(flat=(1, 4))).abs().max()) > 0


def test_the_gradient_is_trls_with_a_reference_and_old_log_probabilities(
    make_trl: Callable[..., SeamTrainer],
) -> None:
    trainer = make_trl(beta=0.1)
    assert not trainer.skip_flat_groups
    inputs = batch(flat=(2,))
    shape = inputs["completion_ids"].shape
    inputs["ref_per_token_logps"] = -2.0 - torch.rand(shape)
    inputs["old_per_token_logps"] = -2.0 - torch.rand(shape)
    assert_equal(trainer, inputs)


def test_a_ratio_that_would_overflow_outside_of_samples_does_no_harm(
    make_trl: Callable[..., SeamTrainer],
) -> None:
    inputs = batch()
    shape = inputs["completion_ids"].shape
    shown = (inputs["completion_mask"] * inputs["tool_mask"]) == 0
    inputs["old_per_token_logps"] = torch.full(shape, -2.4).masked_fill(shown, -500.0)
    loss, grad = gradient(make_trl(), inputs, plain=False)
    assert math.isfinite(loss)
    assert bool(grad.isfinite().all())


def test_a_batch_without_any_advantage_has_a_gradient_of_zero(
    make_trl: Callable[..., SeamTrainer],
) -> None:
    loss, grad = gradient(make_trl(), batch(flat=tuple(range(6))), plain=False)
    assert loss == 0.0
    assert float(grad.abs().max()) == 0.0


def test_rows_without_advantage_are_left_out_and_their_padding_too() -> None:
    rows, scale = with_signal(batch(flat=(0, 1, 2, 3)), "grpo", keep=2)
    assert len(rows["advantages"]) == 2
    assert bool((rows["advantages"] != 0).all())
    assert scale == pytest.approx(2 / 6)
    assert rows["completion_ids"].size(1) == int(rows["completion_mask"].sum(1).max())
    assert rows["prompt_ids"].size(1) == int(rows["prompt_mask"].sum(1).max())


def test_a_rank_keeps_as_many_rows_as_the_one_with_most() -> None:
    inputs = batch(flat=(0, 1, 2, 3))
    assert rows_with_signal(inputs) == 2
    rows, _ = with_signal(inputs, "grpo", keep=5)
    assert len(rows["advantages"]) == 5
    assert int((rows["advantages"] != 0).sum()) == 2


@given(seed=st.integers(0, 1000), parts=st.integers(1, 7))
def test_every_sampled_token_is_scored_in_its_own_context(seed: int, parts: int) -> None:
    """The score of a token here: a hash of all tokens up to it, which padding must not enter."""
    inputs = batch(seed=seed)
    inputs, scored = sampled_only(inputs)
    ids = torch.cat([inputs["prompt_ids"], inputs["completion_ids"]], 1)
    attention = torch.cat([inputs["prompt_mask"], inputs["completion_mask"]], 1)
    found = []
    for pack in packs(ids, attention, scored, parts):
        running = (pack.ids * pack.attention * 7).cumsum(1)[:, 1:]
        found.append((pack, running.masked_fill(pack.unscored[:, 1:], 0)))
    whole = (ids * attention * 7).cumsum(1)[:, inputs["prompt_ids"].size(1) :]
    assert torch.equal(unpack(found) * scored, whole * scored)
    assert sum(int((~pack.unscored).sum()) for pack, _ in found) == int(scored.sum())
