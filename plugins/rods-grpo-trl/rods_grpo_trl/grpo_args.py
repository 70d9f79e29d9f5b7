"""From our options to ``trl.GRPOConfig``: every key is checked, none is silently lost."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from trl.trainer.grpo_config import GRPOConfig

from rods.errors import ConfigError, did_you_mean
from rods_grpo_trl.config import GrpoConfig

# Options of TRL that are ours to set -> what to set instead.
OURS: Mapping[str, str] = {
    "beta": "trainer.beta",
    "chat_template_kwargs": "trainer.chat_template_kwargs",
    "ddp_timeout": "trainer.ddp_timeout_s",
    "generation_batch_size": "trainer.prompts_per_step and trainer.group_size",
    "gradient_accumulation_steps": "trainer.prompts_per_step and trainer.micro_batch_size",
    "activation_checkpointing": "trainer.gradient_checkpointing",
    "gradient_checkpointing": "trainer.gradient_checkpointing",
    "hub_token": "the variable HF_TOKEN: settings are kept in the run's folder",
    "learning_rate": "trainer.learning_rate",
    "loss_type": "trainer.loss_type",
    "lr_scheduler_type": "trainer.lr_schedule",
    "max_completion_length": "trainer.max_completion_length",
    "max_steps": "curriculum.epoch_size and curriculum.stages",
    "max_tool_calling_iterations": "trainer.limits.max_steps_per_turn",
    "num_generations": "trainer.group_size",
    "num_train_epochs": "curriculum.stages",
    "output_dir": "the run's folder",
    "per_device_train_batch_size": "trainer.micro_batch_size",
    "report_to": "trainer.report_to",
    "save_steps": "trainer.save_every",
    "save_total_limit": "trainer.save_total_limit",
    "seed": "trainer.seed",
    "steps_per_generation": "trainer.prompts_per_step",
    "temperature": "trainer.temperature",
    "use_vllm": "trainer.generation",
    "vllm_enable_sleep_mode": "trainer.vllm.sleep_mode",
    "vllm_gpu_memory_utilization": "trainer.vllm.gpu_memory_utilization",
    "vllm_max_model_length": "trainer.vllm.max_model_length",
    "vllm_mode": "trainer.generation",
    "vllm_server_base_url": "trainer.vllm.server_url",
    "vllm_server_host": "trainer.vllm.server_host",
    "vllm_server_port": "trainer.vllm.server_port",
    "vllm_server_timeout": "trainer.vllm.server_timeout_s",
    "vllm_tensor_parallel_size": "trainer.vllm.tensor_parallel_size",
}

# Options that would break the seam, unless they have this value -> why.
FIXED: Mapping[str, tuple[Any, str]] = {
    "auto_find_batch_size": (False, "a step holds whole groups"),
    "dataloader_num_workers": (0, "the tasks live in this process and change between epochs"),
    "disable_tqdm": (True, "rods shows the progress"),
    "enable_jit_checkpoint": (False, "checkpoints are written at fixed steps"),
    "eval_on_start": (False, "rods evaluates, see the table [evaluation]"),
    "eval_strategy": ("no", "rods evaluates, see the table [evaluation]"),
    "ignore_data_skip": (False, "a resumed run goes on where it stopped"),
    "load_best_model_at_end": (False, "rods evaluates the last policy"),
    "logging_steps": (1, "every step is reported"),
    "logging_strategy": ("steps", "every step is reported"),
    "remove_unused_columns": (False, "rows carry what was played"),
    "resume_from_checkpoint": (None, "use rods run --resume"),
    "save_only_model": (False, "a checkpoint must be resumable"),
    "save_strategy": ("steps", "checkpoints and the pool move together"),
    "use_transformers_paged": (False, "it is deprecated: use_transformers_continuous_batching"),
}

FIELDS = frozenset(field.name for field in dataclasses.fields(GRPOConfig))
_CHECKPOINTING = (  # the second is deprecated where the first exists
    "activation_checkpointing" if "activation_checkpointing" in FIELDS else "gradient_checkpointing"
)
ONLY_WITHOUT_CACHE = ("top_p", "top_k", "min_p", "repetition_penalty", "generation_kwargs")


def check_options(config: GrpoConfig) -> None:
    """Raise ConfigError, naming the key, if an option of ``[trainer.grpo]`` cannot be used."""
    for key, value in config.grpo.items():
        if key not in FIELDS:
            raise ConfigError(f"trl.GRPOConfig has no option {key!r}. {did_you_mean(key, FIELDS)}")
        if key in OURS:
            raise ConfigError(f"trainer.grpo.{key} is not set here: use {OURS[key]}.")
        if key in FIXED and value != FIXED[key][0]:
            wanted, why = FIXED[key]
            raise ConfigError(f"trainer.grpo.{key} must stay {wanted!r}, not {value!r}: {why}.")
        if key in ONLY_WITHOUT_CACHE and config.generation == "cached":
            raise ConfigError(
                f"trainer.grpo.{key} has no effect on trainer.generation = 'cached'; "
                "use generation = 'transformers'."
            )
    iterations = updates_per_generation(config)
    if config.save_every % iterations:
        raise ConfigError(
            f"trainer.save_every = {config.save_every} must be a multiple of "
            f"trainer.grpo.num_iterations = {iterations}: a checkpoint lies between generations."
        )


def updates_per_generation(config: GrpoConfig) -> int:
    """Optimizer steps on one batch of rollouts (mu in the GRPO paper)."""
    return int(config.grpo.get("num_iterations", 1))


def rollout_budget(config: GrpoConfig, context: int, generation: str) -> int:
    """Tokens of prompt and completion together that the policy and its sampler can hold.

    One message stays free with a vLLM server, which refuses a prompt that ``max_tokens`` may not
    fit behind: all prompts of a call share it.
    """
    if not generation.startswith("vllm-"):
        return min(config.budget, context)
    longest = min(context, config.vllm.max_model_length or context)
    spare = config.message_budget if generation == "vllm-server" else 0
    return min(config.budget, longest - spare)


def grpo_config(
    config: GrpoConfig,
    output: Path,
    *,
    seed: int,
    generation: str,
    eos_ids: frozenset[int],
    context: int | None = None,
) -> GRPOConfig:
    """TRL's configuration of a run; ConfigError where TRL refuses a value.

    ``context`` is the policy's: a vLLM engine refuses to be made for more tokens than that.
    """
    check_options(config)
    options = {
        **_owned(config, output, seed),
        **_precision(config),
        **_vllm(config, generation, context),
        **{key: value for key, (value, _) in FIXED.items()},
        **config.grpo,
        **_stops(config, generation, eos_ids),
    }
    micro, accumulation = batch_shape(config, launched_ranks())
    try:
        return GRPOConfig(
            **options,
            per_device_train_batch_size=micro,
            gradient_accumulation_steps=accumulation,
        )
    except (TypeError, ValueError) as error:
        raise ConfigError(f"TRL refuses the options of [trainer]: {error}") from error


def batch_shape(config: GrpoConfig, ranks: int) -> tuple[int, int]:
    """(rollouts in one forward pass of one rank, forward passes in one step)."""
    if config.batch_size % ranks:
        raise ConfigError(
            f"trainer.prompts_per_step = {config.prompts_per_step} times trainer.group_size = "
            f"{config.group_size} rollouts do not divide among {ranks} ranks."
        )
    local = config.batch_size // ranks
    micro = max(n for n in range(1, min(local, config.micro_batch_size) + 1) if local % n == 0)
    return micro, local // micro


def _owned(config: GrpoConfig, output: Path, seed: int) -> dict[str, Any]:
    return {
        "output_dir": str(output),
        "num_generations": config.group_size,
        "learning_rate": config.learning_rate,
        "lr_scheduler_type": config.lr_schedule,
        "beta": config.beta,
        "loss_type": config.loss_type,
        "temperature": config.temperature,
        "max_completion_length": config.max_completion_length,
        _CHECKPOINTING: config.gradient_checkpointing,
        "save_steps": config.save_every,
        "save_total_limit": config.save_total_limit,
        "seed": seed % 2**32,
        "report_to": list(config.report_to) or "none",
        "ddp_timeout": config.ddp_timeout_s,
        "ddp_find_unused_parameters": False,
        "top_p": 1.0,  # any truncation biases the importance ratio
    }


def _precision(config: GrpoConfig) -> dict[str, Any]:
    """Mixed precision on a GPU unless a type was asked for; without a GPU everything is fp32."""
    cpu = bool(config.grpo.get("use_cpu", not torch.cuda.is_available()))
    backend = {"ddp_backend": "gloo"} if cpu and launched_ranks() > 1 else {}
    bf16 = not cpu and config.dtype in ("auto", "bfloat16")
    return {"use_cpu": cpu, "bf16": bf16, "fp16": not cpu and config.dtype == "float16", **backend}


def _vllm(config: GrpoConfig, generation: str, context: int | None) -> dict[str, Any]:
    if not generation.startswith("vllm-"):
        return {}
    vllm, longest = config.vllm, min(config.budget, context or config.budget)
    return {
        "use_vllm": True,
        "vllm_mode": generation.removeprefix("vllm-"),
        "vllm_gpu_memory_utilization": vllm.gpu_memory_utilization,
        "vllm_tensor_parallel_size": vllm.tensor_parallel_size,
        "vllm_max_model_length": vllm.max_model_length or longest,
        "vllm_enable_sleep_mode": vllm.sleep_mode,
        "vllm_server_base_url": vllm.server_url,
        "vllm_server_host": vllm.server_host,
        "vllm_server_port": vllm.server_port,
        "vllm_server_timeout": vllm.server_timeout_s,
        # TRL's default masks a long rollout out as soon as its summed ratio leaves the bounds.
        "vllm_importance_sampling_mode": "token_truncate",
    }


def _stops(config: GrpoConfig, generation: str, eos_ids: frozenset[int]) -> dict[str, Any]:
    """vLLM ends a message at the dialect's tokens; transformers reads them from the model."""
    if not generation.startswith("vllm-"):
        return {}
    given = config.grpo.get("generation_kwargs") or {}
    return {"generation_kwargs": {"stop_token_ids": sorted(eos_ids), **given}}


def launched_ranks() -> int:
    """Number of ranks that the launcher started; TRL joins them when its configuration is made."""
    return int(os.environ.get("WORLD_SIZE", "1"))
