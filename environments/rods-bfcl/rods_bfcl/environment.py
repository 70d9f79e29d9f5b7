"""The BFCL multi-turn world."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import Field

from rods.errors import DataError, did_you_mean
from rods.interfaces import Component, Environment, Session
from rods.types import (
    KINDS,
    EmptyTurnRule,
    JsonObject,
    JsonValue,
    Kind,
    Phrase,
    ProgressReward,
    Rollout,
    Split,
    Step,
    Task,
    ToolSpec,
    Trajectory,
)
from rods_bfcl import suggestions
from rods_bfcl.asset import Asset, manifest, open_asset
from rods_bfcl.judging import Invocation, Judge
from rods_bfcl.leaks import refused_for_a_leak
from rods_bfcl.memory.backends import BACKENDS, Backend
from rods_bfcl.memory.suite import MemorySuite
from rods_bfcl.memory.tasks import members
from rods_bfcl.phrases import PHRASES
from rods_bfcl.recordings import read_turns, report, task_id_of
from rods_bfcl.session import BfclSession
from rods_bfcl.tasks import TaskReader
from rods_bfcl.toolspecs import load_toolspecs
from rods_bfcl.upstream import Upstream, load_upstream
from rods_bfcl.world import Scenario, World


class BfclEnvironment(Environment):
    """800 multi-turn tasks in eight simulated APIs, judged as BFCL judges them."""

    name = "bfcl"
    suites: ClassVar[Mapping[str, Mapping[str, Mapping[str, Any]]]] = {
        "ood": {"BFCL V4 memory": {"suite": "v4-memory"}}
    }
    presets: ClassVar[Mapping[str, Mapping[str, Mapping[str, Any]]]] = {
        # Minutes on two cores: base tasks, whose traces fit the tiny policy's context.
        "demo": {
            "environment": {"kinds": ["base"]},
            "curriculum": {"epoch_size": 24, "stages": [{"name": "base", "epochs": 4}]},
            "selector:boundary": {"cooldown_steps": 2, "quota_per_kind": 16},
            "evaluation": {"tasks": 24, "samples": 2},
        }
    }

    class Config(Component.Config):
        """Which tasks, and where their data lie."""

        asset: Path | None = Field(
            None,
            description="The bfcl-eval wheel or the folder it is unpacked in; found or fetched "
            "when left out.",
        )
        suite: Literal["multi-turn", "v4-memory"] = Field(
            "multi-turn",
            description="The multi-turn tasks, or BFCL V4's memory tasks: 155 questions a backend, "
            "for evaluation only.",
        )
        memory_backends: tuple[Backend, ...] = Field(
            BACKENDS,
            min_length=1,
            description="Backends of v4-memory. Upstream's third, vector, is left out: it needs an "
            "embedding model.",
        )
        kinds: tuple[Kind, ...] = Field(KINDS, min_length=1, description="Kinds of tasks.")
        exclude_flagged: bool = Field(
            True,
            description="Leave tasks with known defects (Task.flags) out of the train split. The "
            "eval split always has them all.",
        )
        empty_turns: EmptyTurnRule = Field(
            "abstain",
            description="What a turn that needs no call is worth: 'judged' leaves it out, 'all' "
            "counts it 1, 'abstain' counts it 1 only without a call.",
        )

    config: Config

    def __init__(self, config: Component.Config | None = None) -> None:
        super().__init__(config)
        self._tasks: dict[Kind, list[Task]] = {}
        self._by_id: dict[str, Task] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process reads the data again."""
        return type(self), (self.config,)

    def __deepcopy__(self, memo: dict[int, Any]) -> BfclEnvironment:
        """Itself: nothing in it changes but what it has read."""
        return self

    # ---------------------------------------------------------------- data
    @cached_property
    def _asset(self) -> Asset:
        return open_asset(self.config.asset)

    @cached_property
    def _upstream(self) -> Upstream:
        return load_upstream(self._asset)

    @cached_property
    def _memory(self) -> MemorySuite | None:
        """The suite that takes the place of the multi-turn tasks, if it is chosen."""
        chosen = self.config.suite == "v4-memory"
        return MemorySuite(self._asset, self.config.memory_backends) if chosen else None

    @cached_property
    def _toolspecs(self) -> Mapping[str, Mapping[str, ToolSpec]]:
        return load_toolspecs(self._asset)

    @cached_property
    def _tools(self) -> Mapping[str, ToolSpec]:
        return {name: spec for specs in self._toolspecs.values() for name, spec in specs.items()}

    @cached_property
    def _instructions(self) -> str:
        return (files("rods_bfcl") / "instructions.md").read_text(encoding="utf-8").strip()

    @cached_property
    def _judge(self) -> Judge:
        return Judge(self._upstream)

    def tasks(self, split: Split) -> Sequence[Task]:
        """The tasks of a split, kind by kind in upstream's order."""
        if self._memory is not None:
            return list(self._memory.questions) if split == "eval" else []
        excluded = self.config.exclude_flagged and split == "train"
        return [
            task
            for kind in self.config.kinds
            for task in self._of_kind(kind)
            if task.split == split and not (excluded and task.flags)
        ]

    def _of_kind(self, kind: Kind) -> list[Task]:
        if kind not in self._tasks:
            reader = TaskReader(self._asset, self._toolspecs, self._upstream.methods)
            self._tasks[kind] = reader.read(kind)
        return self._tasks[kind]

    def tools(self) -> Mapping[str, ToolSpec]:
        """The 128 functions, or those of the memory backends."""
        return self._tools if self._memory is None else self._memory.tools

    def instructions(self, task: Task) -> str:
        """How to act in this world."""
        return self._instructions if self._memory is None else self._memory.instructions(task)

    def prepared(
        self, tasks: Sequence[Task], play: Callable[[Sequence[Task]], Sequence[Rollout]]
    ) -> Sequence[Task]:
        """Questions about a memory are asked after the policy has filled it."""
        return tasks if self._memory is None else self._memory.prepared(tasks, play)

    def protocol(self) -> str:
        """How the memory suite is played; the multi-turn tasks are played as rods does it."""
        return "" if self._memory is None else self._memory.protocol

    def suggest(self, tool: str, parameter: str, state: JsonObject) -> Sequence[JsonValue]:
        """Values of this world's closed tables; one value where it must not change."""
        return suggestions.suggest(tool, parameter, state)

    def phrase(self, tool: str) -> Phrase | None:
        """How users ask for the function, where its document makes no good sentence."""
        return PHRASES.get(tool)

    def equipped(self, task: Task, tools: Sequence[str]) -> Task:
        """The task with the classes of these functions in its world, each in its default state."""
        state: dict[str, Any] = dict(task.initial_state)
        owners = [name for name, specs in self._toolspecs.items() if specs.keys() & set(tools)]
        state["classes"] = [*state["classes"], *(o for o in owners if o not in state["classes"])]
        return task.model_copy(update={"tools": (*task.tools, *tools), "initial_state": state})

    def objection(self, task: Task) -> str:
        """The official checker would refuse the task's own reference for a leak of upstream's."""
        return "" if self._memory is not None else refused_for_a_leak(task, self._upstream)

    def data_hashes(self) -> Mapping[str, str]:
        """Every file of the pinned release that is used, and the split."""
        if self._memory is not None:
            return {name: manifest()[name] for name in members(self.config.memory_backends)}
        split = (files("rods_bfcl") / "split.json").read_bytes()
        used = {n: d for n, d in manifest().items() if n not in members(BACKENDS)}
        return {**used, "rods_bfcl/split.json": hashlib.sha256(split).hexdigest()}

    # ---------------------------------------------------------------- the world
    def open(self, task: Task) -> Session:
        """A fresh world in the task's initial state."""
        if self._memory is not None:
            return self._memory.open(task)
        return BfclSession(World(Scenario.of(task.initial_state), self._upstream))

    def score(self, task: Task, trajectory: Trajectory) -> ProgressReward:
        """The official checks after every turn."""
        if self._memory is not None:
            return self._memory.score(task, trajectory)
        turns = [_invocations(steps) for steps in trajectory.turns]
        return ProgressReward(
            verdicts=self._judge.verdicts(task, turns), empty_turns=self.config.empty_turns
        )

    def score_recording(self, recording: JsonObject) -> JsonObject:
        """The official verdict on ``{"task_id", "trajectory": [turn][step][call string]}``."""
        if self._memory is not None:
            return super().score_recording(recording)
        task = self._task(task_id_of(recording))
        turns = read_turns(recording)
        return report(
            recording,
            self._judge.verdicts(task, turns),
            turns=len(turns),
            empty_turns=self.config.empty_turns,
        )

    def _task(self, task_id: str) -> Task:
        if not self._by_id:
            self._by_id = {task.id: task for kind in KINDS for task in self._of_kind(kind)}
        if task_id not in self._by_id:
            raise DataError(
                f"BFCL has no multi-turn task {task_id!r}. {did_you_mean(task_id, self._by_id)}"
            )
        return self._by_id[task_id]


def _invocations(steps: Sequence[Step]) -> list[Invocation]:
    """The calls of a turn; one that the episode refused counts as an attempt that fails."""
    return [
        Invocation(None, {}) if refused else Invocation(call.name, call.arguments)
        for step in steps
        for call, refused in zip(step.message.calls, _refusals(step), strict=True)
    ]


def _refusals(step: Step) -> list[bool]:
    """For every call whether it was refused; a trajectory without results refused none."""
    known = [result.refused for result in step.results[: len(step.message.calls)]]
    return known + [False] * (len(step.message.calls) - len(known))
