"""The options of the synthesizer ``skill-aligned``."""

from __future__ import annotations

from pydantic import Field

from rods.interfaces import ComponentConfig
from rods.synthesis.augment import AugmentConfig
from rods.synthesis.critique import CritiqueConfig
from rods.synthesis.structures.critique import JudgingConfig
from rods.synthesis.structures.plan import NewPlansConfig, Structures
from rods.synthesis.structures.rewrite import WritingConfig
from rods.types import Stage


class SkillAlignedConfig(ComponentConfig):
    """How variants are made."""

    structures: Structures = Field(
        "auto",
        description="'seed': new values in the seed's own calls; 'new': other functions in the "
        "seed's structure, the seed's own where none are found; 'new-only': those or nothing; "
        "'mixed': both; 'auto': 'new' where a language model is configured, else 'seed'.",
    )
    attempts: int = Field(4, ge=1, description="Draws for one variant before giving up.")
    study_trials: int = Field(
        60, ge=1, description="Executions to find out which values of a seed can change."
    )
    narrative: bool = Field(
        True, description="A model chooses among new plans and tells their story; else the score."
    )
    coherent_rewrite: bool = Field(
        True,
        description="A model writes all messages at once; else each is worded by itself from the "
        "phrases' sentence, so a plan that these cannot word is given up.",
    )
    feedback: bool = Field(
        True, description="Failures guide the next plan, and remarks the next try at the words."
    )
    fill_texts: bool = Field(
        False, description="A model writes free texts before the messages, in a call of its own."
    )
    planning: NewPlansConfig = NewPlansConfig()
    writing: WritingConfig = WritingConfig()
    judging: JudgingConfig = JudgingConfig()
    critique: CritiqueConfig = CritiqueConfig()
    augment: AugmentConfig = AugmentConfig()
    stages: dict[Stage, str] = Field(
        default_factory=dict,
        description="Stage -> 'module:Class' of a replacement; it gets the configuration and "
        "the environment.",
    )
