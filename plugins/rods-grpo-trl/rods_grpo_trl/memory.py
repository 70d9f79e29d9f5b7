"""How much memory a training takes, by counting what has to lie side by side."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from rods_grpo_trl.config import GrpoConfig

_SIZE = re.compile(r"(?<![\d.])(\d+(?:\.\d+)?)([MB])(?![a-z])", re.IGNORECASE)
_GB = 1e9


@dataclass(frozen=True, slots=True)
class MemoryEstimate:
    """Gigabytes (1e9 bytes) on one GPU, without what vLLM takes; good to a third."""

    weights: float
    gradients: float
    optimizer: float
    reference: float
    activations: float

    @property
    def total(self) -> float:
        """All of it."""
        return self.weights + self.gradients + self.optimizer + self.reference + self.activations

    def __str__(self) -> str:
        parts = {name: getattr(self, name) for name in self.__slots__}
        listed = ", ".join(f"{name} {gb:.1f}" for name, gb in parts.items() if gb >= 0.05)
        return f"about {self.total:.0f} GB ({listed})"


@dataclass(frozen=True, slots=True)
class ModelShape:
    """What the memory depends on."""

    parameters: float
    hidden: float
    layers: float


def shape_from_name(name: str) -> ModelShape | None:
    """``Qwen/Qwen3-4B-Instruct-2507`` -> 4e9 parameters; None where the name tells no size.

    A decoder has about 12 * layers * hidden^2 parameters and is about 128 times as wide as deep.
    """
    sizes = _SIZE.findall(name.rsplit("/", 1)[-1])
    if not sizes:
        return None
    number, unit = sizes[0]
    parameters = float(number) * (1e9 if unit.upper() == "B" else 1e6)
    layers = (parameters / (12 * 128**2)) ** (1 / 3)
    return ModelShape(parameters, hidden=128 * layers, layers=layers)


def shape_of(model_config: Any) -> ModelShape:
    """The shape of a dense decoder (``transformers.PretrainedConfig``)."""
    config = model_config.get_text_config()
    hidden, layers = config.hidden_size, config.num_hidden_layers
    heads = config.num_attention_heads
    width = getattr(config, "head_dim", None) or hidden // heads
    kv = getattr(config, "num_key_value_heads", None) or heads
    attention = hidden * width * (2 * heads + 2 * kv)
    mlp = 3 * hidden * (getattr(config, "intermediate_size", None) or 4 * hidden)
    embeddings = config.vocab_size * hidden * (1 if config.tie_word_embeddings else 2)
    return ModelShape(float(layers * (attention + mlp) + embeddings), hidden, layers)


def estimate(shape: ModelShape, config: GrpoConfig, *, bytes_each: int) -> MemoryEstimate:
    """Full fine-tuning keeps gradients and two Adam moments of the weights' type; LoRA neither.

    Activations: one value a token, layer and unit of width with recomputation, about 16 without;
    and 16 for the layer that is being computed.
    """
    weights = shape.parameters * bytes_each / _GB
    trained = 0.0 if config.lora is not None else weights
    tokens = config.micro_batch_size * config.budget
    kept = 1.0 if config.gradient_checkpointing else 16.0
    activations = tokens * shape.hidden * (shape.layers * kept + 16) * bytes_each / _GB
    return MemoryEstimate(
        weights=weights,
        gradients=trained,
        optimizer=2 * trained,
        reference=weights if config.beta > 0 and config.lora is None else 0.0,
        activations=activations,
    )
