"""The options of the office."""

from __future__ import annotations

from pydantic import Field, field_validator

from rods.interfaces import Component
from rods.types import EmptyTurnRule, Kind
from rods_office.levels import LEVELS, Level, LevelName


class OfficeConfig(Component.Config):
    """Which tasks the office has."""

    level: LevelName = Field("easy", description="Sizes of tasks and worlds.")
    seed: int = Field(0, description="Draws the train and evaluation tasks.")
    n_train: int = Field(16, ge=1, description="Train tasks.")
    n_unseen_entities: int = Field(
        96, ge=0, description="Evaluation tasks: train structures with names never trained on."
    )
    n_unseen_compositions: int = Field(
        96, ge=0, description="Evaluation tasks: known skills in an order never trained on."
    )
    n_unseen_tools: int = Field(
        0, ge=0, description="Evaluation tasks that need a tool never trained on."
    )
    turns: tuple[int, int] | None = Field(
        None, description="Fewest and most turns, before a kind adds one (level easy: 2 to 4)."
    )
    depth: int | None = Field(
        None, ge=1, le=4, description="Longest chain of results in a turn (level easy: 2)."
    )
    kinds: tuple[Kind, ...] | None = Field(
        None, min_length=1, description="Kinds of tasks (level easy: base only; else all four)."
    )
    instructions: bool = Field(False, description="Give the policy a system text on the office.")
    empty_turns: EmptyTurnRule = Field(
        "abstain", description="What a turn earns in which nothing is to be done."
    )
    practice_basic: float = Field(
        0.8, ge=0, le=1, description="Share of basic skills in practice; the others share the rest."
    )
    practice_turns: tuple[int, int] = Field(
        (1, 3), description="Fewest and most turns of a practice task, before a kind adds one."
    )

    @field_validator("turns", "practice_turns")
    @classmethod
    def _in_order(cls, turns: tuple[int, int] | None) -> tuple[int, int] | None:
        if turns is not None and not 1 <= turns[0] <= turns[1] <= 8:
            raise ValueError(f"{list(turns)} is not [fewest, most] with 1 <= fewest <= most <= 8")
        return turns

    def resolved_level(self) -> Level:
        """The level with the options that override it; longer tasks may have more calls."""
        level = LEVELS[self.level]
        return Level(
            turns=self.turns or level.turns,
            calls=max(level.calls, 2 * self.turns[1]) if self.turns else level.calls,
            depth=self.depth or level.depth,
            names=level.names,
            words=level.words,
            bystanders=level.bystanders,
            kinds=self.kinds or level.kinds,
            groups=level.groups,
        )
