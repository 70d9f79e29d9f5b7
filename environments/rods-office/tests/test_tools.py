"""Sessions and tools: what a call does, and that a bad one does nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rods_office.apps import HELD_OUT_TOOLS, OPEN_TOOLS, TOOLS
from rods_office.session import OfficeSession

from rods.types import JsonObject, ToolCall

STATE: JsonObject = {
    "files": [{"name": "kade", "text": "movi"}],
    "contacts": [{"name": "sopo", "phone": "417"}],
    "inbox": [{"phone": "417", "text": "laga"}],
    "events": [{"id": "e41", "title": "rudi", "day": 12}],
    "items": [{"id": "i20", "name": "beko", "price": 37}],
    "orders": [{"id": "o33", "item": "i20", "count": 3}],
    "accounts": [{"id": "a70", "owner": "sopo", "balance": 55}],
    "fresh": [{"id": "o12"}, {"id": "e15"}, {"id": "e16"}],
}


@pytest.fixture
def session() -> OfficeSession:
    return OfficeSession(STATE)


def say(session: OfficeSession, tool: str, **arguments: Any) -> str:
    result = session.call(ToolCall(name=tool, arguments=arguments))
    assert not result.error, result.content
    return result.content


def test_there_are_20_to_40_tools_in_five_apps_and_few_are_held_out() -> None:
    assert 20 <= len(OPEN_TOOLS) <= len(TOOLS) <= 40
    assert 1 <= len(HELD_OUT_TOOLS) <= 6


@pytest.mark.parametrize("name", TOOLS)
def test_every_tool_runs_and_its_effect_is_what_its_specification_says(
    session: OfficeSession, name: str
) -> None:
    known: JsonObject = {
        "file": "kade", "text": "vazo", "person": "sopo", "phone": "417", "event": "e41",
        "title": "rudi", "day": 44, "thing": "beko", "item": "i20", "order": "o33", "count": 5,
        "account": "a70", "amount": 9,
    }  # fmt: skip
    new: dict[str, JsonObject] = {
        "add_contact": {"name": "nuvo"},
        "rename_file": {"new_name": "nuvo"},
        "set_phone": {"phone": "808"},
        "rename_event": {"title": "nuvo"},
    }
    arguments = {p: known[kind] for p, kind in TOOLS[name].entities.items()}
    before = session.state()
    say(session, name, **{**arguments, **new.get(name, {})})
    assert (session.state() != before) == (TOOLS[name].spec.effect == "write")


def test_ids_come_from_the_state_in_order_and_may_run_out(session: OfficeSession) -> None:
    assert say(session, "add_event", title="zoma", day=30) == "e15"
    assert say(session, "add_event", title="zola", day=31) == "e16"
    before = session.state()
    result = session.call(ToolCall(name="add_event", arguments={"title": "zoka", "day": 32}))
    assert result.error
    assert session.state() == before


def test_what_an_error_says_fits_into_a_few_words(session: OfficeSession) -> None:
    result = session.call(ToolCall(name="read_file", arguments={"name": "x" * 80}))
    assert result.error
    assert result.content == "error: not in files"


@given(
    name=st.sampled_from(sorted(TOOLS)),
    arguments=st.dictionaries(
        st.sampled_from(["name", "text", "phone", "day", "event", "item", "count", "x", "owner"]),
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=90)
        | st.lists(st.integers(), max_size=2) | st.sampled_from(["kade", "sopo", "e41", "417"]),
        max_size=3,
    ),
)  # fmt: skip
def test_a_bad_call_is_an_error_and_leaves_the_state_equal(
    name: str, arguments: dict[str, Any]
) -> None:
    session = OfficeSession(STATE)
    before = session.state()
    result = session.call(ToolCall.model_construct(name=name, arguments=arguments))
    if result.error:
        assert session.state() == before
    else:
        assert set(arguments) == set(TOOLS[name].entities)
        assert all(
            type(arguments[p]) is (int if kind in ("day", "count", "amount") else str)
            for p, kind in TOOLS[name].entities.items()
        )


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("buy_item", {"item": "i20", "count": True}),
        ("buy_item", {"item": "i20", "count": 3.0}),
        ("buy_item", {"item": "i20", "count": 0}),
        ("buy_item", {"item": "i20", "count": "3"}),
        ("add_contact", {"name": "nuvo", "phone": "41"}),
        ("add_contact", {"name": "nuvo", "phone": "417\n"}),
        ("add_contact", {"name": "sopo", "phone": "555"}),
        ("rename_file", {"name": "nuvo", "new_name": "kade"}),
        ("rename_file", {"name": "kade", "new_name": "kade"}),
        ("buy_item", {"item": "i99", "count": 3}),
        ("move_event", {"event": "e41", "day": 0}),
        ("read_file", {"name": "kade", "state": {}}),
        ("read_file", {}),
        ("APP", {}),
        ("__import__", {"name": "os"}),
    ],
)
def test_calls_outside_the_schema_or_the_world_are_refused(
    session: OfficeSession, tool: str, arguments: dict[str, Any]
) -> None:
    before = session.state()
    assert session.call(ToolCall(name=tool, arguments=arguments)).error
    assert session.state() == before


def test_a_snapshot_can_be_restored_twice(session: OfficeSession) -> None:
    say(session, "write_file", name="nuvo", text="vazo")
    snapshot, state = session.snapshot(), session.state()
    for _ in range(2):
        say(session, "move_event", event="e41", day=50)
        say(session, "add_event", title="zoma", day=30)
        session.restore(snapshot)
        assert session.state() == state


def test_neither_the_initial_state_nor_a_state_given_out_is_shared(session: OfficeSession) -> None:
    untouched = json.dumps(STATE)
    given_out = session.state()
    say(session, "move_event", event="e41", day=50)
    assert json.dumps(STATE) == untouched
    assert given_out["events"] == STATE["events"]
