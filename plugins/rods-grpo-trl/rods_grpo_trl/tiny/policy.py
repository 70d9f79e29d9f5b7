"""The tiny policy as one thing: model, tokenizer and dialect, in memory and in a folder."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from transformers import LlamaForCausalLM, PreTrainedTokenizerFast

from rods.errors import DataError
from rods.interfaces import Environment
from rods.types import ToolSpec
from rods_grpo_trl.compact import CompactDialect
from rods_grpo_trl.reading import UNREADABLE
from rods_grpo_trl.tiny.corpus import Corpus
from rods_grpo_trl.tiny.model import SizeName, TinySize, build_model
from rods_grpo_trl.tiny.tokenizer import learn_tokenizer

CARD = "rods_tiny.json"  # what marks a folder as a tiny policy's


@dataclass(frozen=True, slots=True)
class TinyPolicy:
    """A Llama of 1-2 million parameters that speaks the compact dialect of one environment."""

    model: LlamaForCausalLM
    tokenizer: PreTrainedTokenizerFast
    dialect: CompactDialect
    card: Mapping[str, Any]  # where it comes from: size, environment, warm start

    @property
    def context(self) -> int:
        """Most tokens of prompt and completion together."""
        return int(self.model.config.max_position_embeddings)

    def save(self, folder: Path) -> None:
        """Write all that ``load`` needs."""
        self.model.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)
        (folder / CARD).write_text(json.dumps(dict(self.card), indent=1) + "\n")


def is_tiny(folder: Path) -> bool:
    """``folder`` holds a policy that ``TinyPolicy.save`` wrote."""
    return (folder / CARD).is_file()


def load(folder: Path, tools: Mapping[str, ToolSpec]) -> TinyPolicy:
    """The policy in ``folder``, for the environment whose tools are ``tools``."""
    try:
        card = json.loads((folder / CARD).read_text())
        tokenizer = PreTrainedTokenizerFast.from_pretrained(folder)
        model = LlamaForCausalLM.from_pretrained(folder, dtype=torch.float32)
        shown = TinySize(**card["size"]).shown
    except UNREADABLE as error:
        raise DataError(
            f"{folder} holds no tiny policy that can be read: {error}. Name a folder that "
            "'rods run' wrote, or delete it if it is a cache."
        ) from error
    dialect = CompactDialect(tokenizer, tools, max_shown=shown)
    return TinyPolicy(model, tokenizer, dialect, card)


def choose_size(corpus: Corpus) -> SizeName:
    """The size that fits: tasks with fresh entities are to be copied, few tasks are remembered."""
    return "office-1m" if corpus.fresh else "bfcl-1m"


def untrained(environment: Environment, corpus: Corpus, size: TinySize, seed: int) -> TinyPolicy:
    """A policy whose tokenizer knows the corpus and whose weights are random."""
    tokenizer = learn_tokenizer(size.tokenizer, corpus.texts, corpus.values, size.vocabulary)
    dialect = CompactDialect(tokenizer, environment.tools(), max_shown=size.shown)
    model = build_model(size, tokenizer, dialect.eos_ids, seed)
    card = {"environment": environment.name, "size": size.model_dump(), "seed": seed}
    return TinyPolicy(model, tokenizer, dialect, card)
