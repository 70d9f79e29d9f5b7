"""Offline synthesis: seeds in turn, exact repeats, and boundary seeds from foreign rollouts."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from rods.errors import ConfigError, DataError
from rods.interfaces import Selector
from rods.jsonl import JsonlReader
from rods.pool import Pool
from rods.selectors import BoundarySelector
from rods.selectors.evidence import Evidence
from rods.testing import FakeEnvironment, FakeSynthesizer
from rods.types import Task
from rods.variants import PATIENCE, VariantMaker, boundary_seeds, read_evidence, seed_tasks

WORLD = FakeEnvironment()
SEEDS = list(WORLD.tasks("train"))
TASKS = {task.id: task for task in SEEDS}


def maker(seed: int = 0, **options: Any) -> VariantMaker:
    synthesizer = FakeSynthesizer(FakeSynthesizer.Config(**options), WORLD)
    return VariantMaker(synthesizer, SEEDS, seed)


def test_equal_seeds_give_equal_variants_and_others_give_others() -> None:
    first, again = (list(maker(3).make(20)) for _ in range(2))
    assert first == again
    assert first != list(maker(4).make(20))


def test_exactly_as_many_are_made_as_asked_and_no_two_are_equal() -> None:
    made = list(maker().make(50))
    assert len({candidate.task.id for candidate in made}) == 50


def test_every_seed_gets_its_turn_before_any_gets_a_second() -> None:
    made = list(maker(rejected=0).make(len(SEEDS)))
    assert [candidate.seed_id for candidate in made] == list(TASKS)


def test_a_variant_equal_to_a_seed_is_a_duplicate() -> None:
    variant = next(iter(maker(rejected=0, stories=1).make(1))).task
    known = VariantMaker(
        FakeSynthesizer(FakeSynthesizer.Config(rejected=0, stories=1), WORLD), [variant]
    )
    assert list(known.make(1)) == []
    assert known.report(1).funnel["critique"] == {"duplicate": PATIENCE}


def test_seeds_that_give_nothing_are_exhausted_and_the_loop_ends() -> None:
    barren = maker(rejected=1)
    assert list(barren.make(10)) == []
    report = barren.report(10)
    assert (report.admitted, report.seeds_exhausted, report.seeds_covered) == (0, 8, 0)
    assert report.funnel == {
        "critique": {"no_source": 8 * PATIENCE},
        "admitted": {"total": 0},
    }


def test_the_report_counts_what_was_made() -> None:
    asked = maker()
    made = list(asked.make(30))
    report = asked.report(30)
    assert report.funnel["admitted"]["total"] == report.admitted == 30
    assert report.kinds == dict(Counter(candidate.task.kind for candidate in made))
    assert report.distances == {"mean": 0.0, "max": 0.0, "isomorphic": 1.0}


# ------------------------------------------------------------------------------- rollouts
def evidence(tmp_path: Path, *lines: object) -> list[Evidence]:
    (tmp_path / "r").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return read_evidence(JsonlReader(tmp_path / "r"), TASKS, frozenset({"fake_eval_base_0"}))


def line(task: Task, *rewards: float | None) -> dict[str, Any]:
    return {"task_id": task.id, "rewards": rewards, "step": 3}


def test_the_last_line_of_a_task_counts_and_outages_do_not(tmp_path: Path) -> None:
    found = evidence(
        tmp_path, line(SEEDS[0], 0, 0), line(SEEDS[1], 1, None), line(SEEDS[0], 1, None, 0)
    )
    assert [(e.entry_id, e.mean, e.variance) for e in found] == [(SEEDS[0].id, 0.5, 0.25)]


@pytest.mark.parametrize(
    ("bad", "fault"),
    [
        ({"rewards": [0, 1]}, "no column 'task_id'"),
        ({"task_id": "fake_train_base_0"}, "no column 'rewards'"),
        ({"task_id": "fake_train_base_0", "rewards": 0.5}, "no column 'rewards'"),
        ({"task_id": "fake_train_base_0", "rewards": [0.5, 1.5]}, "1.5 is no number in"),
        ({"task_id": "fake_train_base_0", "rewards": ["1"]}, "'1' is no number in"),
        ({"task_id": "fake_train_base_0", "rewards": [True]}, "True is no number in"),
        ({"task_id": "fake_train_base_0", "rewards": [float("nan")]}, "nan is no number in"),
        ({"task_id": "fake_train_bas_0", "rewards": []}, "Did you mean 'fake_train_base_0'"),
        ({"task_id": "fake_eval_base_0", "rewards": []}, "is an evaluation task"),
    ],
)
def test_a_bad_rollouts_line_is_named(tmp_path: Path, bad: dict[str, Any], fault: str) -> None:
    with pytest.raises(DataError, match=f"r line 2.*{fault}"):
        evidence(tmp_path, line(SEEDS[0], 0, 1), bad)


def select(found: list[Evidence], **options: Any) -> list[str]:
    with Pool.open("sqlite://") as pool:
        selector = BoundarySelector(BoundarySelector.Config(**options), pool)
        return [task.id for task in boundary_seeds(selector, found, TASKS)]


def test_seeds_are_those_of_the_boundary_selector_best_first(tmp_path: Path) -> None:
    mastered, half, third, flat, hard = SEEDS[:5]
    found = evidence(
        tmp_path,
        line(mastered, 1, 1, 1, 0.9),
        line(third, 0, 0, 1),
        line(half, 0, 1),
        line(flat, 0.5, 0.5),
        line(hard, 0, 0, 0, 0.1),
    )
    assert select(found) == [half.id, third.id]
    assert set(select(found, require_variance=False)) == {half.id, third.id, flat.id}
    assert mastered.id in select(found, alpha_high=1.0)


def test_a_selector_that_cannot_rank_is_refused() -> None:
    class Own(Selector):
        name = "own"

        def select(self, step: int, epoch: int, groups: Any) -> list[str]:
            return []

    with Pool.open("sqlite://") as pool, pytest.raises(ConfigError, match="'own' cannot rank"):
        boundary_seeds(Own(None, pool), [], TASKS)


# ------------------------------------------------------------------------------- seed files
def read_seeds(tmp_path: Path, *tasks: str, kinds: tuple[str, ...] = ()) -> list[Task]:
    (tmp_path / "s").write_text("".join(task + "\n" for task in tasks))
    return seed_tasks(WORLD, [JsonlReader(tmp_path / "s")], kinds)


def test_earlier_variants_are_seeds_beside_the_split(tmp_path: Path) -> None:
    variant = next(iter(maker(rejected=0).make(1))).task
    assert read_seeds(tmp_path, variant.model_dump_json()) == [*SEEDS, variant]


def test_seeds_can_be_of_some_kinds_only(tmp_path: Path) -> None:
    assert {t.kind for t in read_seeds(tmp_path, kinds=("base",))} == {"base"}
    with pytest.raises(ConfigError, match="Did you mean 'miss_func'"):
        read_seeds(tmp_path, kinds=("miss_fun",))


def test_a_seed_that_is_no_train_task_of_this_world_is_named(tmp_path: Path) -> None:
    held_out = WORLD.tasks("eval")[0]
    foreign = SEEDS[0].model_copy(update={"environment": "bfcl"})
    for text, fault in (
        (held_out.model_dump_json(), "is an evaluation task"),
        (foreign.model_dump_json(), "is a task of 'bfcl', not 'fake'"),
        ('{"id": "x"}', "is no task: environment: Field required"),
    ):
        with pytest.raises(DataError, match=f"s line 1 {fault}"):
            read_seeds(tmp_path, text)
