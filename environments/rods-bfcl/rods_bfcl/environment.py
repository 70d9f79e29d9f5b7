"""The BFCL multi-turn world."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from importlib.resources import files
from pathlib import Path

from pydantic import Field

from rods.interfaces import Component, ComponentConfig, Environment
from rods.scoring import replay_score
from rods.types import (
    KINDS,
    EmptyTurnRule,
    Kind,
    ProgressReward,
    Split,
    Task,
    ToolSpec,
    Trajectory,
)
from rods_bfcl.asset import Asset, open_asset
from rods_bfcl.session import BfclSession
from rods_bfcl.tasks import TaskReader
from rods_bfcl.toolspecs import load_toolspecs
from rods_bfcl.upstream import Upstream, load_upstream
from rods_bfcl.world import Scenario, World


class BfclEnvironment(Environment):
    """800 multi-turn tasks in eight simulated APIs, judged as BFCL judges them."""

    name = "bfcl"

    class Config(ComponentConfig):
        """Which tasks, and where their data lie."""

        asset: Path | None = Field(
            None,
            description="The bfcl-eval wheel or the folder it is unpacked in; found or fetched "
            "when left out.",
        )
        kinds: tuple[Kind, ...] = Field(KINDS, min_length=1, description="Kinds of tasks.")
        exclude_flagged: bool = Field(
            True,
            description="Leave the known-unpassable tasks out of the train split. The eval split "
            "always has them all.",
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

    # ---------------------------------------------------------------- data
    @cached_property
    def _asset(self) -> Asset:
        return open_asset(self.config.asset)

    @cached_property
    def _upstream(self) -> Upstream:
        return load_upstream(self._asset)

    @cached_property
    def _toolspecs(self) -> Mapping[str, Mapping[str, ToolSpec]]:
        return load_toolspecs(self._asset)

    def tasks(self, split: Split) -> Sequence[Task]:
        """The tasks of a split, kind by kind in upstream's order."""
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
        """The 128 functions."""
        return {name: spec for specs in self._toolspecs.values() for name, spec in specs.items()}

    def instructions(self, task: Task) -> str:
        """How to act in this world."""
        return (files("rods_bfcl") / "instructions.md").read_text(encoding="utf-8").strip()

    # ---------------------------------------------------------------- the world
    def open(self, task: Task) -> BfclSession:
        """A fresh world in the task's initial state."""
        return BfclSession(World(Scenario.of(task.initial_state), self._upstream))

    def score(self, task: Task, trajectory: Trajectory) -> ProgressReward:
        """The official checks after every turn."""
        return replay_score(self.open, task, trajectory, self.config.empty_turns)
