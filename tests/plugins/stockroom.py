"""A whole plugin for tests of the command line: world, trainer and synthesizer in milliseconds.

Tests copy this file into a distribution of their own; it is never imported from here.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterable, Sequence
from typing import ClassVar

from pydantic import Field

import rods
from rods.testing import FakeEnvironment, FakeTrainer
from rods.testing.world import ITEMS
from rods.types import Candidate, Rejection, Split, Stage, SynthesisOutcome, Task

NAMES = re.compile(r"\b(" + "|".join(ITEMS["train"]) + r")\b")


class Stockroom(FakeEnvironment):
    """The fake world with settings of its own for the demo."""

    name = "stockroom"
    suites: ClassVar = {
        "stock": {"small stockroom": {"tasks": 4}, "larger stockroom": {"tasks": 8}},
        "down": {"stockroom": {"tasks": 4}, "no stockroom": {"tasks": 4, "outage_every": 1}},
        "wrong": {"stockroom": {"tasks": 4}, "odd stockroom": {"tasks": 0}},
        "flagged": {"stockroom": {"tasks": 4, "idle": 1}},
    }

    class Config(FakeEnvironment.Config):
        """Flags, for reports."""

        idle: int = Field(0, ge=0, description="Evaluation tasks that are flagged idle.")

    config: Config

    def tasks(self, split: Split) -> Sequence[Task]:
        """Those of the fake world; the first evaluation tasks may have a flag."""
        idle = self.config.idle if split == "eval" else 0
        return [
            task.model_copy(update={"flags": ("idle",)}) if number < idle else task
            for number, task in enumerate(super().tasks(split))
        ]

    eval_splits: ClassVar = {"few": {"tasks": 2}}
    presets: ClassVar = {
        "demo": {
            "environment": {"tasks": 16},
            "trainer:slow": {"skill": 0.45},
            "curriculum": {"epoch_size": 8, "stages": [{"name": "all", "epochs": 4}]},
            "selector": {"cooldown_steps": 1},
            "synthesizer": {"name": "renamer"},
            "synthesis": {"mode": "sync"},
            "evaluation": {"tasks": 8, "samples": 2},
        }
    }


class SlowTrainer(FakeTrainer):
    """The trainer without a model; it says what its results are worth."""

    name = "slow"

    def notes(self, environment: rods.Environment) -> Sequence[str]:
        """One sentence."""
        return ["The policy is a coin; it only exercises the machine."]


class Renamer(rods.Synthesizer):
    """Variants with the stockroom's items exchanged; every fifth attempt is rejected."""

    name = "renamer"

    class Config(rods.Synthesizer.Config):
        """How often it fails."""

        reject_every: int = Field(5, ge=2, description="One attempt in so many is rejected.")

    config: Config

    def synthesize(self, seed: Task, *, n: int, rng_seed: int) -> SynthesisOutcome:
        """n attempts."""
        rng = random.Random(rng_seed)
        candidates, rejections = [], []
        for _ in range(n):
            if rng.randrange(self.config.reject_every):
                task = self.renamed(seed, rng)
                candidates.append(Candidate(task=task, seed_id=seed.id))
            else:
                why = Rejection(stage=Stage.CRITIQUE, reason="leak", seed_id=seed.id)
                rejections.append(why)
        return SynthesisOutcome(candidates=tuple(candidates), rejections=tuple(rejections))

    def redraw(self, task: Task, *, rng_seed: int) -> Task:
        """The same task with other items."""
        return self.renamed(task, random.Random(rng_seed))

    def renamed(self, task: Task, rng: random.Random) -> Task:
        """``task`` with its items permuted."""
        items = list(ITEMS["train"])
        new = dict(zip(items, rng.sample(items, len(items)), strict=True))
        content = task.model_dump(mode="json", include={"turns", "initial_state"})
        text = NAMES.sub(lambda match: new[match.group()], json.dumps(content))
        update = {"origin": "synthetic", "parent_id": task.id, "generation": task.generation + 1}
        whole = {**task.model_dump(mode="json"), **json.loads(text), **update}
        return Task.model_validate_json(json.dumps(whole)).with_content_id()


@rods.hookimpl
def rods_register_environments() -> Iterable[type[rods.Environment]]:
    """The stockroom."""
    return [Stockroom]


@rods.hookimpl
def rods_register_trainers() -> Iterable[type[rods.Trainer]]:
    """The trainer without a model."""
    return [SlowTrainer]


@rods.hookimpl
def rods_register_synthesizers() -> Iterable[type[rods.Synthesizer]]:
    """The renamer."""
    return [Renamer]
