"""A world with tasks: the source of seeds, the executor and the judge."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from rods.errors import DataError
from rods.interfaces.components import Component
from rods.scoring import replay_score
from rods.types import (
    DeterminismClaim,
    JsonObject,
    JsonValue,
    Message,
    Phrase,
    ProgressReward,
    Rollout,
    SnapshotKind,
    Split,
    Step,
    Task,
    ToolCall,
    ToolResult,
    ToolSpec,
    Trajectory,
)


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

    def user_call(self, call: ToolCall) -> ToolResult:
        """Run a call of a simulated user, in worlds where users have tools of their own."""
        return ToolResult(content=f"Users have no tool {call.name!r} here.", error=True)

    def close(self) -> None:  # noqa: B027 - most worlds hold nothing
        """Free what the session holds; safe to call twice."""


class SimulatedUser(ABC):
    """Who speaks with the policy in one rollout, where what users say depends on its answers."""

    keeps_limits: ClassVar[bool] = False
    """``over`` says where a conversation is cut, in place of the episode's limits of turns."""

    def enter(self, session: Session) -> None:  # noqa: B027 - most users do nothing but speak
        """Be in the world that the policy acts in; comes before all else."""

    def before(self) -> Sequence[Message]:
        """What was said before the first message, such as a greeting; the policy sees it."""
        return ()

    @abstractmethod
    def opening(self) -> str | None:
        """The first message; None: it is over before it began.

        A user that cannot answer raises WorldError: an outage.
        """

    @abstractmethod
    def reply(self, said: str) -> str | None:
        """The next message, after the policy closed its turn with ``said``; None: it is over."""

    def steps(self) -> Sequence[Step]:
        """What it said and did since this was last asked; empty: only what it returned."""
        return ()

    def over(self, trajectory: Trajectory) -> bool:
        """The conversation is cut here, by the world's rules: asked after every step of anyone."""
        return False


class Environment(Component, ABC):
    """A world with tasks: the source of seeds, the executor and the judge."""

    fits_tiny_policy: ClassVar[bool] = False
    """A policy of a few million parameters can learn these tasks, not only exercise the loop."""
    suites: ClassVar[Mapping[str, Mapping[str, Mapping[str, Any]]]] = {}
    """Suite -> row -> settings of this world: what ``rods eval --suite`` plays, such as ``ood``."""
    eval_splits: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    """Further evaluation splits: name -> settings under which the eval split is that one."""
    terse_users: ClassVar[bool] = False
    """Users speak in bare phrases without punctuation, as in "copy file a to b"."""
    snapshots: SnapshotKind = "native"
    """How a session goes back: to a copy of its state, along its changes, or by replaying calls."""
    determinism: DeterminismClaim = "probed"
    """Do equal calls answer equally? ``proven``: its code leaves no other way, and ``rods check``
    holds it to that; ``probed``: repeated runs were equal so far; ``no``: they may differ.
    """

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
        """A fresh world in the task's initial state, which is copied and never changed.

        A state that the world cannot read raises DataError, here or at the first call: WorldError
        is for outages, which say nothing about the task.
        """

    def user(self, task: Task) -> SimulatedUser | None:
        """Who speaks in one rollout in place of the task's turns; None: the turns, as written.

        The trajectory then has as many turns as the conversation; the reward still has one verdict
        for each turn of the task.
        """
        return None

    def require_user(self) -> None:
        """Users can answer; a ConfigError says what to do where not. Asked before an evaluation."""

    def user_usage(self) -> Mapping[str, float]:
        """What users that are a model have cost so far: requests, tokens, price. Empty: none is."""
        return {}

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

    def constants(self, state: JsonObject) -> Collection[JsonValue]:
        """Texts and numbers of an initial state that variants keep, such as a catalogue's words."""
        return ()

    def phrase(self, tool: str) -> Phrase | None:
        """How users ask for the tool, where its description makes no good sentence; None: it does.

        Only texts that no language model writes, and a model's instructions, are made of it.
        """
        return None

    def equipped(self, task: Task, tools: Sequence[str]) -> Task:
        """The task in a world where these tools, which it does not need, are offered and work."""
        return task.model_copy(update={"tools": (*task.tools, *tools)})

    def objection(self, task: Task) -> str:
        """Why a made task must not be trained on, in words; empty: nothing speaks against it.

        For what running the reference does not show, such as a fault of the world's own judge.
        """
        return ""

    def prepared(
        self, tasks: Sequence[Task], play: Callable[[Sequence[Task]], Sequence[Rollout]]
    ) -> Sequence[Task]:
        """The tasks of an evaluation after what the policy has to do before them: nothing.

        ``play`` has the policy play tasks, once each. Ids and order of ``tasks`` stay.
        """
        return tasks

    def protocol(self) -> str:
        """How tasks are played and judged, in a line for reports. Empty: as rods does it."""
        return ""

    def data_hashes(self) -> Mapping[str, str]:
        """What the tasks were read from -> SHA-256, for the run's manifest."""
        return {}

    def close(self) -> None:
        """End what the environment started (servers, worker processes)."""
