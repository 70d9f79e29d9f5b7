"""The office as an environment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from importlib.resources import files
from typing import Any, ClassVar

from rods.interfaces import Component, Environment
from rods.types import (
    JsonObject,
    JsonValue,
    Phrase,
    ProgressReward,
    Split,
    Task,
    ToolSpec,
    Trajectory,
)
from rods_office.apps import TOOLS
from rods_office.config import OfficeConfig
from rods_office.entities import TRAIN_VALUES
from rods_office.grammar.sets import TaskSets
from rods_office.phrases import PHRASES
from rods_office.scoring import score_by_delta
from rods_office.session import OfficeSession


class OfficeEnvironment(Environment):
    """A compact procedural office: five apps, tasks of chosen size, three kinds of novelty."""

    name = "office"
    fits_tiny_policy = True
    terse_users = True
    determinism = "proven"
    presets: ClassVar[Mapping[str, Mapping[str, Mapping[str, Any]]]] = {
        # 140 steps of 8 prompts in 35 epochs: 6 to 9 minutes on one core, busy or not. Variants
        # cost nothing here, so every visit draws new entities, visits of seeds too.
        "demo": {
            "curriculum": {
                "epoch_size": 32,
                "redraw_seeds": True,
                "stages": [{"name": "all", "epochs": 35}],
            },
            "selector:boundary": {"cooldown_steps": 4},
            "buffer:dual-control": {"p_max": 48},
            "evaluation": {"tasks": 192, "samples": 4},
            # No turn takes more than 5 calls. Lost rollouts that wander on for 20 messages outweigh
            # all others in the loss and teach a small policy to wander.
            "trainer:grpo-trl": {"limits": {"max_steps_per_turn": 8}},
        }
    }
    Config = OfficeConfig

    def __init__(self, config: Component.Config | None = None) -> None:
        super().__init__(config)
        self.sets = TaskSets(OfficeConfig.model_validate(self.config.model_dump()))

    def tasks(self, split: Split) -> Sequence[Task]:
        """The seeds, or the evaluation sets one after the other, told apart by their flag."""
        return self.sets.seeds if split == "train" else self.sets.evaluation

    def practice(self, rng_seed: int) -> Iterator[Task]:
        """Endless tasks with train names, mostly of basic skills in one to three turns.

        No composition that evaluation holds out occurs.
        """
        return self.sets.practice(rng_seed)

    @cached_property
    def _specs(self) -> Mapping[str, ToolSpec]:
        wanted = self.sets.options.n_unseen_tools > 0
        return {n: tool.spec for n, tool in TOOLS.items() if wanted or not tool.held_out}

    def tools(self) -> Mapping[str, ToolSpec]:
        """The specifications of all tools; held-out ones only if evaluation asks for them."""
        return self._specs

    def open(self, task: Task) -> OfficeSession:
        """A fresh office in the task's initial state."""
        return OfficeSession(task.initial_state)

    def score(self, task: Task, trajectory: Trajectory) -> ProgressReward:
        """Each turn by its own change and, where it only reads, by what it was shown."""
        return score_by_delta(task, trajectory, self.sets.options.empty_turns)

    def instructions(self, task: Task) -> str:
        """The text of ``policy.md`` if the option asks for it."""
        if not self.sets.options.instructions:
            return ""
        return files("rods_office").joinpath("policy.md").read_text(encoding="utf-8")

    def phrase(self, tool: str) -> Phrase | None:
        """How the office's own tasks ask for the tool."""
        return PHRASES.get(tool)

    def suggest(self, tool: str, parameter: str, state: JsonObject) -> Sequence[JsonValue]:
        """All values that training may use for the parameter, whatever the state holds."""
        known = TOOLS.get(tool)
        kind = known.entities.get(parameter, "") if known else ""
        return TRAIN_VALUES.get(kind, ())
