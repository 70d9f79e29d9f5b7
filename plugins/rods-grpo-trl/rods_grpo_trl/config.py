"""The options of the trainer: the TOML table ``[trainer]``, its flags and its documentation."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, model_validator

from rods.config import merged
from rods.episode import EpisodeLimits
from rods.interfaces import Trainer

TINY = "tiny"
GenerationName = Literal["auto", "cached", "transformers", "vllm-colocate", "vllm-server"]
Tracker = Literal["trackio", "wandb", "tensorboard"]

# What fits a policy of about a million parameters on one CPU core; an explicit value always wins.
TINY_DEFAULTS: dict[str, JsonValue] = {
    "group_size": 8,
    "prompts_per_step": 8,
    "micro_batch_size": 64,
    "learning_rate": 2e-4,
    "max_prompt_length": 256,
    "max_completion_length": 512,
    "message_budget": 64,
    "gradient_checkpointing": False,
    "cpu_threads": 1,  # a second one spins, and on a busy machine costs more than it gives
    "save_every": 8,
    "grpo": {"adam_beta2": 0.99},  # in so few steps, 0.999 averages over the whole run
}


class Options(BaseModel):
    """Base of the nested tables."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class LoraOptions(Options):
    """A low-rank adapter instead of full fine-tuning."""

    r: int = Field(16, ge=1, description="Rank of the update.")
    alpha: int = Field(32, ge=1, description="Scale: the update is multiplied by alpha / r.")
    dropout: float = Field(0.0, ge=0, lt=1, description="Dropout on the adapter's input.")
    target_modules: str | tuple[str, ...] = Field(
        "all-linear", description="Modules that get an adapter; never lm_head."
    )


class VllmOptions(Options):
    """How vLLM serves the policy during training."""

    gpu_memory_utilization: float = Field(
        0.3, gt=0, le=1, description="Share of the GPU that a colocated engine may take."
    )
    tensor_parallel_size: int = Field(1, ge=1, description="GPUs a colocated engine is split over.")
    max_model_length: int | None = Field(
        None,
        ge=1,
        description="Context of the engine; by default that of a rollout, and for a server one "
        "message more.",
    )
    sleep_mode: bool = Field(False, description="Free the engine's memory during the update.")
    server_url: str | None = Field(
        None, min_length=1, description="Base URL of a server; wins over host, port."
    )
    server_host: str = Field("127.0.0.1", description="Host of the server.")
    server_port: int = Field(8000, ge=1, le=65535, description="Port of the server.")
    server_timeout_s: float = Field(240.0, gt=0, description="How long to wait for the server.")


class GrpoConfig(Trainer.Config):
    """GRPO with TRL. Options that are not here go through ``grpo`` to ``trl.GRPOConfig``."""

    model: str = Field(
        TINY,
        min_length=1,
        description="'tiny', a folder, a GGUF file, or a model name of the Hugging Face hub.",
    )
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = Field(
        "auto", description="Type of the weights; auto: bfloat16 on a GPU, float32 without one."
    )
    lora: LoraOptions | None = Field(None, description="Train an adapter; absent: all weights.")
    group_size: int = Field(16, ge=2, le=10_000, description="Rollouts of one prompt, K (tiny: 8).")
    prompts_per_step: int = Field(
        8, ge=1, le=1_000_000, description="Prompts in one optimizer step."
    )
    micro_batch_size: int = Field(
        4, ge=1, description="Rollouts in one forward pass of one rank (tiny: 64)."
    )
    learning_rate: float = Field(1e-6, gt=0, description="Peak learning rate (tiny: 2e-4).")
    lr_schedule: Literal["constant", "linear", "cosine"] = Field(
        "constant", description="How the learning rate changes over the run."
    )
    beta: float = Field(0.0, ge=0, description="Weight of the KL term to the initial policy.")
    loss_type: Literal["dapo", "grpo", "dr_grpo", "bnpo", "cispo", "sapo", "luspo", "vespo"] = (
        Field("dapo", description="How token losses are weighted and summed, as TRL names it.")
    )
    temperature: float = Field(1.0, gt=0, description="Sampling temperature of the rollouts.")
    max_prompt_length: int = Field(
        8192, ge=1, description="Tokens of system message, tools and first turn (tiny: 256)."
    )
    max_completion_length: int = Field(
        8192, ge=1, description="Tokens of all that follows, results and users (tiny: 512)."
    )
    message_budget: int = Field(
        1024, ge=1, description="Tokens of one message of the policy (tiny: 64)."
    )
    limits: EpisodeLimits = Field(
        default_factory=lambda: EpisodeLimits(), description="What ends an episode early."
    )
    chat_template: str | None = Field(
        None,
        min_length=1,
        description="A Jinja file instead of the model's own template.",
    )
    chat_template_kwargs: dict[str, JsonValue] = Field(
        default_factory=dict, description="Passed to the chat template, e.g. enable_thinking."
    )
    generation: GenerationName = Field(
        "auto",
        description="Who samples: cached (small Llama models), transformers, vllm-colocate, "
        "vllm-server; auto takes the fastest one that is there.",
    )
    vllm: VllmOptions = Field(default_factory=lambda: VllmOptions(), description="vLLM's options.")
    skip_flat_groups: bool = Field(
        True,
        description="Leave rollouts without advantage out of the forward pass: the same gradient "
        "for less work (only where beta and the entropy bonus are 0).",
    )
    gradient_checkpointing: bool = Field(
        True, description="Recompute activations in the backward pass (tiny: off)."
    )
    cpu_threads: int = Field(
        0, ge=0, description="Threads of torch without a GPU; 0: as torch decides (tiny: 1)."
    )
    save_every: int = Field(20, ge=1, description="Optimizer steps between checkpoints (tiny: 8).")
    save_total_limit: int = Field(2, ge=1, description="Checkpoints kept.")
    report_to: tuple[Tracker, ...] = Field((), description="Trackers that get every metric.")
    seed: int | None = Field(None, description="Seed of the sampling; by default the run's.")
    ddp_timeout_s: int = Field(
        7200, ge=60, description="How long ranks wait for rank 0, which runs the curriculum."
    )
    grpo: dict[str, Any] = Field(
        default_factory=dict,
        description="Any other option of trl.GRPOConfig, by its name there (tiny: adam_beta2 = "
        "0.99).",
    )

    @model_validator(mode="before")
    @classmethod
    def _fit_the_tiny_policy(cls, given: Any) -> Any:
        if isinstance(given, dict) and given.get("model", TINY) == TINY:
            return merged(TINY_DEFAULTS, given)
        return given

    @property
    def tiny(self) -> bool:
        """The policy is the one that rods trains itself."""
        return self.model == TINY

    @property
    def budget(self) -> int:
        """Tokens of a whole rollout, prompt included, before the model's context bounds it."""
        return self.max_prompt_length + self.max_completion_length

    @property
    def batch_size(self) -> int:
        """Rollouts of one optimizer step over all ranks."""
        return self.group_size * self.prompts_per_step
