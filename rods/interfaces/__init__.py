"""What a plugin implements. Abstract classes: one that is half written fails when it is loaded.

Each class nests a pydantic ``Config``; it is the TOML table, the ``-o table.key=value`` flags and
what ``rods plugins show NAME`` prints. ``name`` is what users type.
"""

from __future__ import annotations

from rods.interfaces.components import Component, ComponentConfig
from rods.interfaces.parts import Buffer, Selector, StageModels, Synthesizer
from rods.interfaces.training import CurriculumSeam, RunFolder, Trainer
from rods.interfaces.worlds import Environment, Session, SimulatedUser

__all__ = [
    "Buffer",
    "Component",
    "ComponentConfig",
    "CurriculumSeam",
    "Environment",
    "RunFolder",
    "Selector",
    "Session",
    "SimulatedUser",
    "StageModels",
    "Synthesizer",
    "Trainer",
]
