"""The program that is tuned: the built-in synthesizer's, with nothing that hides a failure."""

from __future__ import annotations

from typing import Any

from rods.errors import ConfigError
from rods.interfaces import Environment, StageModels
from rods.synthesis.lm.config import LmConfig, ModelConfig
from rods.synthesis.program import SynthesisProgram
from rods.synthesis.skill_config import SkillAlignedConfig
from rods.synthesis.workshop import Workshop
from rods.types import Stage

_LONG_ANSWER = 4096  # tokens; instructions are long


def subject(config: Any, environment: Environment, models: StageModels) -> SynthesisProgram:
    """One attempt at a new structure, whose words are the model's or nobody's."""
    if not isinstance(config, SkillAlignedConfig):
        raise ConfigError("Only the prompts of the synthesizer 'skill-aligned' can be tuned.")
    writing = config.writing.model_copy(update={"fall_back": False})
    alone = {"attempts": 1, "structures": "new", "writing": writing}
    return SynthesisProgram(Workshop(config.model_copy(update=alone), environment), models)


def reflecting_config(lm: LmConfig, model: str = "", url: str = "") -> LmConfig:
    """Who improves the prompts: the model that is named, else that of the first stage with one."""
    first = next(one for stage in Stage for one in lm.of(stage))
    given: dict[str, Any] = {"model": (model,)} if model else {}
    if url or model:
        given["url"] = url or (lm.url if not model.startswith("smollm2") else "")
    shared = {name: getattr(first, name) for name in ModelConfig.model_fields}
    longer = {"max_tokens": max(_LONG_ANSWER, first.max_tokens)}
    return LmConfig.model_validate({**shared, **longer, **given})
