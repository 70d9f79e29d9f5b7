"""The 800 tasks as records."""

from __future__ import annotations

from collections import Counter

import pytest
from rods_bfcl.environment import BfclEnvironment
from rods_bfcl.tasks import HAND_OVER, UNPASSABLE

from rods.types import KINDS, Task


def _index(task: Task) -> int:
    return int(task.id.rsplit("_", 1)[1])


def test_there_are_200_tasks_of_each_kind_half_of_them_held_out(tasks: dict[str, Task]) -> None:
    assert Counter((t.kind, t.split) for t in tasks.values()) == {
        (kind, split): 100 for kind in KINDS for split in ("train", "eval")
    }


def test_the_split_is_paired_so_that_no_world_is_on_both_sides(tasks: dict[str, Task]) -> None:
    sides = {
        split: {_index(t) for t in tasks.values() if t.split == split}
        for split in ("train", "eval")
    }
    assert not sides["train"] & sides["eval"]


def test_a_task_survives_json(tasks: dict[str, Task]) -> None:
    for task in tasks.values():
        again = Task.model_validate_json(task.model_dump_json())
        assert again == task
        assert repr(again.turns) == repr(task.turns)  # 100 and 100.0 are equal, but not the same


def test_a_withheld_function_comes_with_the_hand_over(tasks: dict[str, Task]) -> None:
    for task in tasks.values():
        revealing = [turn for turn in task.turns if turn.reveals]
        assert len(revealing) == (task.kind == "miss_func")
        for turn in revealing:
            assert turn.user == HAND_OVER
            assert turn.reference
            assert not set(turn.reveals) & set(task.tools)


def test_only_the_long_context_kind_is_long(tasks: dict[str, Task]) -> None:
    for task in tasks.values():
        assert task.initial_state["long_context"] is (task.kind == "long_context")


def test_references_name_their_arguments(
    environment: BfclEnvironment, tasks: dict[str, Task]
) -> None:
    specs = environment.tools()
    calls = [call for task in tasks.values() for turn in task.turns for call in turn.reference]
    assert len(calls) == 4625
    for call in calls:
        spec = specs[call.name]
        assert set(spec.required) <= set(call.arguments) <= set(spec.properties)


def test_types_are_those_of_json_schema(environment: BfclEnvironment) -> None:
    specs = environment.tools()
    assert len(specs) == 128
    types = {p["type"] for spec in specs.values() for p in spec.properties.values()}
    assert types <= {"string", "number", "integer", "boolean", "array", "object"}


def test_known_defects_are_flagged_and_left_out_of_training_only(tasks: dict[str, Task]) -> None:
    flagged = {t.id for t in tasks.values() if t.flags}
    assert {_index(t) for t in tasks.values() if "unpassable" in t.flags} == UNPASSABLE
    default = BfclEnvironment()
    assert not flagged & {t.id for t in default.tasks("train")}
    assert flagged & {t.id for t in default.tasks("eval")}
    assert len(default.tasks("eval")) == 400


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_can_be_chosen(kind: str) -> None:
    environment = BfclEnvironment(BfclEnvironment.Config.model_validate({"kinds": [kind]}))
    assert {t.kind for t in environment.tasks("train")} == {kind}


def test_hashes_say_what_the_tasks_were_read_from(environment: BfclEnvironment) -> None:
    hashes = environment.data_hashes()
    assert "bfcl_eval/data/BFCL_v4_multi_turn_base.json" in hashes
    assert all(len(digest) == 64 for digest in hashes.values())


def test_the_instructions_are_the_same_for_all(
    environment: BfclEnvironment, tasks: dict[str, Task]
) -> None:
    assert len({environment.instructions(task) for task in tasks.values()}) == 1
