"""AgentDojo's four suites as one world."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any, ClassVar

from pydantic import Field

from rods.errors import DataError, did_you_mean
from rods.interfaces import Component, Environment
from rods.presets import SHORT_RUN
from rods.scoring import replay_score
from rods.types import ProgressReward, Split, Task, ToolSpec, Trajectory
from rods_agentdojo.asset import Asset, manifest, open_asset
from rods_agentdojo.judging import verdict
from rods_agentdojo.session import AgentDojoSession
from rods_agentdojo.suites import SUITE_NAMES, Suite, SuiteName
from rods_agentdojo.tasks import Attack, read_attacks, read_tasks


class AgentDojoEnvironment(Environment):
    """Office, travel, bank and chat tasks, judged by AgentDojo's own utility functions."""

    name = "agentdojo"
    suites: ClassVar[Mapping[str, Mapping[str, Mapping[str, Any]]]] = {
        "ood": {"AgentDojo": {}},
        "injection": {
            f"AgentDojo, {attack}": {"attack": attack} for attack in ("direct", "ignore_previous")
        },
    }

    eval_splits: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "injection": {"attack": "direct"},
        "injection-ignore-previous": {"attack": "ignore_previous"},
    }
    presets: ClassVar[Mapping[str, Mapping[str, Mapping[str, Any]]]] = {"demo": SHORT_RUN}

    class Config(Component.Config):
        """Which suites, and where their data lie."""

        asset: Path | None = Field(
            None,
            description="The agentdojo wheel or the folder it is unpacked in; found or fetched "
            "when left out.",
        )
        suites: tuple[SuiteName, ...] = Field(
            SUITE_NAMES,
            min_length=1,
            description="Suites: workspace, travel, banking, slack.",
        )
        attack: Attack = Field(
            "none",
            description="What the eval split is: the held-out user tasks ('none'), or each of them "
            "with each injection in its world, worded as AgentDojo's attack 'direct' or "
            "'ignore_previous'.",
        )
        exclude_flagged: bool = Field(
            True,
            description="Leave tasks that an idle agent solves (flag 'idle') out of the train "
            "split. The eval split always has them all.",
        )

    config: Config

    def __init__(self, config: Component.Config | None = None) -> None:
        super().__init__(config)
        self._read: dict[SuiteName, Suite] = {}
        self._tasks: dict[SuiteName, list[Task]] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process reads the data again."""
        return type(self), (self.config,)

    def __deepcopy__(self, memo: dict[int, Any]) -> AgentDojoEnvironment:
        """Itself: nothing in it changes but what it has read."""
        return self

    # ---------------------------------------------------------------- data
    @cached_property
    def _asset(self) -> Asset:
        return open_asset(self.config.asset)

    def _suite(self, name: str) -> Suite:
        known = next((known for known in SUITE_NAMES if known == name), None)
        if known is None:
            raise DataError(f"AgentDojo has no suite {name!r}. {did_you_mean(name, SUITE_NAMES)}")
        if known not in self._read:
            self._read[known] = Suite(known, self._asset)
        return self._read[known]

    def _of_suite(self, name: SuiteName) -> list[Task]:
        if name not in self._tasks:
            suite = self._suite(name)
            tasks = list(read_tasks(suite))
            if self.config.attack != "none":
                held_out = [task for task in tasks if task.split == "eval"]
                tasks = [task for task in tasks if task.split == "train"]
                tasks += read_attacks(suite, held_out, self.config.attack)
            self._tasks[name] = tasks
        return self._tasks[name]

    def tasks(self, split: Split) -> Sequence[Task]:
        """The user tasks of a split, suite by suite in upstream's order."""
        excluded = self.config.exclude_flagged and split == "train"
        return [
            task
            for name in self.config.suites
            for task in self._of_suite(name)
            if task.split == split and not (excluded and task.flags)
        ]

    @cached_property
    def _tools(self) -> Mapping[str, ToolSpec]:
        specs: dict[str, ToolSpec] = {}
        for name in self.config.suites:
            specs |= self._suite(name).toolspecs
        return specs

    def tools(self) -> Mapping[str, ToolSpec]:
        """The tools of the chosen suites; suites that share a tool share its name."""
        return self._tools

    @cached_property
    def _conduct(self) -> str:
        return (files("rods_agentdojo") / "instructions.md").read_text(encoding="utf-8").strip()

    def instructions(self, task: Task) -> str:
        """How to act in these worlds."""
        return self._conduct

    def protocol(self) -> str:
        """What is counted, in a line for reports."""
        attacked = f", every injection as attack {self.config.attack!r}" * (
            self.config.attack != "none"
        )
        return f"AgentDojo's own utility functions on held-out user tasks{attacked}."

    def data_hashes(self) -> Mapping[str, str]:
        """Every file of the pinned release that is used."""
        return dict(manifest())

    # ---------------------------------------------------------------- the world
    def open(self, task: Task) -> AgentDojoSession:
        """A fresh world in the task's initial state."""
        suite = self._suite(str(task.initial_state.get("suite")))
        state: Any = task.initial_state["environment"]
        return AgentDojoSession(suite, suite.opened(state))

    def score(self, task: Task, trajectory: Trajectory) -> ProgressReward:
        """Upstream's utility on its own tasks; the reference, replayed, on variants of them.

        Utility functions hold the values of their task as constants, so they cannot judge others.
        """
        if not self._is_upstreams(task):
            return replay_score(self.open, task, trajectory)
        return verdict(self._suite(str(task.initial_state["suite"])), task, trajectory)

    def _is_upstreams(self, task: Task) -> bool:
        suite = self._suite(str(task.initial_state["suite"]))
        if task.origin != "seed" or len(task.turns) != 1:
            return False
        upstream = suite.user_tasks.get(str(task.initial_state["task"]))
        return upstream is not None and task.turns[0].user == upstream.PROMPT
