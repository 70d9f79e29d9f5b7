"""A program of two predictors, and a scripted model that needs to be told to say please."""

from __future__ import annotations

import json
import re
from typing import Any

import dspy
import pytest

from rods.interfaces import StageModels
from rods.synthesis.lm.config import LmConfig
from rods.synthesis.lm.models import LanguageModels
from rods.synthesis.lm.scripted import ScriptedEngine
from rods.types import Stage


class PlanIt(dspy.Signature):
    """Say what the user wants to reach with this seed, in a few words of your own."""

    seed: str = dspy.InputField()
    goal: str = dspy.OutputField()


class WriteIt(dspy.Signature):
    """Write the message in which a user asks an assistant for this goal."""

    goal: str = dspy.InputField()
    request: str = dspy.OutputField()


class Toy(dspy.Module):
    """A variant is verified if its message is polite and holds the seed's name."""

    def __init__(self, models: StageModels) -> None:
        super().__init__()
        self.models = models
        self.plan = dspy.Predict(PlanIt)
        self.rewrite = dspy.Predict(WriteIt)

    def forward(self, seed_id: str, rng_seed: int = 0) -> dspy.Prediction:
        with self.models.of(Stage.PLAN, seed_id):
            goal = self.plan(seed=seed_id).goal
        with self.models.of(Stage.REWRITE, seed_id):
            request = self.rewrite(goal=goal).request
        report: dict[str, list[str]] = {"plan": [], "rewrite": []}
        if seed_id not in goal:
            report["plan"].append("the goal lacks the seed's name")
        if "please" not in request.lower():
            report["rewrite"].append("the message is not polite: say please")
        return dspy.Prediction(ok=not any(report.values()), report=report)


class Author:
    """Plans well, writes politely only when told to (or shown), and improves instructions."""

    def __init__(self, proposals: list[str]) -> None:
        self.proposals = proposals
        self.reflections = 0

    def __call__(self, asked: str) -> str:
        if "`improved`" in asked:
            self.reflections += 1
            text = self.proposals.pop(0) if len(self.proposals) > 1 else self.proposals[0]
            return json.dumps({"improved": text})
        if "`request`" in asked:
            goal = re.findall(r"\[\[ ## goal ## \]\]\n(.*)", asked)[-1]
            told = "say please" in asked.partition("your objective is")[2].lower()
            shown = asked.count("Please help") > 0
            return json.dumps({"request": f"Please help: {goal}" if told or shown else goal})
        seed = re.findall(r"\[\[ ## seed ## \]\]\n(.*)", asked)[-1]
        return json.dumps({"goal": f"reach {seed}"})


POLITE = "Write the message in which a user asks an assistant for this goal. Always say please."


@pytest.fixture
def author() -> Author:
    """Its first proposal is a placeholder, as weak models give it."""
    return Author(["{new_instruction}", POLITE])


def scripted(author: Any) -> tuple[LanguageModels, ScriptedEngine]:
    """The author as the model of every stage."""
    engine = ScriptedEngine(author)
    config = LmConfig(model=("scripted",), retries=0, price_in=1.0, price_out=2.0)
    return LanguageModels.scripted(engine, config), engine


@pytest.fixture
def models(author: Author) -> LanguageModels:
    """The author as the model of every stage."""
    return scripted(author)[0]


@pytest.fixture
def toy(models: LanguageModels) -> Toy:
    """The program."""
    return Toy(models)
