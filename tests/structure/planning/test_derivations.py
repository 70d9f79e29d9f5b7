"""What is said for a derived value gives the value, and does not hold it."""

from __future__ import annotations

import pytest

from rods.structure.planning.derivations import Derivations
from rods.structure.sources import Labeller
from rods.structure.trace import Trace
from rods.types import SourceKind, Task, ToolCall, ToolResult, Turn

TABLES = {"airport_of": {"Rivermist": "RMS", "Boston": "BOS"}}


@pytest.mark.parametrize(
    ("value", "transform"),
    [
        ("2026-11-25", "date"),
        ("RMS", "table"),
        ("team_notes.txt", "spelling"),
        ("#Travel", "spelling"),
        ("Please change my seat", "wording"),
        (7, "number_word"),
        (42, "number_word"),
        (86.5, "multiple"),
    ],
)
def test_every_phrase_makes_its_value_derived(value: str | int | float, transform: str) -> None:
    phrases = list(Derivations(TABLES).phrases(value))
    assert phrases
    for phrase in phrases[:1]:
        call = ToolCall(name="tool", arguments={"x": value})
        task = Task(
            id="t",
            environment="none",
            tools=("tool",),
            turns=(Turn(user=phrase, reference=(call,)),),
            initial_state={},
        )
        trace = Trace((0,), (call,), (ToolResult(content="ok"),), {}, {})
        (source,) = Labeller({}, TABLES).label(task, trace)
        assert (source.kind, source.transform) == (SourceKind.DERIVED, transform)


def test_what_cannot_be_said_otherwise_has_no_phrase() -> None:
    derivations = Derivations({})
    for value in (True, None, "plain", -3):
        assert not list(derivations.phrases(value))
