"""What calls do to each other."""

from __future__ import annotations

from rods.structure.planning.effects import Judgement, hard_edges, is_empty
from rods.testing.world import FakeEnvironment, story_task
from rods.types import ToolCall, ToolResult


def test_a_call_that_fails_without_another_depends_on_it() -> None:
    task = story_task("train", "base", 0)
    calls = [call for turn in task.turns for call in turn.reference]
    session = FakeEnvironment().open(task)
    edges = hard_edges(session, calls, lambda _, result: result.error)
    assert [call.name for call in calls] == ["count", "add", "order", "cancel"]
    assert edges == {(2, 3)}


def test_a_field_that_says_no_is_a_failure_unless_train_tasks_show_it() -> None:
    call, refused = ToolCall(name="login"), ToolResult(content='{"ok": false}')
    assert Judgement().fails(call, refused)
    assert not Judgement({"login": frozenset({"ok"})}).fails(call, refused)
    assert not Judgement().fails(call, ToolResult(content='{"ok": true}'))
    assert Judgement().fails(call, ToolResult(content="no such thing", error=True))


def test_answers_without_content_are_empty() -> None:
    assert all(map(is_empty, ("", "None", [], {}, {"found": []}, None)))
    assert not any(map(is_empty, (0, False, "x", {"found": [1]})))
