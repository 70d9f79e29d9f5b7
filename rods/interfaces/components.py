"""What every part has: a name, a configuration, presets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict


class ComponentConfig(BaseModel):
    """Base of every nested ``Config``: unknown keys are errors, fields carry descriptions."""

    model_config = ConfigDict(extra="forbid")


class Component:
    """A named part with a configuration."""

    name: ClassVar[str]
    presets: ClassVar[Mapping[str, Mapping[str, Mapping[str, Any]]]] = {}
    """Preset -> table -> key -> value: defaults under everything a user sets.

    ``demo`` applies when a run has neither a configuration file nor ``--preset``; it must end in
    minutes on two cores. A table ``trainer:grpo-trl`` counts only where that trainer is chosen.
    """

    class Config(ComponentConfig):
        """No options."""
