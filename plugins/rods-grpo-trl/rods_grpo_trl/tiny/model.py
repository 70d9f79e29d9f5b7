"""The sizes of the tiny policy and its Llama."""

from __future__ import annotations

from typing import Literal

import torch
from pydantic import BaseModel, ConfigDict, Field
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from rods_grpo_trl.tiny.tokenizer import TokenizerKind

SizeName = Literal["office-1m", "bfcl-1m"]


class TinySize(BaseModel):
    """A policy's shape: tied embeddings, SwiGLU, rotary positions, fp32."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    hidden: int = Field(ge=8, description="Width; a multiple of 2 * heads.")
    layers: int = Field(ge=1)
    heads: int = Field(ge=1)
    kv_heads: int = Field(ge=1, description="Divides heads.")
    mlp: int = Field(ge=8, description="Width inside the MLP.")
    context: int = Field(ge=64, description="Prompt and completion together, in tokens.")
    vocabulary: int = Field(ge=272, description="Most tokens the tokenizer may have.")
    shown: int = Field(96, ge=1, description="Tokens of a tool's result that are shown.")
    tokenizer: TokenizerKind


SIZES: dict[SizeName, TinySize] = {
    # 0.9M parameters, fresh entities at every draw: learns to copy (vocabulary of one world)
    "office-1m": TinySize(
        hidden=128, layers=4, heads=4, kv_heads=4, mlp=352, context=256, vocabulary=640,
        tokenizer="syllables",
    ),
    # 1.0M parameters, a fixed set of tasks with long texts: learns by heart
    "bfcl-1m": TinySize(
        hidden=128, layers=4, heads=4, kv_heads=2, mlp=352, context=768, vocabulary=2048,
        shown=32, tokenizer="bpe",
    ),
}  # fmt: skip


def build_model(
    size: TinySize, tokenizer: PreTrainedTokenizerFast, eos_ids: frozenset[int], seed: int
) -> LlamaForCausalLM:
    """A Llama with random weights, the same for equal arguments, whatever was drawn before."""
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=size.hidden,
        num_hidden_layers=size.layers,
        num_attention_heads=size.heads,
        num_key_value_heads=size.kv_heads,
        intermediate_size=size.mlp,
        max_position_embeddings=size.context,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=sorted(eos_ids),
        pad_token_id=tokenizer.pad_token_id,
        dtype=torch.float32,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return LlamaForCausalLM(config)
