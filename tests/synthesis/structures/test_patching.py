"""A failing plan gets another world, not other arguments; what a model proposes is only data."""

from __future__ import annotations

import random
from typing import Any

import pytest

from rods.structure.proposal import PlannedCall, Proposal
from rods.synthesis.contracts import Execution, Plan
from rods.synthesis.program import ModelAssistant, Predictors
from rods.synthesis.skill_aligned import SkillAlignedSynthesizer
from rods.synthesis.structures.assistant import NoAssistant
from rods.synthesis.structures.execute import ProposalRunner
from rods.synthesis.structures.patching import Place, StatePatcher, checked
from rods.synthesis.turns import Turn
from rods.types import JsonObject, Rejection, Task, ToolCall

from .conftest import Model

PRICES = (21.0, 22.5)


def call(name: str, **arguments: Any) -> ToolCall:
    return ToolCall(name=name, arguments=arguments)


BUY = call("buy", item="desk_lamp", price=19.5, amount=2)
FIND = call("find_user", user="Carol")


class Shop:
    """A shop whose train tasks differ in the lamp's price and in their users."""

    def __init__(self, shop: Any, prices: tuple[float, ...] = PRICES) -> None:
        seed = shop().tasks("train")[0]
        self.tasks = [self.priced(seed, n, price) for n, price in enumerate(prices)]
        self.environment = shop(*self.tasks)

    @staticmethod
    def priced(seed: Task, number: int, price: float) -> Task:
        users = {"Alice": "USR001", f"Bob{number}": f"USR01{number}"}
        state = {**seed.initial_state, "users": users}
        items: Any = seed.initial_state["items"]
        state["items"] = {**items, "desk_lamp": price}
        return seed.model_copy(update={"id": f"shop_{number}", "initial_state": state})

    def execute(self, *calls: ToolCall, model: Model | None = None, tries: int = 3) -> Any:
        """What becomes of a plan of these calls in the first task's world."""
        assistant: Any = NoAssistant()
        if model is not None:
            assistant = ModelAssistant(model.models, Predictors(), Turn())
        patcher = StatePatcher(self.environment, assistant, tries)
        runner = ProposalRunner(self.environment, assistant, patcher=patcher)
        return runner.execute(self.plan(calls), random.Random(1))

    def plan(self, calls: tuple[ToolCall, ...]) -> Plan:
        task = self.tasks[0]
        study = SkillAlignedSynthesizer(None, self.environment).workshop.study
        blueprint = study.executed(task.model_copy(update={"turns": task.turns[2:]}))
        planned = (tuple(PlannedCall(one, {}) for one in calls),)
        return Plan.new(
            blueprint,
            Proposal(task.id, planned, task.tools, task.initial_state, blueprint.profile),
        )


def patches(made: Any) -> list[tuple[Any, Any]]:
    assert isinstance(made, Execution), made
    assert made.plan.proposal is not None
    assert made.initial_state == made.plan.proposal.initial_state
    return [(patch.path, patch.value) for patch in made.plan.proposal.patches]


def place(request: str, start: str) -> int:
    """The number of the place that begins so."""
    return next(n for n in range(1, 99) if f"{n}. {start}" in request)


def test_another_tasks_value_is_tried_without_a_model(shop: Any) -> None:
    made = Shop(shop, (21.0, 19.5)).execute(BUY)
    assert patches(made) == [(("items", "desk_lamp"), 19.5)]
    assert made.reference == ((BUY,),)


def test_what_no_rule_repairs_is_rejected_without_a_model(shop: Any) -> None:
    made = Shop(shop).execute(BUY)
    assert isinstance(made, Rejection)
    assert (made.stage, made.reason) == ("execute", "vm_exec_failed")
    assert made.detail.startswith("buy: ")


def test_a_model_sets_a_value_and_adds_an_entry(shop: Any) -> None:
    def entry(request: str) -> dict[str, Any]:
        return {"place": place(request, "add an entry to users"), "key": "Carol", "value": '"U7"'}

    def price(request: str) -> dict[str, Any]:
        return {"place": place(request, "set items.desk_lamp"), "key": "", "value": "19.5"}

    model = Model(patch=[price, entry])
    made = Shop(shop).execute(BUY, FIND, model=model, tries=5)
    assert patches(made) == [(("items", "desk_lamp"), 19.5), (("users", "Carol"), "U7")]
    assert made.reference == ((BUY, FIND),)
    assert model.asked == ["patch", "patch"]


@pytest.mark.parametrize(
    "answer",
    ["no json", {"place": 99, "key": "", "value": "1"}, {"place": 1, "key": "", "value": "__x__"}],
)
def test_an_answer_that_does_not_fit_ends_the_attempt(shop: Any, answer: Any) -> None:
    model = Model(patch=[answer])
    made = Shop(shop).execute(FIND, model=model)
    assert isinstance(made, Rejection)
    assert model.asked == ["patch"]


def test_tries_are_counted(shop: Any) -> None:
    def useless(request: str) -> dict[str, Any]:
        number = place(request, "add an entry to users")
        return {"place": number, "key": f"Dave{len(model.asked)}", "value": '"U7"'}

    model = Model(patch=[useless] * 9)
    made = Shop(shop).execute(FIND, model=model, tries=2)
    assert isinstance(made, Rejection)
    assert 1 <= len(model.asked) <= 2
    assert isinstance(Shop(shop).execute(FIND, model=model, tries=0), Rejection)
    assert len(model.asked) <= 2


STATE: JsonObject = {"on": True, "n": 3, "users": {"a": {"id": "U1", "age": 3}}}
SET = {"on": Place(("on",), "set", {"1": True}), "n": Place(("n",), "set", {"1": 1})}
ADD = Place(("users",), "add", {"1": {"id": "U1", "age": 3}})


@pytest.mark.parametrize(
    ("where", "key", "text", "accepted"),
    [
        (SET["on"], "", "false", True),
        (SET["on"], "", "true", False),
        (SET["on"], "", "0", False),
        (SET["n"], "", "7", True),
        (SET["n"], "", "true", False),
        (SET["n"], "", "NaN", False),
        (SET["n"], "", '"7"', False),
        (SET["n"], "", "[" * 5000, False),
        (ADD, "b", '{"id": "U2", "age": 4}', True),
        (ADD, "a", '{"id": "U2", "age": 4}', False),
        (ADD, "", '{"id": "U2", "age": 4}', False),
        (ADD, "b", '{"id": "U2"}', False),
        (ADD, "b", '{"id": "U2", "age": "4"}', False),
        (Place(("gone",), "set", {"1": 1}), "", "2", False),
    ],
)
def test_only_a_value_of_the_places_type_is_a_patch(
    where: Place, key: str, text: str, accepted: bool
) -> None:
    assert (checked(where, key, text, STATE, "why") is not None) == accepted
