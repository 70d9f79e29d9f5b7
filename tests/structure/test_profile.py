"""The profile of the small stockroom, and what a fresh world tells."""

from __future__ import annotations

from rods.structure.constants import constants
from rods.structure.lookups import lookup_tables, suggested_values
from rods.structure.profile import depth, profile
from rods.structure.sources import Labeller
from rods.structure.trace import idle_places, idle_turns, replay
from rods.testing import FakeEnvironment
from rods.types import ComplexityProfile, DataEdge, SourceKind, Task, ToolCall, Turn


def of(task: Task, environment: FakeEnvironment) -> ComplexityProfile:
    trace = replay(environment, task)
    return profile(task, trace, Labeller(constants(environment.tools())).label(task, trace))


def test_the_profile_of_a_base_task() -> None:
    environment = FakeEnvironment()
    found = of(environment.tasks("train")[0], environment)
    assert found.calls_per_turn == (2, 1, 1)
    assert found.tools == ("count", "add", "order", "cancel")
    assert found.edges == (DataEdge(producer=2, consumer=3, parameter="order"),)
    assert found.sources[1] == {"item": SourceKind.USER, "amount": SourceKind.USER}
    assert found.sources[3] == {"order": SourceKind.RESULT}
    assert found.depth == 1
    assert ComplexityProfile.model_validate_json(found.model_dump_json()) == found


def test_all_kinds_have_their_own_turns() -> None:
    environment = FakeEnvironment()
    turns = {task.kind: of(task, environment).calls_per_turn for task in environment.tasks("train")}
    assert turns["miss_func"] == (2, 1, 0, 1)
    assert turns["miss_param"] == (2, 0, 1, 1)


def test_depth_counts_the_longest_chain() -> None:
    edges = [
        DataEdge(producer=a, consumer=b, parameter="x") for a, b in [(0, 1), (1, 3), (0, 2), (3, 4)]
    ]
    assert depth(edges) == 3
    assert depth([]) == 0


def test_results_are_those_of_the_moment_of_the_call() -> None:
    environment = FakeEnvironment()
    task = environment.tasks("train")[0]
    trace = replay(environment, task, states=range(-1, 3))
    assert trace.contents[0] != trace.contents[1]  # counted before and after adding
    assert trace.states[-1] == task.initial_state
    assert trace.states[2] == trace.final
    assert trace.failed == frozenset()


def test_a_turn_that_repeats_a_question_is_idle_and_one_that_writes_is_not() -> None:
    environment = FakeEnvironment()
    seed = environment.tasks("train")[0]
    count = ToolCall(name="count", arguments={"item": "bolts"})
    order = ToolCall(name="order", arguments={"item": "bolts", "amount": 1})
    cancel = [ToolCall(name="cancel", arguments={"order": f"o-{n}"}) for n in (1, 2)]
    turns = [(count,), (count,), (), (order, cancel[0]), (order, cancel[1])]
    task = seed.model_copy(
        update={
            "turns": tuple(Turn(user="?", reference=calls) for calls in turns),
            "initial_state": {"stock": {"bolts": 1}, "orders": {}, "next": 1},
        }
    )
    trace = replay(environment, task, states=range(-1, 5))
    assert idle_turns(task, trace) == [1]
    waiting = task.model_copy(update={"turns": (Turn(user="Hi."), *task.turns)})
    later = replay(environment, waiting, states=range(-1, 6))
    assert idle_turns(waiting, later) == [2]
    assert idle_places(waiting, later) == idle_places(task, trace) == {1}


def test_lookup_tables_need_texts_as_answers() -> None:
    environment = FakeEnvironment()
    assert lookup_tables(environment) == {}  # count answers with a number
    assert "bolts" in suggested_values(environment)
