"""A turn is judged by what it changed, or by what it showed if it only reads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rods_office.apps import OPEN_TOOLS
from rods_office.environment import OfficeEnvironment

from rods.testing import play, script
from rods.types import AssistantMessage, ProgressReward, Task, ToolCall, Trajectory, Turn

Calls = Sequence[tuple[str, dict[str, str | int]]]

STATE = {
    "files": [{"name": "kade", "text": "movi"}],
    "contacts": [{"name": "sopo", "phone": "417"}],
    "events": [{"id": "e41", "title": "rudi", "day": 12}],
    "fresh": [{"id": "e15"}, {"id": "e16"}, {"id": "e17"}],
}


def calls(given: Calls) -> tuple[ToolCall, ...]:
    return tuple(ToolCall(name=name, arguments=dict(arguments)) for name, arguments in given)


def task(*references: Calls, hidden: str = "") -> Task:
    turns = [Turn(user="do", reference=calls(reference)) for reference in references]
    if hidden:
        turns.append(turns[-1].model_copy(update={"reveals": (hidden,)}))
        turns[-2] = Turn(user="do")
    return Task(
        id="made", environment="office", tools=tuple(t for t in OPEN_TOOLS if t != hidden),
        turns=tuple(turns), initial_state=STATE,
    )  # fmt: skip


def earned(of: Task, *turns: Calls) -> ProgressReward:
    messages: Iterable[AssistantMessage] = (
        AssistantMessage(calls=calls(turn), ends_turn=True) for turn in turns
    )
    reward = play(OfficeEnvironment(), of, script(*messages)).reward
    assert reward is not None
    return reward


def passed(of: Task, *turns: Calls) -> list[bool]:
    return [verdict.ok for verdict in earned(of, *turns).verdicts]


READ: Calls = [("read_file", {"name": "kade"})]
WRITE: Calls = [("write_file", {"name": "nuvo", "text": "vazo"})]
SPOIL: Calls = [("delete_file", {"name": "kade"})]
ADD: Calls = [("add_event", {"title": "zoma", "day": 30})]
ADD_WRONG: Calls = [("add_event", {"title": "zoma", "day": 31})]


def test_a_mistake_fails_its_own_turn_only() -> None:
    assert passed(task(ADD, WRITE), ADD_WRONG, WRITE) == [False, True]
    assert passed(task(ADD, WRITE), ADD, SPOIL) == [True, False]


def test_an_extra_change_fails_the_turn() -> None:
    assert passed(task(WRITE), [*WRITE, *SPOIL]) == [False]


def test_the_id_of_something_created_does_not_count() -> None:
    """An event created by mistake takes the id that the reference's next event has."""
    assert passed(task(WRITE, ADD), ADD_WRONG, ADD) == [False, True]


def test_a_text_sent_twice_is_not_a_text_sent_once() -> None:
    send: Calls = [("send_text", {"phone": "417", "text": "vazo"})]
    assert passed(task(send), send) == [True]
    assert passed(task(send), [*send, *send]) == [False]
    assert passed(task(send, send), send, send) == [True, True]


def test_a_change_that_is_undone_is_no_change() -> None:
    away: Calls = [("move_event", {"event": "e41", "day": 20})]
    back: Calls = [("move_event", {"event": "e41", "day": 12})]
    assert passed(task(READ), [*away, *READ, *back]) == [True]
    assert passed(task(READ), [*away, *READ]) == [False]


def test_a_reading_turn_needs_its_result_in_this_very_turn() -> None:
    assert passed(task(WRITE, READ), [*WRITE, *READ], []) == [True, False]
    assert passed(task(WRITE, READ), [*WRITE, *READ], [("list_contacts", {})]) == [True, False]
    assert passed(task(WRITE, READ), WRITE, READ) == [True, True]


def test_lookups_on_the_way_are_free_and_not_required() -> None:
    send: Calls = [("send_text", {"phone": "417", "text": "vazo"})]
    look: Calls = [("find_phone", {"name": "sopo"})]
    assert passed(task([*look, *send]), send) == [True]
    assert passed(task(send), [*look, *READ, *send]) == [True]


def test_an_error_with_the_words_of_a_result_is_not_the_result() -> None:
    of = task(READ)
    text = {"files": [{"name": "kade", "text": "error: not in files"}]}
    of = of.model_copy(update={"initial_state": text})
    assert passed(of, [("read_file", {"name": "vazo"})]) == [False]
    assert passed(of, READ) == [True]


def test_where_nothing_is_to_be_done_only_doing_nothing_is_right() -> None:
    of = task(WRITE, hidden="write_file")
    assert earned(of, [], WRITE).value == 1
    assert earned(of, READ, WRITE).value == 0.5
    assert earned(of, READ, WRITE).under("judged") == 1


def test_trying_a_tool_that_is_not_handed_over_changes_nothing_but_is_no_abstention() -> None:
    reward = earned(task(WRITE, hidden="write_file"), WRITE, WRITE)
    assert reward.verdicts[1].ok
    assert reward.value == 0.5


def test_a_rollout_that_ends_early_fails_the_turns_it_did_not_reach() -> None:
    assert passed(task(WRITE, ADD), WRITE) == [True, False]
    of = task(WRITE, ADD)
    empty = OfficeEnvironment().score(of, Trajectory(task_id=of.id, turns=()))
    assert empty.value == 0
