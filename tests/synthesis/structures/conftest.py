"""A small office, its plans of other functions, and a model that answers as it is told."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from rods.interfaces import Environment
from rods.synthesis.lm.models import LanguageModels
from rods.synthesis.lm.scripted import ScriptedEngine
from rods.synthesis.skill_aligned import SkillAlignedSynthesizer

QUICK: dict[str, Any] = {"planning": {"search": {"exploration_calls": 0}}}
CRITERIA = ("query_matches", "state_consistent", "coherent", "natural", "well_formed")


@pytest.fixture(scope="session")
def office() -> Environment:
    """The easy office: sixteen train tasks."""
    module = pytest.importorskip("rods_office.environment")
    return module.OfficeEnvironment()  # type: ignore[no-any-return]


@pytest.fixture(scope="session")
def plain(office: Environment) -> SkillAlignedSynthesizer:
    """New structures without a model; what it learns of the office is shared."""
    return synthesizer(office, structures="new")


def synthesizer(environment: Environment, **options: Any) -> SkillAlignedSynthesizer:
    """A synthesizer whose planner learns from the train tasks alone."""
    return SkillAlignedSynthesizer(
        SkillAlignedSynthesizer.Config.model_validate(QUICK | options), environment
    )


class Model:
    """Answers each question well, but for the faulty answers in ``wrong`` that come first."""

    def __init__(self, **wrong: list[Any]) -> None:
        self.wrong = wrong
        self.asked: list[str] = []
        self.engine = ScriptedEngine(self.reply)
        self.models = LanguageModels.scripted(self.engine)

    def reply(self, request: str) -> str:
        """JSON with the fields that the request asks for."""
        question = next(q for q, mark in MARKS.items() if mark in request)
        self.asked.append(question)
        faults = self.wrong.get(question)
        if faults:
            fault = faults.pop(0)
            if isinstance(fault, Exception):
                raise fault
            if callable(fault):
                return json.dumps(fault(request))
            if fault is not None:
                return json.dumps(fault) if not isinstance(fault, str) else fault
        return json.dumps(ANSWERS[question](request))


@pytest.fixture
def build(office: Environment, plain: SkillAlignedSynthesizer) -> Any:
    """Synthesizers that share what was learned of the office."""

    def made(model: Model, **options: Any) -> SkillAlignedSynthesizer:
        one = synthesizer(office, **options)
        one.workshop.__dict__["_planner"] = plain.workshop._planner
        one.use(model.models)
        return one

    return made


MARKS = {
    "choose": "Choose the plan",
    "write": "Write all messages",
    "message": "Write one polite message",
    "judge": "Judge whether",
    "blur": "Leave a value out",
    "patch": "Change the initial state",
    "fill": "Write the free texts",
}


def field(request: str, name: str) -> Any:
    """An input field of a request."""
    found = re.findall(rf"\[\[ ## {name} ## \]\]\n(.*?)(?=\n\n|\Z)", request, re.DOTALL)[-1]
    return json.loads(found) if found.startswith("[") else found


def _written(request: str) -> dict[str, Any]:
    requests = field(request, "requests")
    return {"messages": [entry.partition(": ")[2] for entry in requests], "texts": []}


def _left_out(request: str) -> dict[str, Any]:
    message = field(request, "message").replace("{value}", "something")
    return {"request": message, "supply": "oh yes it is {value}"}


def verdict(**changed: Any) -> dict[str, Any]:
    """A judge's answer; all is well but for what is changed."""
    good = dict.fromkeys(CRITERIA, True)
    return {**good, "fault": "none", "remarks": "", **changed}


ANSWERS: dict[str, Callable[[str], dict[str, Any]]] = {
    "choose": lambda _: {"choice": 1, "narrative": "Somebody puts the office in order."},
    "write": _written,
    "message": lambda request: {"message": field(request, "request")},
    "judge": lambda _: verdict(),
    "fill": lambda _: {"texts": []},
    "blur": _left_out,
}
