"""What the name of a model says about where it runs."""

from __future__ import annotations

from rods.synthesis.lm.config import SERVED, ModelConfig

HOSTED = "https://api.openai.com/v1"  # where a served model is without an address


def served_name(config: ModelConfig) -> str:
    """What the server calls the model."""
    return config.model[0].removeprefix(SERVED)
