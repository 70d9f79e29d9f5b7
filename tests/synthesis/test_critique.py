"""Every gate rejects what it is there for, and says which."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from rods.structure.constants import constants
from rods.structure.sources import Labeller
from rods.structure.trace import replay
from rods.synthesis.contracts import Draft
from rods.synthesis.critique import CritiqueConfig, RuleCritic
from rods.synthesis.reasons import Reason
from rods.synthesis.skill_aligned import SkillAlignedSynthesizer
from rods.types import Task, ToolCall, Turn


@pytest.fixture
def draft(shop: Any) -> Draft:
    """A good draft."""
    environment = shop()
    pipeline = SkillAlignedSynthesizer(None, environment).pipeline
    made, _ = pipeline.variant(environment.tasks("train")[0], random.Random(4))
    assert made is not None
    return made


@pytest.fixture
def critic(shop: Any) -> RuleCritic:
    """The default gates."""
    environment = shop()
    return RuleCritic(CritiqueConfig(), environment, Labeller(constants(environment.tools())))


Change = Callable[[Task], Task]


def reason(critic: RuleCritic, draft: Draft, change: Change, *, claimed: bool = False) -> Any:
    """The reason for which a changed draft is rejected; None: it passes."""
    changed = replace(draft, task=change(draft.task))
    if not claimed:
        changed = replace(changed, claimed=None)
    found = critic.critique(changed)
    return None if found is None else found.reason


def with_turn(task: Task, index: int, **updates: Any) -> Task:
    turns = list(task.turns)
    turns[index] = turns[index].model_copy(update=updates)
    return task.model_copy(update={"turns": tuple(turns)})


def with_argument(task: Task, turn: int, call: int, name: str, value: Any) -> Task:
    calls = list(task.turns[turn].reference)
    arguments = {**calls[call].arguments, name: value}
    calls[call] = calls[call].model_copy(update={"arguments": arguments})
    return with_turn(task, turn, reference=tuple(calls))


def test_a_good_draft_passes_with_and_without_its_execution(
    critic: RuleCritic, draft: Draft
) -> None:
    assert reason(critic, draft, lambda task: task, claimed=True) is None
    assert reason(critic, draft, lambda task: task) is None


def test_a_tool_that_is_not_offered(critic: RuleCritic, draft: Draft) -> None:
    def withheld(task: Task) -> Task:
        return task.model_copy(update={"tools": tuple(t for t in task.tools if t != "pay")})

    assert reason(critic, draft, withheld) == Reason.UNKNOWN_TOOL


@pytest.mark.parametrize("value", ["12", 1.5, None, True])
def test_an_argument_of_the_wrong_type(critic: RuleCritic, draft: Draft, value: Any) -> None:
    def wrong(task: Task) -> Task:
        return with_argument(task, 0, 1, "amount", value)

    assert reason(critic, draft, wrong) == Reason.INVALID_ARGUMENTS


def test_a_string_that_is_too_long(critic: RuleCritic, draft: Draft) -> None:
    def long(task: Task) -> Task:
        return with_argument(task, 2, 1, "text", "word " * 41)

    assert reason(critic, draft, long) == Reason.TOO_LONG


@pytest.mark.parametrize(
    "said", ["Use price_of on it.", "<think>hm</think> Pay.", "Give receiver_id."]
)
def test_words_that_users_do_not_use(critic: RuleCritic, draft: Draft, said: str) -> None:
    assert reason(critic, draft, lambda task: with_turn(task, 1, user=said)) == Reason.LEAK


def test_a_claimed_execution_that_is_not_what_happens(critic: RuleCritic, draft: Draft) -> None:
    assert draft.claimed is not None
    result = draft.claimed.results[0].model_copy(update={"content": "{}"})
    claims = replace(draft.claimed, results=(result, *draft.claimed.results[1:]))
    found = critic.critique(replace(draft, claimed=claims))
    assert found is not None
    assert found.reason == Reason.NOT_DETERMINISTIC
    assert (found.stage, found.seed_id) == ("critique", "shop_1")


def test_a_reference_that_fails(critic: RuleCritic, draft: Draft) -> None:
    def failing(task: Task) -> Task:
        return with_argument(task, 1, 0, "order_id", "order-1")

    assert reason(critic, draft, failing) == Reason.VM_EXEC_FAILED


def test_a_turn_whose_answer_is_known_already(critic: RuleCritic, draft: Draft) -> None:
    def idle(task: Task) -> Task:
        again = Turn(user="Look it up again.", reference=task.turns[0].reference[:1])
        return task.model_copy(update={"turns": (task.turns[0], again, *task.turns[1:])})

    assert reason(critic, draft, idle) == Reason.NO_OP_TURN


def test_a_turn_may_be_idle_where_the_seeds_own_is(
    shop: Any, critic: RuleCritic, draft: Draft
) -> None:
    def idle(task: Task, place: int) -> Task:
        again = Turn(user="Look it up again.", reference=task.turns[0].reference[:1])
        return task.model_copy(update={"turns": (*task.turns[:place], again, *task.turns[place:])})

    plan = draft.execution.plan
    blueprint = replace(plan.blueprint, task=idle(plan.blueprint.task, 1))
    execution = replace(draft.execution, plan=replace(plan, blueprint=blueprint))
    for place, rejected in ((1, False), (2, True)):
        task = idle(draft.task, place)
        trace = replay(shop(), task, states=range(-1, len(task.turns)))
        found = critic.no_idle_turn(replace(draft, task=task, execution=execution), trace)
        assert (found is not None) is rejected, place


def test_a_task_that_the_world_objects_to(shop: Any, draft: Draft) -> None:
    class Picky(shop):  # type: ignore[misc]
        def objection(self, task: Task) -> str:
            return "paid twice" if len(task.turns) > 2 else ""

    environment = Picky()
    critic = RuleCritic(CritiqueConfig(), environment, Labeller(constants(environment.tools())))
    found = critic.critique(draft)
    assert found is not None
    assert (found.reason, found.detail) == (Reason.OBJECTED, "paid twice")


def test_an_argument_that_nothing_tells(critic: RuleCritic, draft: Draft) -> None:
    def untold(task: Task) -> Task:
        return with_turn(task, 0, user="Look it up and buy some.")

    assert reason(critic, draft, untold) in (Reason.NO_SOURCE, Reason.PROFILE_MISMATCH)


def test_an_argument_that_is_told_otherwise(critic: RuleCritic, draft: Draft) -> None:
    """The order's id came from a result; here the user says it: an easier task."""
    order = draft.task.turns[1].reference[0].arguments["order_id"]

    def told(task: Task) -> Task:
        return with_turn(task, 1, user=f"Pay {order}.")

    assert reason(critic, draft, told) == Reason.PROFILE_MISMATCH


def test_another_call(critic: RuleCritic, draft: Draft) -> None:
    def more(task: Task) -> Task:
        extra = ToolCall(name="find_user", arguments={"user": "Bob"})
        calls = (*task.turns[2].reference, extra)
        return with_turn(task, 2, user=task.turns[2].user + " And Bob?", reference=calls)

    assert reason(critic, draft, more) == Reason.PROFILE_MISMATCH


def test_an_evaluation_task_nearby(shop: Any, draft: Draft) -> None:
    environment = shop(held_out=[draft.task])
    critic = RuleCritic(CritiqueConfig(), environment, Labeller(constants(environment.tools())))
    assert reason(critic, draft, lambda task: task) == Reason.CONTAMINATED


def test_only_patchable_reasons_promise_another_try() -> None:
    assert Reason.VM_EXEC_FAILED.patchable
    assert Reason.PARAM_GEN_FAILED.patchable
    assert not Reason.CONTAMINATED.patchable
    assert len(Reason) > 12
