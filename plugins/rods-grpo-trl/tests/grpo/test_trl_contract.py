"""The private names and behaviours of TRL and transformers that the adapter stands on.

A failure here says what moved; ``rods_grpo_trl/adapter.py`` is the only module to change.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from importlib.metadata import version

import pytest
import torch
import trl.trainer.utils
from packaging.version import Version
from rods_grpo_trl import adapter
from rods_grpo_trl.adapter import SeamTrainer
from transformers import Trainer, TrainerCallback
from trl.trainer.grpo_trainer import GRPOTrainer

from .fakes import WORDS


def parameters(function: object) -> list[str]:
    assert callable(function)
    return list(inspect.signature(function).parameters)


def test_the_version_is_the_one_this_was_written_for() -> None:
    assert Version("1.16") <= Version(version("trl")) < Version("1.17")


@pytest.mark.parametrize(
    ("owner", "name", "wanted"),
    [
        (GRPOTrainer, "_compute_loss", ["self", "model", "inputs"]),
        (GRPOTrainer, "_save_checkpoint", ["self", "model", "trial"]),
        (GRPOTrainer, "_get_train_sampler", ["self", "dataset"]),
        (
            GRPOTrainer,
            "_get_per_token_logps_and_entropies",
            ["self", "model", "input_ids", "attention_mask", "logits_to_keep", "batch_size"],
        ),
        (
            GRPOTrainer,
            "_generate_single_turn",
            ["self", "prompt_ids", "images", "multimodal_fields", "num_generations"],
        ),
        (
            Trainer,
            "_get_dataloader",
            ["self", "dataset", "description", "batch_size", "sampler_fn", "is_training"],
        ),
        (trl.trainer.utils, "_use_triton", ["device"]),
    ],
)
def test_what_is_overridden_or_called_takes_these_arguments(
    owner: object, name: str, wanted: list[str]
) -> None:
    assert parameters(getattr(owner, name))[: len(wanted)] == wanted


def test_the_trainer_has_what_the_adapter_reads(make_trl: Callable[..., SeamTrainer]) -> None:
    trainer = make_trl()
    for name in (
        "_entropy_bonus_enabled",
        "_train_batch_size",
        "accelerator",
        "aux_loss_enabled",
        "eos_token_ids",
        "num_iterations",
        "top_entropy_quantile",
        "use_vllm",
        "vllm_mode",
        "vllm_tensor_parallel_size",
    ):
        assert hasattr(trainer, name), name
    assert trainer.generation_config.max_new_tokens == trainer.max_completion_length
    assert "_last_loaded_step" in inspect.getsource(GRPOTrainer)
    assert not adapter.needs_lockstep(trainer)


def test_a_rollout_function_gets_prompts_and_the_trainer_and_its_mask_is_popped() -> None:
    source = inspect.getsource(GRPOTrainer._generate)
    assert "self.rollout_func(prompts, self)" in source
    assert 'extra_fields.pop("env_mask", None)' in source


def test_generation_ends_at_an_end_token_or_at_the_message_budget(
    make_trl: Callable[..., SeamTrainer],
) -> None:
    trainer = make_trl()
    before = trainer.generation_config.max_new_tokens
    torch.manual_seed(0)
    ids, logprobs = adapter.generate(trainer, [[1, 8, 3]] * 24, 3)
    stop = WORDS.index(".")
    assert logprobs is None
    assert all(1 <= len(row) <= 3 and stop not in row[:-1] for row in ids)
    assert all(row[-1] == stop for row in ids if len(row) < 3)
    assert trainer.generation_config.max_new_tokens == before


def test_only_labelled_positions_are_scored_inside_a_loss(
    make_trl: Callable[..., SeamTrainer],
) -> None:
    trainer = make_trl()
    ids = torch.tensor([[1, 8, 3, 8, 4]])
    labels = torch.tensor([[-100, -100, -100, 8, -100]])
    whole = trainer.model(input_ids=ids, labels=ids, fused_lm_head=True).log_probs.detach()
    with adapter._head_on_labels(torch.device("cpu")):
        some = trainer.model(input_ids=ids, labels=labels, fused_lm_head=True).log_probs.detach()
    assert float(some[0, 2]) == pytest.approx(float(whole[0, 2]), rel=1e-5)
    assert some[0, [0, 1, 3]].tolist() == [0.0, 0.0, 0.0]


def test_a_callback_put_first_can_add_to_what_later_ones_log(
    make_trl: Callable[..., SeamTrainer],
) -> None:
    seen = []

    class Adds(TrainerCallback):
        def on_log(self, *_: object, logs: dict[str, float], **__: object) -> None:
            logs["pool/active"] = 3.0

    class Sees(TrainerCallback):
        def on_log(self, *_: object, logs: dict[str, float], **__: object) -> None:
            seen.append(dict(logs))

    trainer = make_trl()
    trainer.add_callback(Sees())
    adapter.put_first(trainer, Adds())
    trainer.log({"loss": 1.0})
    assert seen[-1]["pool/active"] == 3.0
