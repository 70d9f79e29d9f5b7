"""What the kit says of splits, of suggestions, of what a reference takes, and of refused calls."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from rods.testing import FakeEnvironment
from rods.testing.world import ITEMS, TOOLS, FakeSession
from rods.types import JsonObject, JsonValue, Split, Task, ToolCall, ToolResult, Turn

from .patched import REFUSED, RUNS, Patched, row


class Splits(FakeEnvironment):
    """The stockroom with an eval split of one's own making."""

    def __init__(self, make: Callable[[Task], Task]) -> None:
        super().__init__()
        self._make = make

    def tasks(self, split: Split) -> Sequence[Task]:
        train = super().tasks("train")
        if split == "train":
            return train
        return [
            self._make(t.model_copy(update={"split": "eval", "id": f"e-{t.id}"})) for t in train
        ]


def test_eval_tasks_that_are_train_tasks_under_other_ids_are_found() -> None:
    fewer = Splits(lambda task: task.model_copy(update={"tools": (*task.tools, *task.tools[:1])}))
    check = row(fewer, "splits are disjoint")
    assert not check.ok
    assert "8 of 8 eval tasks have the turns and the state of a train task" in check.detail
    assert "e-fake_train_base_0 those of fake_train_base_0" in check.detail


def other_stock(task: Task) -> Task:
    stock = dict.fromkeys(ITEMS["train"], 7)
    return task.model_copy(update={"initial_state": {**task.initial_state, "stock": stock}})


def test_eval_tasks_that_say_nothing_new_are_found() -> None:
    check = row(Splits(other_stock), "splits are disjoint")
    assert not check.ok
    assert "requests of eval stand in train word for word" in check.detail
    assert check.fix.startswith("give eval requests and entities of its own")


def test_names_that_both_splits_speak_of_are_told_and_no_fault() -> None:
    def politely(task: Task) -> Task:
        turns = [t.model_copy(update={"user": f"Please: {t.user}"}) for t in task.turns]
        return other_stock(task).model_copy(update={"turns": tuple(turns)})

    check = row(Splits(politely), "splits are disjoint")
    assert check.ok
    assert "train uses 3 of the 3 values that eval speaks of: nuts, pipes, tiles" in check.detail
    assert row(FakeEnvironment(), "splits are disjoint").detail == "8 train, 8 eval"


def test_suggestions_that_give_names_of_eval_away_are_told() -> None:
    class Leaking(FakeEnvironment):
        def suggest(self, tool: str, parameter: str, state: JsonObject) -> Sequence[JsonValue]:
            return (*ITEMS["train"], *ITEMS["eval"]) if parameter == "item" else ()

    check = row(Leaking(), "suggestions fit the schemas")
    assert check.ok
    assert "stand in tasks of eval alone: " in check.detail
    assert row(FakeEnvironment(), "suggestions fit the schemas").detail == "24 values"


# ------------------------------------------------------------------------------- references
def test_an_id_that_nobody_tells_is_told_as_one_that_must_be_guessed() -> None:
    def without_order(task: Task) -> Task:
        gone = ToolCall(name="cancel", arguments={"order": "o-99"})
        orders: JsonObject = {"o-99": {"item": "nuts", "amount": 1}}
        turn = Turn(user="Cancel it.", reference=(gone,))
        state = {**task.initial_state, "orders": orders}
        return task.model_copy(
            update={"turns": (turn,), "initial_state": state, "tools": tuple(TOOLS), "kind": "base"}
        )

    detail = row(Patched(change=without_order), RUNS).detail
    assert "8 arguments stand in no request and no earlier result" in detail
    assert "(cancel.order; 'o-99' in fake_train_base_0)" in detail
    assert row(FakeEnvironment(), RUNS).detail == "32 calls of 8 tasks"


class HalfDone(FakeSession):
    """Notes what it was asked for, and then refuses it."""

    def call(self, call: ToolCall) -> ToolResult:
        result = super().call(call)
        if result.error and call.name in self.noted:
            self._state["asked"] = call.name
        return result

    noted: tuple[str, ...] = ("count", "add")


class HalfWritten(HalfDone):
    noted = ("add",)


def test_a_refused_call_of_a_reading_tool_changes_nothing_or_fails() -> None:
    check = row(Patched(session=HalfDone), REFUSED)
    assert not check.ok
    assert 'count({"item": "no-such-thing"}) is an error and changes asked, though' in check.detail
    assert "effect 'write'" in check.fix


def test_a_tool_that_writes_and_then_refuses_is_told_with_its_call() -> None:
    check = row(Patched(session=HalfWritten), REFUSED)
    assert check.ok
    assert 'half done by add: add({"item": "no-such-thing"' in check.detail
    assert re.fullmatch(
        r"[1-9]\d* refused calls of 8 tasks", row(FakeEnvironment(), REFUSED).detail
    )
