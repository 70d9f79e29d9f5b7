"""Every argument has one source, and it is the right one."""

from __future__ import annotations

from typing import Any

from rods.structure.constants import constants
from rods.structure.sources import Labeller, Source, holds
from rods.structure.trace import Trace
from rods.types import SourceKind, Task, ToolCall, ToolResult, ToolSpec, Turn

_SPEC = ToolSpec(
    name="act",
    description="",
    parameters={
        "type": "object",
        "properties": {
            "mode": {"type": "string", "enum": ["fast", "slow"]},
            "ticket_id": {"type": "integer"},
            "x": {},
        },
    },
)
_TABLES = {"airport": {"Boston": "BOS", "Oslo": "OSL"}}


def label(
    arguments: dict[str, Any], user: str = "", result: str = "", state: dict[str, Any] | None = None
) -> Source:
    """The source of the one argument of the second of two calls."""
    calls = (ToolCall(name="act"), ToolCall(name="act", arguments=arguments))
    task = Task(
        id="t",
        environment="e",
        tools=("act",),
        turns=(Turn(user=user, reference=calls),),
        initial_state=state or {},
    )
    results = (ToolResult(content=result), ToolResult(content=""))
    trace = Trace((0, 0), calls, results, {}, {})
    (source,) = Labeller(constants({"act": _SPEC}), _TABLES).label(task, trace)
    return source


def test_what_the_user_said_comes_before_everything_else() -> None:
    source = label({"x": "Notes"}, "Open notes.", '{"x": "Notes"}', {"x": "Notes"})
    assert source.kind is SourceKind.USER


def test_a_number_is_said_in_digits_with_separators() -> None:
    assert label({"x": 1500.0}, "Send $1,500 to Bob").kind is SourceKind.USER


def test_a_part_of_a_word_is_not_said() -> None:
    assert label({"x": "goal"}, "Read goals").kind is not SourceKind.USER


def test_short_words_need_their_case() -> None:
    assert label({"x": "A"}, "Give me a file").kind is not SourceKind.USER


def test_the_latest_result_that_holds_the_value_is_the_producer() -> None:
    source = label({"x": "o-17"}, "Cancel it", '{"order": "o-17"}', {"last": "o-17"})
    assert (source.kind, source.producer) == (SourceKind.RESULT, 0)
    assert source.result_path == ("order",)


def test_small_numbers_count_only_where_the_field_fits() -> None:
    fits = label({"ticket_id": 2}, "Close it", '{"id": 2, "priority": 3}')
    assert fits.kind is SourceKind.RESULT
    chance = label({"ticket_id": 3}, "Close it", '{"id": 2, "priority": 3}')
    assert chance.kind is not SourceKind.RESULT


def test_state_counts_where_nothing_else_tells() -> None:
    assert label({"x": "tok-991"}, "Go on", "", {"token": "tok-991"}).kind is SourceKind.STATE


def test_enum_values_and_booleans_are_constants_unless_said() -> None:
    assert label({"mode": "fast"}, "Go").kind is SourceKind.CONSTANT
    assert label({"mode": "fast"}, "Go fast").kind is SourceKind.USER
    assert label({"x": True}, "true").kind is SourceKind.CONSTANT


def test_what_nearly_all_references_use_is_a_constant() -> None:
    turn = Turn(user="", reference=(ToolCall(name="act", arguments={"x": 1.0}),))
    task = Task(id="t", environment="e", tools=("act",), turns=(turn,), initial_state={})
    assert ("number", 1.0) in constants({}, [task] * 8)["act", "x"]
    assert ("act", "x") not in constants({}, [task] * 7)


def test_repeated_ids_are_no_constants() -> None:
    turn = Turn(user="", reference=(ToolCall(name="act", arguments={"x": "3426812"}),))
    task = Task(id="t", environment="e", tools=("act",), turns=(turn,), initial_state={})
    assert ("act", "x") not in constants({}, [task] * 20)


def test_transforms_are_named() -> None:
    cases: list[tuple[Any, str, str, str]] = [
        ("2026-11-25", "on November 25th, 2026", "", "date"),
        ("BOS", "fly to Boston", "", "table"),
        ("TeamNotes.txt", "a file for the team notes", "", "spelling"),
        (500, "five hundred shares", "", "number_word"),
        (30, "double the 15 we have", "", "multiple"),
        (7.93, "fill it", '{"gallon": 7.926}', "rounded"),
        ("The tire pressure is low", "tell them that tire pressure is too low", "", "wording"),
    ]
    for value, user, result, transform in cases:
        source = label({"x": value}, user, result)
        assert (source.kind, source.transform) == (SourceKind.DERIVED, transform), value


def test_what_nothing_tells_is_unknown() -> None:
    assert label({"x": "zebra crossing"}, "Do it", '{"ok": true}').kind is SourceKind.UNKNOWN


def test_words_are_bounded() -> None:
    assert holds("it is 2.50 today", 2.5) is False  # another spelling; numbers are compared apart
    assert holds("see a.txt", "a.txt")
    assert not holds("1500", 150)
    assert not holds("15.5", 15)
    assert holds("costs 15.0 now", 15)
    assert not holds("", "")
