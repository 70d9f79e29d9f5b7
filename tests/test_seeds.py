"""Seeds from foreign rollouts by the boundary rule, and from files of tasks."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from rods.errors import ConfigError, DataError
from rods.interfaces import Selector
from rods.jsonl import JsonlReader
from rods.pool import Pool
from rods.seeds import (
    Measured,
    boundary_seeds,
    interleaved,
    read_evidence,
    rollout_files,
    seed_tasks,
)
from rods.selectors import BoundarySelector
from rods.selectors.evidence import Evidence
from rods.testing import FakeEnvironment, FakeSynthesizer
from rods.types import Split, Task

WORLD = FakeEnvironment()
SEEDS = list(WORLD.tasks("train"))
TASKS = {task.id: task for task in SEEDS}


def evidence(tmp_path: Path, *lines: object) -> list[Evidence]:
    (tmp_path / "r").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return measured(tmp_path / "r").of_kinds(())


def measured(*paths: Path) -> Measured:
    readers = [JsonlReader(path) for path in paths]
    return read_evidence(readers, TASKS, frozenset({"fake_eval_base_0"}))


def line(task: Task, *rewards: float | None) -> dict[str, Any]:
    return {"task_id": task.id, "rewards": rewards, "step": 3}


def test_the_last_line_of_a_task_counts_and_outages_do_not(tmp_path: Path) -> None:
    found = evidence(
        tmp_path, line(SEEDS[0], 0, 0), line(SEEDS[1], 1, None), line(SEEDS[0], 1, None, 0)
    )
    assert [(e.entry_id, e.mean, e.variance) for e in found] == [(SEEDS[0].id, 0.5, 0.25)]


def test_a_draw_of_a_known_entry_counts_for_the_entry(tmp_path: Path) -> None:
    drawn = {"task_id": "syn-1", "entry_id": SEEDS[2].id, "rewards": [0, 1]}
    assert [e.entry_id for e in evidence(tmp_path, drawn)] == [SEEDS[2].id]


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
        ({"task_id": "syn-1", "rewards": []}, "rods pool export RUN --out .* --seeds"),
        ({"task_id": "syn-1", "entry_id": "syn-2", "rewards": []}, "the variant 'syn-1' is not"),
    ],
)
def test_a_bad_rollouts_line_is_named(tmp_path: Path, bad: dict[str, Any], fault: str) -> None:
    with pytest.raises(DataError, match=f"r line 2.*{fault}"):
        evidence(tmp_path, line(SEEDS[0], 0, 1), bad)


def test_evaluation_tasks_in_a_log_are_counted_and_no_seeds(tmp_path: Path) -> None:
    lines = [{"task_id": "fake_eval_base_0", "rewards": [0, 1]}, line(SEEDS[0], 0, 1)]
    (tmp_path / "r").write_text("".join(json.dumps(one) + "\n" for one in lines))
    found = measured(tmp_path / "r")
    assert (found.lines, found.held_out) == (2, 1)
    assert [e.entry_id for e in found.of_kinds(())] == [SEEDS[0].id]
    other = next(task.kind for task in SEEDS if task.kind != SEEDS[0].kind)
    assert found.of_kinds([other]) == []


def test_a_runs_folder_is_its_rollouts_in_order(tmp_path: Path) -> None:
    folder = tmp_path / "run" / "rollouts"
    folder.mkdir(parents=True)
    with pytest.raises(DataError, match="holds no rollouts"):
        rollout_files(folder)
    for step, earned in ((2, (1, 1)), (1, (0, 1))):
        (folder / f"step-{step}.jsonl").write_text(json.dumps(line(SEEDS[0], *earned)))
    for place in (folder, folder.parent):
        found = measured(*rollout_files(place))
        assert [e.mean for e in found.of_kinds(())] == [1.0]  # the later step's
    assert rollout_files(folder / "step-1.jsonl") == [folder / "step-1.jsonl"]


def test_the_cure_of_an_unknown_variant_names_its_run(tmp_path: Path) -> None:
    path = tmp_path / "run" / "rollouts" / "r.jsonl"
    path.parent.mkdir(parents=True)
    (tmp_path / "run" / "config.toml").write_text("")
    path.write_text(json.dumps({"task_id": "syn-1", "rewards": [0, 1]}))
    with pytest.raises(DataError, match=f"rods pool export {tmp_path / 'run'} --out"):
        measured(path)


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
    synthesizer = FakeSynthesizer(FakeSynthesizer.Config(rejected=0), WORLD)
    variant = synthesizer.synthesize(SEEDS[0], n=1, rng_seed=0).candidates[0].task
    assert read_seeds(tmp_path, variant.model_dump_json()) == [*SEEDS, variant]
    row = json.dumps({"id": variant.id, "task": variant.model_dump(mode="json")})
    assert read_seeds(tmp_path, row) == [*SEEDS, variant]


def test_kinds_take_turns_so_that_a_few_variants_are_of_every_kind() -> None:
    by_kind = sorted(SEEDS, key=lambda task: task.kind)
    assert len({task.kind for task in interleaved(by_kind)[:4]}) == 4
    assert sorted(t.id for t in interleaved(by_kind)) == sorted(TASKS)


def test_seeds_can_be_of_some_kinds_only(tmp_path: Path) -> None:
    assert {t.kind for t in read_seeds(tmp_path, kinds=("base",))} == {"base"}
    with pytest.raises(ConfigError, match="Did you mean 'miss_func'"):
        read_seeds(tmp_path, kinds=("miss_fun",))


class Examination(FakeEnvironment):
    """A stockroom that is for evaluation only."""

    def tasks(self, split: Split) -> Sequence[Task]:
        return super().tasks(split) if split == "eval" else ()


def test_a_world_without_train_tasks_has_no_seeds_and_says_what_it_is_for() -> None:
    with pytest.raises(ConfigError, match=r"fake has no tasks to train on .* for evaluation"):
        seed_tasks(Examination(), [])


def test_kinds_that_no_seed_is_of_are_an_error_with_those_that_are_there() -> None:
    few = FakeEnvironment(FakeEnvironment.Config(tasks=2))
    with pytest.raises(ConfigError, match="no train task of kind long_context; there are: base, "):
        seed_tasks(few, [], ("long_context",))


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
