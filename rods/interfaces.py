"""What a plugin implements. Abstract classes: one that is half written fails when it is loaded.

Each class nests a pydantic ``Config``; it is the TOML table, the ``-o table.key=value`` flags and
what ``rods plugins show NAME`` prints. ``name`` is what users type.
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from pydantic import BaseModel, ConfigDict

from rods.errors import ConfigError, DataError
from rods.scoring import replay_score
from rods.types import (
    Check,
    EpochPlan,
    JsonObject,
    JsonValue,
    Phrase,
    ProgressReward,
    RolloutGroup,
    Split,
    Stage,
    StepReport,
    SynthesisOutcome,
    Task,
    ToolCall,
    ToolResult,
    ToolSpec,
    TrainingStage,
    Trajectory,
    Visit,
)

if TYPE_CHECKING:
    from rods.pool import Pool


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


# ------------------------------------------------------------------------------- worlds
class Session(ABC):
    """One world, opened for one rollout. Sessions never share anything that can change."""

    @abstractmethod
    def call(self, call: ToolCall) -> ToolResult:
        """Run one call. A bad call is a result with ``error``; only an outage raises WorldError."""

    @abstractmethod
    def state(self) -> JsonObject:
        """What is compared after a turn, as JSON; a copy that the caller may keep."""

    @abstractmethod
    def snapshot(self) -> Any:
        """An opaque copy of the whole world, for ``restore`` of the same session."""

    @abstractmethod
    def restore(self, snapshot: Any) -> None:
        """Put the world back to where ``snapshot`` was taken; a snapshot can be restored twice."""

    def close(self) -> None:  # noqa: B027 - most worlds hold nothing
        """Free what the session holds; safe to call twice."""


class Environment(Component, ABC):
    """A world with tasks: the source of seeds, the executor and the judge."""

    fits_tiny_policy: ClassVar[bool] = False
    """A policy of a few million parameters can learn these tasks, not only exercise the loop."""
    terse_users: ClassVar[bool] = False
    """Users speak in bare phrases without punctuation, as in "copy file a to b"."""

    def __init__(self, config: Component.Config | None = None) -> None:
        self.config = config if config is not None else self.Config()

    @abstractmethod
    def tasks(self, split: Split) -> Sequence[Task]:
        """The seed tasks of a split, always in the same order; the splits are disjoint."""

    @abstractmethod
    def tools(self) -> Mapping[str, ToolSpec]:
        """Every tool of the world by name."""

    @abstractmethod
    def open(self, task: Task) -> Session:
        """A fresh world in the task's initial state, which is copied and never changed."""

    def score(self, task: Task, trajectory: Trajectory) -> ProgressReward:
        """One verdict a turn; by default the reference is replayed beside the trajectory."""
        return replay_score(self.open, task, trajectory)

    def score_recording(self, recording: JsonObject) -> JsonObject:
        """The verdict on a trajectory recorded elsewhere, in the environment's own format.

        A bad recording raises DataError. Environments without such a format keep this default.
        """
        raise DataError(f"The environment {self.name!r} cannot score recorded trajectories.")

    def practice(self, rng_seed: int) -> Iterator[Task]:
        """Endless tasks with references for the warm start of a tiny policy.

        By default the train seeds, again and again; a procedural world draws fresh entities.
        """
        seeds = list(self.tasks("train"))
        rng = random.Random(rng_seed)
        while seeds:
            yield from rng.sample(seeds, len(seeds))

    def instructions(self, task: Task) -> str:
        """The system prompt's text about this world (not the tools); empty: none."""
        return ""

    def suggest(self, tool: str, parameter: str, state: JsonObject) -> Sequence[JsonValue]:
        """Values this world knows for the parameter. Empty: not known. One: it must not change.

        Several: a closed or preferred set to draw new entities from. Held-out entities never
        appear.
        """
        return ()

    def phrase(self, tool: str) -> Phrase | None:
        """How users ask for the tool, where its description makes no good sentence; None: it does.

        Only texts that no language model writes, and a model's instructions, are made of it.
        """
        return None

    def equipped(self, task: Task, tools: Sequence[str]) -> Task:
        """The task in a world where these tools, which it does not need, are offered and work."""
        return task.model_copy(update={"tools": (*task.tools, *tools)})

    def data_hashes(self) -> Mapping[str, str]:
        """What the tasks were read from -> SHA-256, for the run's manifest."""
        return {}

    def close(self) -> None:
        """End what the environment started (servers, worker processes)."""


# ------------------------------------------------------------------------------- curriculum parts
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


# ------------------------------------------------------------------------------- training
class CurriculumSeam(Protocol):
    """The curriculum as a trainer sees it (implemented by ``rods.curriculum.Curriculum``)."""

    epochs: int
    epoch_size: int  # prompts an epoch, equal for all epochs

    def begin_epoch(self, epoch: int) -> EpochPlan:
        """Move the pool across the boundary; idempotent."""
        ...

    def draw(self, visit: Visit) -> Task:
        """The task that this visit plays."""
        ...

    def observe(self, step: int, groups: Sequence[RolloutGroup]) -> None:
        """Learn from the groups whose update is optimizer step ``step`` (1-based)."""
        ...

    def rewind(self, step: int) -> None:
        """Forget all that happened after step ``step``: the checkpoint that training resumes at."""
        ...


class RunFolder(Protocol):
    """The part of a run's folder that a trainer uses (implemented by ``rods.run_dir.RunDir``)."""

    path: Path
    seed: int
    resume: bool

    @property
    def checkpoints(self) -> Path:
        """Where the trainer keeps its checkpoints; the pool is rewound to the one it resumes at.

        With ``resume`` the trainer calls ``curriculum.rewind(step)`` before the first
        ``begin_epoch``, with 0 where there is no checkpoint yet.
        """
        ...

    @property
    def stopping(self) -> bool:
        """Somebody wants the run to end: Ctrl-C, for the first time.

        A trainer that looks at it after ``report`` writes a checkpoint and raises
        KeyboardInterrupt; one that does not is interrupted a step later.
        """
        ...

    def progress(self, what: str, done: int, total: int) -> None:
        """Show how far a long part outside the steps is, such as the warm start."""
        ...

    def log_rollouts(self, step: int, groups: Sequence[RolloutGroup]) -> None:
        """Append the groups to the run's rollouts."""
        ...

    def report(
        self, step: int, steps: int, groups: Sequence[RolloutGroup], trainer: Mapping[str, float]
    ) -> StepReport:
        """Tell observers and ``metrics.jsonl`` that optimizer step ``step`` is done.

        Called before the checkpoint of this step is written: a resumed run then misses no line.
        """
        ...


class Trainer(Component, ABC):
    """Owns rollouts and updates; asks a curriculum for tasks and tells it what they earned.

    Under torchrun every rank calls preflight, prepare, evaluate, train (or load), save and evaluate
    in this order. Only rank 0 has a curriculum that answers and a folder that is written: what it
    says is the trainer's to broadcast.
    """

    def __init__(self, config: Component.Config | None = None) -> None:
        self.config = config if config is not None else self.Config()

    def preflight(self, environment: Environment, tasks: Sequence[Task]) -> list[Check]:
        """What can be found out without a GPU, in seconds: packages, template, options, memory."""
        return []

    def check_schedule(self, epochs: int, epoch_size: int) -> list[Check]:
        """Whether epochs of ``epoch_size`` prompts are whole steps of this trainer."""
        return []

    def notes(self, environment: Environment) -> Sequence[str]:
        """What a reader of the results must know, such as a policy too small for these tasks."""
        return ()

    @abstractmethod
    def prepare(self, environment: Environment, tasks: Sequence[Task], run: RunFolder) -> None:
        """Load or warm-start the policy; called once before ``evaluate`` and ``train``."""

    @abstractmethod
    def train(self, curriculum: CurriculumSeam, environment: Environment, run: RunFolder) -> None:
        """Train over all epochs of the curriculum, resuming from ``run.checkpoints`` if asked."""

    @abstractmethod
    def evaluate(
        self,
        tasks: Sequence[Task],
        environment: Environment,
        *,
        k: int,
        seed: int,
        progress: Callable[[int, int], None] | None = None,
    ) -> list[RolloutGroup]:
        """k sampled rollouts of every task with the present policy, in the order of ``tasks``."""

    @abstractmethod
    def save(self, folder: Path) -> None:
        """Write the policy so that ``load`` and ``--policy`` read it."""

    @abstractmethod
    def load(self, folder: Path) -> None:
        """Read a policy that ``save`` wrote, or any model folder the trainer knows."""
