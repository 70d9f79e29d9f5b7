"""Held-out progress: which tasks, what is compared, what an outage leaves out."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from rods.evaluation import TaskScore, compare, held_out, kept_scores, overview
from rods.testing import FakeEnvironment, FakeTrainer
from rods.types import Task

WORLD = FakeEnvironment()
TASKS = WORLD.tasks("eval")


def score(task: str, mean: float | None, kind: str = "base", *sets: str) -> TaskScore:
    return TaskScore(task, kind, sets, mean, None if mean is None else float(mean == 1))


def flagged(*flags: str) -> list[Task]:
    return [
        TASKS[0].model_copy(update={"id": f"t{i}", "flags": (flag,)})
        for i, flag in enumerate(flags)
    ]


def test_the_held_out_tasks_are_spread_over_kinds() -> None:
    chosen = held_out(TASKS, 8)
    assert Counter(task.kind for task in chosen) == {
        "base": 2, "miss_func": 2, "miss_param": 2, "long_context": 2
    }  # fmt: skip


def test_the_held_out_tasks_are_spread_over_sets_however_unequal() -> None:
    chosen = held_out(flagged(*["entities"] * 50, *["skills"] * 4), 6)
    assert Counter(task.flags[0] for task in chosen) == {"entities": 3, "skills": 3}


def test_the_held_out_tasks_are_the_same_in_every_run() -> None:
    assert held_out(TASKS, 5) == held_out(TASKS, 5)
    assert held_out(TASKS, 5) != held_out(TASKS, 5, seed=1)


@pytest.mark.parametrize("size", [0, 1, 10_000])
def test_a_size_is_never_exceeded_and_never_padded(size: int) -> None:
    chosen = held_out(TASKS, size)
    assert len(chosen) == min(size, len(TASKS))
    assert len({task.id for task in chosen}) == len(chosen)


def test_gains_are_paired_by_task_whatever_the_order() -> None:
    before = [score("a", 0.0), score("b", 0.5), score("c", 0.2)]
    after = [score("c", 0.3), score("b", 0.6), score("a", 0.1)]
    found = compare(before, after)
    assert found["gain"] == pytest.approx(0.1)
    assert (found["ci_low"], found["ci_high"]) == pytest.approx((0.1, 0.1))
    assert (found["n"], found["before"]) == (3, pytest.approx(0.7 / 3))


def test_a_task_that_an_outage_hit_is_left_out_on_both_sides() -> None:
    before = [score("a", 0.0), score("b", None), score("c", 0.5)]
    after = [score("a", 1.0), score("b", 1.0), score("c", None)]
    found = compare(before, after)
    assert (found["n"], found["before"], found["after"]) == (1, 0.0, 1.0)


def test_gains_are_told_by_kind_and_by_set() -> None:
    before = [score("a", 0.0, "base", "entities"), score("b", 0.0, "miss_func", "entities", "x")]
    after = [score("a", 1.0, "base", "entities"), score("b", 0.0, "miss_func", "entities", "x")]
    found = compare(before, after)
    assert {kind: part["gain"] for kind, part in found["kinds"].items()} == {
        "base": 1.0,
        "miss_func": 0.0,
    }
    assert {name: part["gain"] for name, part in found["sets"].items()} == {
        "entities": 0.5,
        "x": 0.0,
    }


def test_without_a_scored_task_there_is_no_number() -> None:
    found = compare([], [])
    assert found["n"] == 0
    assert found["gain"] is None
    assert overview([score("a", None)])["progress"] is None


def test_an_evaluation_that_is_there_is_not_repeated(tmp_path: Path) -> None:
    path = tmp_path / "evaluation" / "before.jsonl.gz"
    trainer = FakeTrainer(FakeTrainer.Config(skill=0.5))

    def scores() -> list[TaskScore]:
        return kept_scores(path, lambda: trainer.evaluate(TASKS[:6], WORLD, k=3, seed=1))

    first = scores()
    trainer.skill = 1.0
    assert scores() == first
    path.unlink()
    assert scores() != first


def test_levels_count_what_is_unscored() -> None:
    level = overview([score("a", 1.0), score("b", 0.5), score("c", None, "miss_func")])
    assert (level["progress"], level["solved"]) == (0.75, 0.5)
    assert (level["n"], level["unscored"]) == (2, 1)
    assert level["kinds"]["base"]["n"] == 2
    assert level["kinds"]["miss_func"]["n"] == 0
