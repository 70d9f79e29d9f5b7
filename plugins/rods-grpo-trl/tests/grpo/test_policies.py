"""Where a policy comes from, with a chat model of a few thousand parameters."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from rods_grpo_trl import policies
from rods_grpo_trl.config import GrpoConfig
from rods_grpo_trl.policies import ChatPolicy
from rods_grpo_trl.tiny import policy as tiny
from rods_grpo_trl.tiny.corpus import read_corpus
from rods_grpo_trl.tiny.model import TinySize
from rods_grpo_trl.trainer import GrpoTrainer
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from rods.errors import ConfigError, DataError
from rods.testing import FakeEnvironment

from .fakes import LampCurriculum, LampRun, LampWorld, weights_of

SPECIALS = ("<pad>", "<|im_start|>", "<|im_end|>")
LORA = {"r": 4, "alpha": 8, "target_modules": ("q_proj", "v_proj")}


@pytest.fixture(scope="module")
def chat_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A byte-level ChatML model in a folder, with random weights and no template of its own."""
    folder = tmp_path_factory.mktemp("chat")
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {token: i for i, token in enumerate([*SPECIALS, *alphabet])}
    backend = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    backend.decoder = decoders.ByteLevel()
    tokenizer: Any = PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=backend, pad_token="<pad>", eos_token="<|im_end|>"
    )
    tokenizer.add_special_tokens({"additional_special_tokens": ["<|im_start|>"]})
    tokenizer.save_pretrained(folder)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=2048,
        bos_token_id=None,
        eos_token_id=vocabulary["<|im_end|>"],
        pad_token_id=0,
    )
    torch.manual_seed(0)
    LlamaForCausalLM(config).save_pretrained(folder)
    return folder


def options(model: Path, **more: Any) -> GrpoConfig:
    small = {"group_size": 2, "prompts_per_step": 2, "message_budget": 6, "save_every": 1}
    lengths = {"max_prompt_length": 1900, "max_completion_length": 100}
    return GrpoConfig(model=str(model), **{**small, **lengths, "micro_batch_size": 4, **more})


def test_a_chat_model_ends_its_messages_where_its_template_does(chat_model: Path) -> None:
    policy = policies.load_chat(str(chat_model), options(chat_model))
    assert policy.context == 2048
    assert policy.model.generation_config.eos_token_id == [2]
    assert policy.dialect.eos_ids == frozenset({2})
    assert policy.tokenizer.padding_side == "left"


def test_a_model_that_is_not_there_names_the_command_that_fetches_it() -> None:
    with pytest.raises(DataError, match="hf download"):
        policies.load_chat("./no/model", options(Path("./no/model")))


def test_a_template_file_that_cannot_be_read_is_named(chat_model: Path) -> None:
    config = options(chat_model, chat_template="./no.jinja")
    with pytest.raises(ConfigError, match="cannot be read: No such file"):
        policies.load_chat(str(chat_model), config)


def test_equal_seeds_give_equal_adapters(chat_model: Path) -> None:
    config = options(chat_model, lora=LORA)
    made = [policies.load_chat(str(chat_model), config, seed=seed).model for seed in (1, 1, 2)]
    first, again, other = (weights_of(model) for model in made)
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


def test_an_adapter_trains_resumes_and_is_merged_when_it_is_loaded(
    chat_model: Path, tmp_path: Path
) -> None:
    world, config = LampWorld(), options(chat_model, lora=LORA, learning_rate=1e-2)
    for resume in (False, True):
        trainer, run = GrpoTrainer(config), LampRun(tmp_path, resume=resume)
        trainer.prepare(world, world.tasks("train"), run)
        curriculum = LampCurriculum(2, 2 + 2 * resume, folder=tmp_path / "pool")
        trainer.train(curriculum, world, run)
        assert curriculum.rewound == ([2] if resume else [])
    tasks = world.tasks("eval")
    trained = trainer.evaluate(tasks, world, k=2, seed=1)
    trainer.save(tmp_path / "saved")
    assert (tmp_path / "saved" / "adapter_config.json").is_file()
    other = GrpoTrainer(config)
    other.load(tmp_path / "saved")
    loaded = other.evaluate(tasks, world, k=2, seed=1)
    assert [group.rollouts for group in loaded] == [
        tuple(r.model_copy(update={"policy_version": 0}) for r in group.rollouts)
        for group in trained
    ]
    merged = policies.load(tmp_path / "saved", world, config)
    assert isinstance(merged, ChatPolicy)
    assert not hasattr(merged.model, "peft_config")


def test_a_run_keeps_the_tiny_policy_that_it_started_from(tmp_path: Path) -> None:
    world, run = FakeEnvironment(), LampRun(tmp_path)
    size = TinySize(
        hidden=16, layers=1, heads=2, kv_heads=2, mlp=16, context=64, vocabulary=400,
        tokenizer="bpe",
    )  # fmt: skip
    started = tiny.untrained(world, read_corpus(world, 0, size=20), size, seed=7)
    policies._save_whole(started, tmp_path / policies.INITIAL)
    made = policies.make(GrpoConfig(), world, run)  # no warm start: it is there
    assert torch.equal(weights_of(made.model), weights_of(started.model))
    assert made.model.name_or_path == str(tmp_path / policies.INITIAL)
    again = policies.load(tmp_path / policies.INITIAL, world, GrpoConfig())
    assert torch.equal(weights_of(again.model), weights_of(started.model))
