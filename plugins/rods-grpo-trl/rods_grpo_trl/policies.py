"""Where a policy comes from: warm-started, a folder, or any model that transformers can load."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import torch
from peft import LoraConfig, PeftModel, get_peft_model
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    GgufConfig,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)

from rods.errors import ConfigError, DataError
from rods.files import sync_folder, sync_tree
from rods.interfaces import Environment, RunFolder
from rods_grpo_trl.config import GrpoConfig, LoraOptions
from rods_grpo_trl.dialect import Dialect
from rods_grpo_trl.hf_chat import HfChatDialect
from rods_grpo_trl.policy import Policy
from rods_grpo_trl.quiet import quiet
from rods_grpo_trl.ranks import from_rank_zero
from rods_grpo_trl.reading import UNREADABLE
from rods_grpo_trl.seeds import derive_seed
from rods_grpo_trl.tiny import policy as tiny
from rods_grpo_trl.warm_start import warm_started

ADAPTER = "adapter_config.json"  # what marks a folder as a LoRA adapter's
INITIAL = "initial"  # the tiny policy that a run started from, in the run's folder


@dataclass(frozen=True, slots=True)
class ChatPolicy:
    """A language model that speaks through its own chat template."""

    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    dialect: Dialect
    context: int

    def save(self, folder: Path) -> None:
        """Write the model, or only its adapter if it has one, and the tokenizer."""
        self.model.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)


def limit_threads(config: GrpoConfig) -> None:
    """Torch keeps to the configured threads, unless OMP_NUM_THREADS says otherwise."""
    if config.cpu_threads and "OMP_NUM_THREADS" not in os.environ:
        torch.set_num_threads(config.cpu_threads)


def make(config: GrpoConfig, environment: Environment, run: RunFolder | None) -> Policy:
    """The policy that the configuration names; the tiny one is kept in the run's folder."""
    if not config.tiny:
        return load_chat(config.model, config, seed=_seed(config, run))
    if run is None:
        return warm_started(environment)
    folder = run.path / INITIAL
    from_rank_zero(lambda: _keep_initial(environment, run, folder))
    return tiny.load(folder, environment.tools())  # by its path: TRL and vLLM load it from there


def _keep_initial(environment: Environment, run: RunFolder, folder: Path) -> None:
    """The tiny policy lies in ``folder`` as its warm start leaves it; transformers saves a model
    on rank 0 only, so that is where this runs."""
    if not tiny.is_tiny(folder):
        fresh = warm_started(
            environment,
            progress=lambda step, steps, loss: run.progress("warm start", step, steps),
        )
        _save_whole(fresh, folder)


def load(folder: Path, environment: Environment, config: GrpoConfig) -> Policy:
    """The policy in a folder: a tiny one, a model's, or an adapter's, which is merged."""
    if tiny.is_tiny(folder):
        return tiny.load(folder, environment.tools())
    if not (folder / ADAPTER).is_file():
        return load_chat(str(folder), config.model_copy(update={"lora": None}))
    try:
        base = json.loads((folder / ADAPTER).read_text())["base_model_name_or_path"]
        policy = load_chat(str(base), config.model_copy(update={"lora": None}))
        with quiet():
            merged = PeftModel.from_pretrained(policy.model, str(folder)).merge_and_unload()
    except UNREADABLE as error:
        raise DataError(f"Cannot load the adapter in {folder}: {error}.") from error
    return ChatPolicy(merged, policy.tokenizer, policy.dialect, policy.context)


def load_chat(name: str, config: GrpoConfig, *, seed: int = 0) -> ChatPolicy:
    """A model of the hub, of a folder or of a GGUF file, with its template as the dialect."""
    tokenizer, model = _from_pretrained(name, config)
    tokenizer.padding_side = "left"
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    dialect = chat_dialect(tokenizer, config, _ids(model.generation_config.eos_token_id))
    model.generation_config.eos_token_id = sorted(dialect.eos_ids)
    context = int(getattr(model.config.get_text_config(), "max_position_embeddings", config.budget))
    adapted = _with_adapter(model, config.lora, seed) if config.lora else model
    return ChatPolicy(adapted, tokenizer, dialect, context)


def chat_dialect(
    tokenizer: PreTrainedTokenizerBase, config: GrpoConfig, extra_eos: Sequence[int] = ()
) -> HfChatDialect:
    """The model's chat template as a dialect, or the one that the configuration names."""
    return HfChatDialect(
        tokenizer,
        chat_template=_template(config.chat_template),
        template_kwargs=config.chat_template_kwargs,
        extra_eos=extra_eos,
    )


def _template(name: str | None) -> str | None:
    if name is None:
        return None
    try:
        return Path(name).expanduser().read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(
            f"trainer.chat_template = {name!r} cannot be read: {error.strerror}. Name a Jinja file."
        ) from error


def _ids(given: int | list[int] | None) -> list[int]:
    return [given] if isinstance(given, int) else list(given or ())


def dtype_of(config: GrpoConfig) -> torch.dtype:
    """The type of the weights; ``auto`` is bfloat16 where there is a GPU."""
    if config.dtype == "auto":
        return torch.bfloat16 if torch.cuda.is_available() else torch.float32
    dtype: torch.dtype = getattr(torch, config.dtype)
    return dtype


def _from_pretrained(
    name: str, config: GrpoConfig
) -> tuple[PreTrainedTokenizerBase, PreTrainedModel]:
    options: dict[str, Any] = dict(config.grpo.get("model_init_kwargs") or {})
    options.setdefault("trust_remote_code", bool(config.grpo.get("trust_remote_code", False)))
    path, gguf = _gguf(name)
    try:
        tokenizer = AutoTokenizer.from_pretrained(path, **gguf)
        if gguf:  # quantised weights could be neither trained nor saved
            options["quantization_config"] = GgufConfig(dequantize=True)
        model = AutoModelForCausalLM.from_pretrained(
            path, dtype=dtype_of(config), **gguf, **options
        )
        model.name_or_path = name  # an adapter writes down what it was trained on
    except (*UNREADABLE, ImportError) as error:
        raise DataError(
            f"Cannot load the model {name!r}: {error}. Download it with "
            f"`hf download {name}`, or name a folder that holds it."
        ) from error
    return tokenizer, model


def _gguf(name: str) -> tuple[str, dict[str, str]]:
    if not name.endswith(".gguf"):
        return name, {}
    path = Path(name).expanduser()
    return str(path.parent), {"gguf_file": path.name}


def _with_adapter(model: PreTrainedModel, lora: LoraOptions, seed: int) -> PreTrainedModel:
    """The model with a new adapter whose random part is a function of the seed."""
    targets = lora.target_modules
    config = LoraConfig(
        r=lora.r,
        lora_alpha=lora.alpha,
        lora_dropout=lora.dropout,
        target_modules=targets if isinstance(targets, str) else list(targets),
        task_type="CAUSAL_LM",
    )
    with torch.random.fork_rng(), quiet():
        torch.manual_seed(derive_seed(seed, "lora"))
        return cast(PreTrainedModel, get_peft_model(model, config))


def _save_whole(policy: tiny.TinyPolicy, folder: Path) -> None:
    """The policy is in ``folder``, complete or not at all; a second rank finds it there."""
    part = folder.with_name(f"{folder.name}.part-{os.getpid()}")
    part.mkdir(parents=True)
    policy.save(part)
    sync_tree(part)
    try:
        part.rename(folder)
    except OSError:  # another rank was first
        shutil.rmtree(part)
        if not tiny.is_tiny(folder):
            raise
    sync_folder(folder.parent)


def _seed(config: GrpoConfig, run: RunFolder | None) -> int:
    if config.seed is not None:
        return config.seed
    return run.seed if run is not None else 0
