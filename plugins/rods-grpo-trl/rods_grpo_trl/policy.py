"""The policy as the trainer sees it, and who can sample from it."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase
from transformers.utils.logging import disable_progress_bar
from trl.import_utils import is_vllm_available

from rods.errors import ConfigError
from rods_grpo_trl.config import GrpoConfig
from rods_grpo_trl.dialect import Dialect
from rods_grpo_trl.llama_cache import unsupported

disable_progress_bar()  # type: ignore[no-untyped-call]  # rods shows the progress


class Policy(Protocol):
    """What speaks and learns: ``TinyPolicy`` and ``ChatPolicy`` are the two there are."""

    @property
    def model(self) -> PreTrainedModel:
        """The model; a PEFT model if only an adapter is trained."""
        ...

    @property
    def tokenizer(self) -> PreTrainedTokenizerBase:
        """Its tokenizer, for TRL's padding and logs; the dialect has the last word on tokens."""
        ...

    @property
    def dialect(self) -> Dialect:
        """How messages become tokens."""
        ...

    @property
    def context(self) -> int:
        """Most tokens of prompt and completion together."""
        ...

    def save(self, folder: Path) -> None:
        """Write all that loading needs."""
        ...


def choose_generation(config: GrpoConfig, policy: Policy) -> str:
    """The backend that samples; ``auto``: the cache on a CPU, vLLM on a GPU, else transformers."""
    reason = unsupported(policy.model)
    if config.generation == "cached" and reason is not None:
        raise ConfigError(
            f"trainer.generation = 'cached' cannot sample from {config.model!r}: {reason}. "
            "Use 'auto' or 'transformers'."
        )
    if config.generation != "auto":
        return config.generation
    if reason is None and not torch.cuda.is_available():
        return "cached"
    return "vllm-colocate" if torch.cuda.is_available() and is_vllm_available() else "transformers"
