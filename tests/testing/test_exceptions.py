"""An exception of an author's own code is told once, with its line; misspelt tools are named."""

from __future__ import annotations

from types import CodeType

import pytest

from rods.errors import WorldError
from rods.interfaces import Environment
from rods.testing import FakeEnvironment, check_environment
from rods.testing.world import FakeSession
from rods.types import Task, ToolCall, ToolResult, Turn

from .patched import RUNS, Patched, RaisingOnStrangers, failed


class Typo(FakeSession):
    """An author's slip inside a tool."""

    def call(self, call: ToolCall) -> ToolResult:
        self._state["stok"]  # the line that must be told
        return super().call(call)


def test_an_exception_of_a_tool_is_told_once_with_its_line_and_one_advice() -> None:
    checks = check_environment(Patched(session=Typo), limit=8, sessions=4)
    (row,) = [check for check in checks if not check.ok]
    code = Typo.call.__code__
    assert row.name == RUNS
    assert (
        f"KeyError: 'stok' (tests/testing/test_exceptions.py, line {line_told(code)}, in call)"
        in (row.detail)
    )
    assert "8 of 8 tasks" in row.detail
    assert row.fix.startswith("mend that line; a call that cannot be is answered with Refused")
    assert "the line that must be told" in row.traceback
    blocked = [check for check in checks if check.blocked_by]
    assert len(blocked) > 12
    assert {(c.blocked_by, c.skipped) for c in blocked} == {(RUNS, True)}


def line_told(code: CodeType) -> int:
    return code.co_firstlineno + 1


@pytest.mark.parametrize("method", ["open", "score", "practice", "suggest", "data_hashes"])
def test_an_exception_of_the_world_is_one_row_wherever_it_is_raised(method: str) -> None:
    def slip(self: Environment, *arguments: object) -> object:
        return NAMES["train"]  # type: ignore[name-defined]  # noqa: F821 - the slip

    world = type("Slipping", (FakeEnvironment,), {method: slip, "__module__": __name__})
    (row,) = [check for check in check_environment(world(), limit=8) if not check.ok]
    assert "NameError: name 'NAMES' is not defined" in row.detail
    assert f"line {slip.__code__.co_firstlineno + 1}, in slip" in row.detail
    assert row.fix == "mend that line"


def test_a_call_that_raises_only_for_strange_values_is_named_with_the_call() -> None:
    row = next(c for c in check_environment(Patched(session=RaisingOnStrangers)) if not c.ok)
    assert row.name == "bad calls are errors"
    assert "raised by no_such_tool({})" in row.detail


def test_what_is_no_result_is_told_as_that() -> None:
    class Bare(FakeSession):
        def call(self, call: ToolCall) -> ToolResult:
            return super().call(call).content  # type: ignore[return-value]

    assert "count gives a str, not a ToolResult" in failed(Patched(session=Bare))[RUNS]


def test_an_outage_is_told_once_and_ends_nothing() -> None:
    class Down(FakeSession):
        def call(self, call: ToolCall) -> ToolResult:
            raise WorldError("The server does not answer.")

    checks = {check.name: check for check in check_environment(Patched(session=Down), limit=8)}
    assert [name for name, check in checks.items() if not check.ok] == [RUNS]
    assert "The server does not answer." in checks[RUNS].detail
    assert "an outage" in checks[RUNS].fix
    assert checks["reference scores one"].blocked_by == RUNS
    assert not checks["tasks keep their order"].skipped


# ------------------------------------------------------------------------------- tools
def misspelt(task: Task) -> Task:
    call = ToolCall(name="ad", arguments={"item": "nuts", "amount": 1})
    return task.model_copy(update={"turns": (Turn(user="Add a nut.", reference=(call,)),)})


def test_a_reference_that_names_no_tool_hears_which_one_is_near() -> None:
    detail = failed(Patched(change=misspelt))["reference fits the schemas"]
    assert "turn 0, ad: there is no tool 'ad'; did you mean 'add'? (Is @tool missing?)" in detail


def test_tasks_that_offer_no_tool_of_the_world_are_one_row() -> None:
    world = Patched(change=lambda task: task.model_copy(update={"tools": ("cuont",)}))
    (row,) = check_environment(world)
    assert "there is no tool 'cuont'; did you mean 'count'?" in row.detail


def test_one_task_with_an_unknown_tool_does_not_spoil_the_rows_of_the_others() -> None:
    def one(task: Task) -> Task:
        strange = task.id == "fake_train_base_0"
        return task.model_copy(update={"tools": (*task.tools, "fly")}) if strange else task

    assert set(failed(Patched(change=one))) == {"tasks are well formed"}
