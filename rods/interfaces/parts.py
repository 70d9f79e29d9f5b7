"""What moves the curriculum: selector, buffer, synthesizer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol

from rods.errors import ConfigError
from rods.interfaces.components import Component
from rods.interfaces.worlds import Environment
from rods.types import (
    RolloutGroup,
    Stage,
    SynthesisOutcome,
    Task,
    TrainingStage,
)

if TYPE_CHECKING:
    from rods.pool import Pool


class Selector(Component, ABC):
    """Finds the seeds worth a variant among the groups of one step."""

    def __init__(self, config: Component.Config | None, pool: Pool, seed: int = 0) -> None:
        self.config = config if config is not None else self.Config()
        self.pool = pool
        self.seed = seed

    @abstractmethod
    def select(self, step: int, epoch: int, groups: Sequence[RolloutGroup]) -> list[str]:
        """Ids of pool entries to synthesise variants of, best first."""

    @property
    def zone(self) -> tuple[float, float]:
        """The lowest and the highest mean reward that count as boundary; the paper's by default."""
        return (0.20, 0.85)


class Buffer(Component, ABC):
    """Moves the pool across an epoch boundary."""

    def __init__(self, config: Component.Config | None, pool: Pool, seed: int = 0) -> None:
        self.config = config if config is not None else self.Config()
        self.pool = pool
        self.seed = seed

    @abstractmethod
    def retire(self, epoch: int) -> int:
        """Retire what no longer teaches; how many left."""

    @abstractmethod
    def inject(self, epoch: int) -> int:
        """Let candidates in; how many entered."""

    @abstractmethod
    def plan(self, epoch: int, stage: TrainingStage, size: int) -> Sequence[str]:
        """``size`` entry ids in training order, of the stage's kinds; seeded by (seed, epoch)."""


class StageModels(Protocol):
    """The language models of a synthesis (``rods.synthesis.lm.models.LanguageModels``)."""

    def has(self, stage: Stage) -> bool:
        """The stage has a model; without one it works by code alone."""
        ...

    def of(self, stage: Stage, key: str) -> AbstractContextManager[None]:
        """Inside, dspy's predictors call the stage's model; an outage of it is a ModelOutage."""
        ...

    def name(self, stage: Stage, key: str) -> str:
        """The backbone that ``of`` takes for this key."""
        ...


class Synthesizer(Component, ABC):
    """Makes verified variants of a seed."""

    def __init__(self, config: Component.Config | None, environment: Environment) -> None:
        self.config = config if config is not None else self.Config()
        self.environment = environment

    def use(self, models: StageModels, program: str = "") -> None:
        """Let language models choose, write and judge from now on.

        ``program`` is a file of tuned prompts. By default a ConfigError: it takes no models.
        """
        raise ConfigError(
            f"The synthesizer {self.name!r} takes no language model; leave out --lm and the table "
            "[synthesis.lm], or choose another synthesizer."
        )

    @abstractmethod
    def synthesize(self, seed: Task, *, n: int, rng_seed: int) -> SynthesisOutcome:
        """Up to ``n`` verified variants, and why the other attempts failed. Never raises for data.

        Equal arguments give an equal outcome (but for ``seconds``).
        """

    def redraw(self, task: Task, *, rng_seed: int) -> Task | None:
        """The same task with other entities, verified; None where nothing can change."""
        return None
