"""TRL's own trainer on an exported environment: two real steps with a tiny random model."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rods.serving.trl import NEXT, NOTE, trl_export
from rods.testing import FakeEnvironment
from rods.types import Task

pytest.importorskip("trl")
datasets = pytest.importorskip("datasets")

import torch  # noqa: E402
import trl  # noqa: E402
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers  # noqa: E402
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast  # noqa: E402

SPECIAL = ("<|im_start|>", "<|im_end|>", "<|endoftext|>")
TEMPLATE = Path(trl.__file__).parent / "chat_templates" / "qwen3_instruct_2507.jinja"


def tokenizer() -> PreTrainedTokenizerFast:
    """A few hundred pieces of the template that TRL ships, and its special tokens."""
    backend = Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=700, initial_alphabet=alphabet, show_progress=False)
    backend.train_from_iterator([TEMPLATE.read_text(), NOTE], trainer)
    made = PreTrainedTokenizerFast(
        tokenizer_object=backend,
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        additional_special_tokens=list(SPECIAL),
    )
    made.chat_template = TEMPLATE.read_text()
    return made


def model(words: PreTrainedTokenizerFast) -> LlamaForCausalLM:
    config = LlamaConfig(
        vocab_size=len(words),
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=1,
        num_attention_heads=1,
        num_key_value_heads=1,
        max_position_embeddings=4096,
        eos_token_id=words.eos_token_id,
        pad_token_id=words.pad_token_id,
        bos_token_id=None,
    )
    torch.manual_seed(0)
    return LlamaForCausalLM(config)


def script(task: Task) -> list[str]:
    """The reference as messages of a model, one call each."""

    def calls() -> Iterator[tuple[str, Any]]:
        for turn in task.turns:
            yield from ((call.name, call.arguments) for call in turn.reference)
            yield NEXT, {"message": "Done."}

    texts = [json.dumps({"name": name, "arguments": given}) for name, given in calls()]
    return [f"<tool_call>\n{text}\n</tool_call>" for text in texts] + ["Bye."]


class HalfScripted(trl.GRPOTrainer):
    """Every second rollout says the reference instead of what the model says."""

    says: list[str]

    def _generate_single_turn(self, prompt_ids: Any, *rest: Any, **options: Any) -> Any:
        histories = [self.processing_class.decode(ids) for ids in prompt_ids]
        heard = [len(re.findall("\n<tool_response>\n", text)) for text in histories]
        said, logprobs = [[]] * len(heard), None
        if not all(heard):  # the first message of a batch
            said, logprobs = super()._generate_single_turn(prompt_ids, *rest, **options)
        for index, answers in enumerate(heard):
            if answers or index % 2 == 0:
                text = f"{self.says[answers]}<|im_end|>"
                said[index] = self.processing_class.encode(text, add_special_tokens=False)
        return said, logprobs


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of the trainer's dependencies
def test_grpo_learns_from_the_rewards_of_the_environment(tmp_path: Path) -> None:
    world = FakeEnvironment()
    whole = world.tasks("train")[0]
    task = whole.model_copy(update={"turns": whole.turns[:2], "tools": whole.tools[:3]})
    export = trl_export(world, [task])
    words = tokenizer()
    trainer = HalfScripted(
        model=model(words),
        processing_class=words,
        train_dataset=datasets.Dataset.from_list(export.rows * 2),
        environment_factory=export.environment_factory,
        args=trl.GRPOConfig(
            output_dir=str(tmp_path),
            per_device_train_batch_size=4,
            num_generations=4,
            max_completion_length=1500,
            max_steps=2,
            learning_rate=1e-3,
            logging_steps=1,
            report_to=[],
            save_strategy="no",
            use_cpu=True,
        ),
    )
    trainer.says = script(task)
    trainer.generation_config.max_new_tokens = 8
    before = {name: weight.clone() for name, weight in trainer.model.named_parameters()}
    trainer.train()
    logs = [log for log in trainer.state.log_history if "loss" in log]
    assert len(logs) == 2
    for log in logs:  # two of four rollouts earn 1, the others 0
        assert log["rewards/fake/mean"] == 0.5
        assert log["reward_std"] > 0
        assert log["tools/failure_frequency"] == 0
        assert log["grad_norm"] > 0
    assert any((before[name] != w).any() for name, w in trainer.model.named_parameters())
