"""Resampling in a world without suggestions: what changes, what follows, what stays."""

from __future__ import annotations

import random
from typing import Any

from rods.interfaces import Environment
from rods.structure.trace import replay
from rods.synthesis.contracts import Draft, Execution, Plan
from rods.synthesis.execute import Resampler
from rods.synthesis.reasons import Reason
from rods.synthesis.skill_aligned import SkillAlignedSynthesizer
from rods.synthesis.slots import Style
from rods.types import Rejection, Task, Turn


def drafted(environment: Environment, seed: int = 1) -> Draft:
    """A variant of the only seed."""
    pipeline = SkillAlignedSynthesizer(None, environment).pipeline
    draft, _ = pipeline.variant(environment.tasks("train")[0], random.Random(seed))
    assert draft is not None
    return draft


def changed(environment: Environment, **updates: Any) -> Task:
    """The seed with other fields."""
    return environment.tasks("train")[0].model_copy(update=updates)


def test_names_amounts_prices_and_users_become_others_everywhere(shop: Any) -> None:
    environment = shop()
    draft = drafted(environment)
    new = dict(draft.substitutions)
    task = draft.task
    lamp, amount, alice = new["desk_lamp"], new["12"], new["Alice"]
    assert task.turns[0].user == f"Look up the '{lamp}' and buy {amount} of them."
    assert task.turns[2].user.startswith(f"Tell {alice}: '")
    assert lamp in str(task.initial_state["items"])
    assert "desk_lamp" not in str(task.model_dump())
    assert set(task.initial_state["users"]) == {alice, "Bob"}  # type: ignore[arg-type]


def test_arguments_from_results_are_read_from_the_new_results(shop: Any) -> None:
    environment = shop()
    task = drafted(environment).task
    trace = replay(environment, task)
    price, order = trace.calls[1].arguments["price"], trace.calls[2].arguments["order_id"]
    assert f'"price": {price}' in trace.contents[0]
    assert price != 19.5
    assert f'"id": "{order}"' in trace.contents[1]
    assert trace.calls[4].arguments["receiver_id"] in trace.contents[3]


def test_the_execution_is_what_a_fresh_world_does(shop: Any) -> None:
    environment = shop()
    draft = drafted(environment)
    assert draft.claimed is not None
    trace = replay(environment, draft.task)
    assert (trace.calls, trace.results) == (draft.claimed.calls, draft.claimed.results)
    assert trace.final == draft.claimed.final


def test_the_seed_is_never_changed(shop: Any) -> None:
    environment = shop()
    before = environment.tasks("train")[0].model_dump_json()
    for number in range(5):
        drafted(environment, number)
    assert environment.tasks("train")[0].model_dump_json() == before


def slots_of(environment: Environment) -> dict[Any, Style]:
    pipeline = SkillAlignedSynthesizer(None, environment).pipeline
    blueprint = pipeline.blueprint(environment.tasks("train")[0])
    return {slot.value: slot.style for slot in blueprint.slots}


def test_prices_stay_where_the_user_compares(shop: Any) -> None:
    seed = shop().tasks("train")[0]
    first = seed.turns[0].model_copy(update={"user": seed.turns[0].user + " Only if it is cheap."})
    task = changed(shop(), turns=(first, *seed.turns[1:]))
    assert 19.5 in slots_of(shop())
    assert 19.5 not in slots_of(shop(task))


def test_numbers_stay_where_an_argument_is_computed_from_them(shop: Any) -> None:
    seed = shop().tasks("train")[0]
    user = "Look up the 'desk_lamp' and buy double the 6 we have."
    first = seed.turns[0].model_copy(update={"user": user})
    assert not [
        v for v in slots_of(shop(changed(shop(), turns=(first, *seed.turns[1:])))) if v == 6
    ]


def test_a_number_that_the_user_quotes_from_a_result_must_stay_true(shop: Any) -> None:
    """234 is the total of 12 lamps; with other amounts it would be wrong."""
    seed = shop().tasks("train")[0]
    second = seed.turns[1].model_copy(update={"user": "Pay that order of 234 dollars."})
    environment = shop(changed(shop(), turns=(seed.turns[0], second, *seed.turns[2:])))
    slots = slots_of(environment)
    assert 12 not in slots
    assert 19.5 not in slots
    assert "desk_lamp" in slots
    assert "234 dollars" in drafted(environment).task.turns[1].user


def test_a_name_that_is_a_verb_in_the_text_stays(shop: Any) -> None:
    seed = shop().tasks("train")[0]
    state = {**seed.initial_state, "items": {"mirror": 80.25, "rug": 45.0}}
    reference = tuple(
        call.model_copy(update={"arguments": {**call.arguments, "item": "mirror"}})
        for call in seed.turns[0].reference
    )
    reference[1].arguments["price"] = 80.25
    noun = Turn(user="Look up the mirror and buy 12 of them.", reference=reference)
    verb = Turn(user="I want to mirror a wall: the mirror, 12 of them.", reference=reference)
    for turn, free in ((noun, True), (verb, False)):
        task = changed(shop(), turns=(turn,), initial_state=state)
        assert ("mirror" in slots_of(shop(task))) == free


def test_the_answers_must_be_those_of_the_seed(shop: Any) -> None:
    """A world that answers otherwise for some values is noticed, whatever the values are."""

    class Moody(shop):  # type: ignore[misc]
        def open(self, task: Task) -> Any:
            session = super().open(task)
            if "desk_lamp" not in str(task.initial_state):
                session._state["users"]["Bob"] = "USR777"
                session._send = lambda receiver_id, text: {"queued": True}
            return session

    environment = Moody()
    pipeline = SkillAlignedSynthesizer(None, environment).pipeline
    blueprint = pipeline.blueprint(environment.tasks("train")[0])
    assert "desk_lamp" not in {slot.value for slot in blueprint.slots}
    executed = pipeline._study.executed(environment.tasks("train")[0])
    lamp = tuple(slot for slot in executed.slots if slot.value == "desk_lamp")
    result = Resampler(environment).execute(Plan.of(executed, lamp), random.Random(1))
    assert isinstance(result, Rejection)
    assert result.reason == Reason.OUTPUT_MISMATCH
    assert not isinstance(result, Execution)
