"""The kit passes a sound world and names the fault of a broken one."""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Callable, Sequence
from datetime import date

import pytest

from rods.interfaces import Environment
from rods.scoring import replay_score
from rods.testing import FakeEnvironment, check_environment
from rods.testing.advice import ADVICE
from rods.testing.conformance import CHECKS, ELSEWHERE, spread
from rods.testing.world import TOOLS, FakeSession
from rods.types import (
    JsonObject,
    JsonValue,
    ProgressReward,
    Split,
    Task,
    ToolCall,
    ToolResult,
    Trajectory,
    Turn,
)

from .patched import COPIES, Patched, RaisingOnStrangers, failed


def test_a_sound_world_passes_every_check() -> None:
    checks = check_environment(FakeEnvironment())
    assert len(checks) == len(CHECKS)
    assert failed(FakeEnvironment()) == {}


def test_a_small_sample_plays_every_kind_of_both_splits() -> None:
    tasks = [t for s in ("train", "eval") for t in FakeEnvironment().tasks(s)]
    sample = spread(tasks, 8)
    assert len(sample) == len({(t.split, t.kind) for t in sample}) == 8


def test_one_split_can_be_played_alone() -> None:
    world = Patched(session=Raising, only="eval")
    assert "reference runs without errors" in failed(world, split="eval")
    assert "reference runs without errors" not in failed(world, split="train")


# ------------------------------------------------------------------------------- broken worlds
class Raising(FakeSession):
    def call(self, call: ToolCall) -> ToolResult:
        raise KeyError(call.name)


class SharingState(FakeSession):
    def __init__(self, initial_state: JsonObject, *, down: bool = False) -> None:
        super().__init__(initial_state, down=down)
        self._state = initial_state


class SharingCounter(FakeSession):
    """The class of bug that deep copies do not show: a counter of the module."""

    numbers = itertools.count(100)

    def call(self, call: ToolCall) -> ToolResult:
        if call.name == "order":
            self._state["next"] = next(self.numbers)
        return super().call(call)


class Diary(FakeSession):
    """Writes the day and a number into its state."""

    def call(self, call: ToolCall) -> ToolResult:
        self._state["at"] = [time.gmtime().tm_year, random.random() > 2]
        return super().call(call)


class Dated(FakeSession):
    """As the diary, with a name that its module has bound."""

    def call(self, call: ToolCall) -> ToolResult:
        self._state["at"] = date.today().year
        return super().call(call)


class LivingState(FakeSession):
    def state(self) -> JsonObject:
        return self._state


class ForgetfulSnapshot(FakeSession):
    def snapshot(self) -> JsonObject:
        return self._state


class HalfState(FakeSession):
    """A state that JSON cannot hold."""

    def state(self) -> JsonObject:
        return {**super().state(), 1: "one"}  # type: ignore[dict-item]


class ClosedForGood(FakeSession):
    closed = False

    def close(self) -> None:
        if self.closed:
            raise RuntimeError("closed already")
        self.closed = True


class Forgiving(FakeSession):
    """Ignores arguments that it does not know."""

    def call(self, call: ToolCall) -> ToolResult:
        return super().call(call) if call.name in TOOLS else ToolResult(content="fine")


def with_turns(*turns: Turn) -> Callable[[Task], Task]:
    return lambda task: task.model_copy(update={"turns": (*turns, *task.turns)})


def renamed(task: Task) -> Task:
    return task.model_copy(update={"id": "same"})


def with_a_failing_call(task: Task) -> Task:
    failing = ToolCall(name="cancel", arguments={"order": "o-none"})
    turn = Turn(user="Cancel what is not there.", reference=(failing,))
    return task.model_copy(update={"turns": (*task.turns, turn), "tools": (*TOOLS,)})


def always_offering_cancel(task: Task) -> Task:
    return task.model_copy(update={"tools": tuple(TOOLS)})


COUNT = ToolCall(name="count", arguments={"item": "nuts"})
ILL_TYPED = ToolCall(name="count", arguments={"item": 3})
BAD_SPEC = TOOLS["count"].model_copy(update={"parameters": {"type": "object", "required": ["x"]}})

BROKEN = {
    "another environment's tasks": (
        Patched(change=lambda t: t.model_copy(update={"environment": "other"})),
        "tasks are well formed",
    ),
    "a split that is given out as the other": (
        Patched(change=lambda t: t.model_copy(update={"split": "train"})),
        "tasks are well formed",
    ),
    "an unknown tool": (
        Patched(change=lambda t: t.model_copy(update={"tools": (*t.tools, "fly")})),
        "tasks are well formed",
    ),
    "ids that stand twice": (Patched(change=renamed), "splits are disjoint"),
    "an invalid schema": (
        Patched(specs={**TOOLS, "count": BAD_SPEC}),
        "tool schemas are valid",
    ),
    "a reference with a wrong type": (
        Patched(change=with_turns(Turn(user="Count.", reference=(ILL_TYPED,)))),
        "reference fits the schemas",
    ),
    "a reference that fails": (
        Patched(change=with_a_failing_call),
        "reference runs without errors",
    ),
    "a session that raises": (Patched(session=RaisingOnStrangers), "bad calls are errors"),
    "a session that accepts anything": (Patched(session=Forgiving), "bad calls are errors"),
    "worlds that share their initial state": (Patched(session=SharingState), "opening resets"),
    "worlds that share a counter": (Patched(session=SharingCounter), "sessions are isolated"),
    "a counter that goes on": (Patched(session=SharingCounter), "runs repeat"),
    "a state with a date": (Patched(session=Diary), "another day changes nothing"),
    "a date of a bound name": (Patched(session=Dated), "another day changes nothing"),
    "a state that stays alive": (Patched(session=LivingState), "states are json copies"),
    "a state that is no JSON": (Patched(session=HalfState), "states are json copies"),
    "a snapshot that moves on": (Patched(session=ForgetfulSnapshot), "snapshots restore"),
    "a close that works once": (Patched(session=ClosedForGood), "closing twice is safe"),
    "a turn whose goal holds already": (
        Patched(change=lambda t: t.model_copy(update={"turns": (_no_op(t),)})),
        "idling solves nothing",
    ),
    "a hidden tool that is not hidden": (
        Patched(change=always_offering_cancel),
        "hidden tools come with reveals",
    ),
}


def _no_op(task: Task) -> Turn:
    """A turn whose reference only fails: an empty call answers with the same text."""
    return Turn(user="Add.", reference=(ToolCall(name="count"),))


@pytest.mark.parametrize(("world", "check"), BROKEN.values(), ids=BROKEN.keys())
def test_a_fault_is_found_by_the_check_that_is_named_after_it(
    world: Environment, check: str
) -> None:
    assert check in failed(world)


class Generous(FakeEnvironment):
    """Judges by the wrong rule."""

    def __init__(self, rule: Callable[[ProgressReward, Trajectory], ProgressReward]) -> None:
        super().__init__()
        self._rule = rule

    def score(self, task: Task, trajectory: Trajectory) -> ProgressReward:
        return self._rule(replay_score(self.open, task, trajectory), trajectory)


def test_a_reward_for_idling_is_found_with_the_tasks_that_give_it() -> None:
    def pass_all(reward: ProgressReward, trajectory: Trajectory) -> ProgressReward:
        passed = {"state_ok": True, "response_ok": True, "acted": True}
        verdicts = tuple(v.model_copy(update=passed) for v in reward.verdicts)
        return reward.model_copy(update={"verdicts": verdicts})

    found = failed(Generous(pass_all))
    assert "fake_train_base_0" in found["silence earns nothing"]
    assert "random calls solve nothing" in found
    assert "an empty rollout earns nothing" in found


def test_verdicts_for_played_turns_only_are_found() -> None:
    def truncate(reward: ProgressReward, trajectory: Trajectory) -> ProgressReward:
        return reward.model_copy(update={"verdicts": reward.verdicts[: len(trajectory.turns)]})

    assert "every turn has a verdict" in failed(Generous(truncate))


def test_a_world_that_cannot_even_list_its_tasks_is_one_failed_check() -> None:
    class Empty(FakeEnvironment):
        def tasks(self, split: Split) -> Sequence[Task]:
            raise FileNotFoundError("tasks.json")

    (check,) = check_environment(Empty())
    assert not check.ok
    assert "tasks.json" in check.detail


def test_a_task_flagged_as_defective_is_listed_and_does_not_fail() -> None:
    def flagged(task: Task) -> Task:
        return with_a_failing_call(task).model_copy(update={"flags": ("defect",)})

    world = Patched(change=flagged)
    checks = {check.name: check for check in check_environment(world)}
    assert checks["reference runs without errors"].ok
    assert "known defects: 16 of 16 tasks" in checks["reference runs without errors"].detail


def test_a_tool_that_is_handed_over_and_never_needed_is_no_fault() -> None:
    def unused(task: Task) -> Task:
        turns = (*task.turns[:-1], task.turns[-1].model_copy(update={"reference": (COUNT,)}))
        return task.model_copy(update={"turns": turns}) if task.kind == "miss_func" else task

    assert "hidden tools come with reveals" not in failed(Patched(change=unused), split="train")


def test_suggestions_outside_the_schema_are_found() -> None:
    class Suggesting(FakeEnvironment):
        def suggest(self, tool: str, parameter: str, state: JsonObject) -> Sequence[JsonValue]:
            return ["many"]

    assert "'many'" in failed(Suggesting())["suggestions fit the schemas"]


def test_two_tasks_of_one_id_fail_one_row_and_the_others_are_judged() -> None:
    def one_twice(task: Task) -> Task:
        again = task.id == "fake_train_base_1"
        return task.model_copy(update={"id": "fake_train_base_0"}) if again else task

    assert set(failed(Patched(change=one_twice))) == {"splits are disjoint"}


def test_a_set_that_a_tool_puts_into_the_state_is_named_with_its_place() -> None:
    class Tagging(FakeSession):
        def call(self, call: ToolCall) -> ToolResult:
            self._state["tags"] = {"seen": {call.name}}
            return super().call(call)

    found = failed(Patched(session=Tagging))
    assert "after the reference, the state holds a set at tags.seen" in found[COPIES]
    assert "the state holds a set at tags.seen" in found["another day changes nothing"]


# ------------------------------------------------------------------------------- advice
def test_every_check_has_advice_and_no_advice_is_left_over() -> None:
    assert set(ADVICE) == {check.__name__ for check in (*CHECKS, ELSEWHERE)}


class Guessable(FakeEnvironment):
    """One turn, one tool, few amounts: random calls hit the goal."""

    def tasks(self, split: Split) -> Sequence[Task]:
        turn = Turn(user="Count the nuts.", reference=(COUNT,))
        small = {"turns": (turn,), "tools": ("count",), "initial_state": STOCK, "kind": "base"}
        return [task.model_copy(update=small) for task in super().tasks(split)]


STOCK: JsonObject = {"stock": {"nuts": 1}, "orders": {}, "next": 1}


def test_a_lucky_guess_is_shown_with_its_call_and_the_advice_that_helps() -> None:
    checks = {check.name: check for check in check_environment(Guessable(), split="train")}
    lucky = checks["random calls solve nothing"]
    assert not lucky.ok
    assert "turn 0 passes with count(" in lucky.detail
    assert 'count({"item": "nuts"})' in lucky.detail
    assert "wider ranges" in lucky.fix
    assert "more turns alone do not help" in lucky.fix


def test_a_claim_that_there_is_not_is_found() -> None:
    world = FakeEnvironment()
    world.determinism = "surely"  # type: ignore[assignment]
    assert failed(world) == {"capabilities are declared": "determinism = 'surely'"}
