"""The cached sampler is the model's own forward pass, only faster."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
import torch
from rods_grpo_trl.conversation import Conversation
from rods_grpo_trl.llama_cache import LlamaCache, unsupported
from rods_grpo_trl.sampler import CachedSampler
from rods_grpo_trl.tiny.corpus import read_corpus
from rods_grpo_trl.tiny.model import TinySize
from rods_grpo_trl.tiny.policy import TinyPolicy, untrained
from transformers import LlamaConfig, LlamaForCausalLM

from rods.episode import Episode
from rods.interfaces import Environment

SIZE = TinySize(
    hidden=32, layers=2, heads=4, kv_heads=2, mlp=48, context=96, vocabulary=320,
    tokenizer="syllables",
)  # fmt: skip


@pytest.fixture
def policy(notes: Environment) -> TinyPolicy:
    made = untrained(notes, read_corpus(notes, 0, 40), SIZE, seed=0)
    with torch.no_grad():
        for parameter in made.model.parameters():
            parameter.mul_(3)  # sharper than an initialisation, so that greedy choices are clear
    return made


def conversations(policy: TinyPolicy, notes: Environment, k: int = 3) -> list[Conversation]:
    return [
        Conversation(Episode(notes, task), policy.dialect, budget=policy.context, message_budget=9)
        for task in notes.tasks("train")
        for _ in range(k)
    ]


def sampled(policy: TinyPolicy, notes: Environment, temperature: float = 1.0, seed: int = 1,
            max_rows: int = 128) -> list[Conversation]:  # fmt: skip
    played = conversations(policy, notes)
    CachedSampler(
        policy.model, policy.dialect.eos_ids, temperature=temperature,
        generator=torch.Generator().manual_seed(seed), max_rows=max_rows,
    ).run(played)  # fmt: skip
    return played


def logits(model: LlamaForCausalLM, ids: Sequence[int]) -> torch.Tensor:
    with torch.no_grad():
        found: torch.Tensor = model(input_ids=torch.tensor([list(ids)])).logits[0]
    return found


@pytest.mark.parametrize("kv_heads", [4, 2, 1])
def test_logits_equal_the_models_own_for_ragged_chunks(kv_heads: int) -> None:
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=90, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=kv_heads, intermediate_size=48, max_position_embeddings=128,
    )  # fmt: skip
    model, rng = LlamaForCausalLM(config), random.Random(0)
    fed: list[list[int]] = [[] for _ in range(6)]
    cache = LlamaCache(model, 6, 128)
    for turn in range(24):
        if turn == 8:  # two rows are finished
            cache.keep([0, 2, 3, 5])
            fed = [fed[i] for i in (0, 2, 3, 5)]
        rows = rng.sample(range(len(fed)), rng.randint(1, len(fed)))
        chunks = [[rng.randrange(90) for _ in range(rng.choice([1, 1, 2, 5]))] for _ in rows]
        with torch.no_grad():
            got = cache.feed(rows, chunks)
        for row, chunk, one in zip(rows, chunks, got, strict=True):
            fed[row] += chunk
            torch.testing.assert_close(one, logits(model, fed[row])[-1], atol=1e-5, rtol=1e-5)


def assert_logprobs_of_model(policy: TinyPolicy, played: Sequence[Conversation]) -> None:
    for c in played:
        ids = c.prompt_ids + c.completion_ids
        expected = torch.log_softmax(logits(policy.model, ids), -1)
        for at, (said, logprob) in enumerate(zip(c.mask, c.logprobs, strict=True)):
            place = len(c.prompt_ids) + at
            if said:
                assert logprob == pytest.approx(expected[place - 1, ids[place]].item(), abs=1e-4)


def test_log_probabilities_are_those_of_the_tokens_sampled(
    policy: TinyPolicy, notes: Environment
) -> None:
    assert_logprobs_of_model(policy, sampled(policy, notes))


def test_an_update_of_the_model_is_seen_at_once(policy: TinyPolicy, notes: Environment) -> None:
    sampler = CachedSampler(policy.model, policy.dialect.eos_ids)
    sampler.run(conversations(policy, notes))
    with torch.no_grad():
        for parameter in policy.model.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    played = conversations(policy, notes)
    sampler.run(played)
    assert_logprobs_of_model(policy, played)


def test_greedy_messages_equal_generate(policy: TinyPolicy, notes: Environment) -> None:
    for c in sampled(policy, notes, temperature=0):
        first = c.mask.index(0) if 0 in c.mask else len(c.mask)
        with torch.no_grad():
            out = policy.model.generate(
                torch.tensor([c.prompt_ids]), do_sample=False, max_new_tokens=first,
                eos_token_id=sorted(policy.dialect.eos_ids), pad_token_id=0,
                attention_mask=torch.ones(1, len(c.prompt_ids), dtype=torch.long),
            )  # fmt: skip
        assert out[0, len(c.prompt_ids) :].tolist() == c.completion_ids[:first]


def test_tokens_are_drawn_from_the_policy(policy: TinyPolicy, notes: Environment) -> None:
    """Mean surprise of sampled tokens equals the mean entropy, within its error."""
    gaps = []
    for c in [c for seed in range(4) for c in sampled(policy, notes, seed=seed)]:
        ids = c.prompt_ids + c.completion_ids
        rows = torch.log_softmax(logits(policy.model, ids), -1)
        entropy = -(rows.exp() * rows).sum(-1)
        for at, (said, logprob) in enumerate(zip(c.mask, c.logprobs, strict=True)):
            if said:
                gaps.append(-logprob - entropy[len(c.prompt_ids) + at - 1].item())
    error = torch.tensor(gaps).std() / len(gaps) ** 0.5
    assert abs(sum(gaps) / len(gaps)) < 4 * error


def test_equal_seeds_give_equal_rollouts(policy: TinyPolicy, notes: Environment) -> None:
    first, second, other = (sampled(policy, notes, seed=s) for s in (1, 1, 2))
    assert [c.completion_ids for c in first] == [c.completion_ids for c in second]
    assert [c.completion_ids for c in first] != [c.completion_ids for c in other]


def test_small_batches_give_the_same_greedy_rollouts(
    policy: TinyPolicy, notes: Environment
) -> None:
    whole, parts = (sampled(policy, notes, temperature=0, max_rows=n) for n in (128, 5))
    assert [c.completion_ids for c in whole] == [c.completion_ids for c in parts]


def test_every_conversation_is_played_to_its_end(policy: TinyPolicy, notes: Environment) -> None:
    for c in sampled(policy, notes):
        assert c.done
        assert len(c.prompt_ids) + len(c.completion_ids) <= policy.context


def test_a_model_it_cannot_sample_from_is_named(policy: TinyPolicy) -> None:
    assert unsupported(policy.model) is None
    half = policy.model.bfloat16()
    with pytest.raises(ValueError, match=r"bfloat16 on cpu, not fp32"):
        CachedSampler(half, policy.dialect.eos_ids)
