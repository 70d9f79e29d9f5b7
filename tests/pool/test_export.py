"""A pool as files: the same rows in each format."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rods.errors import DataError
from rods.pool import Pool, PoolEntry
from rods.pool.export import export
from rods.testing.groups import group, seed_task, variant
from rods.types import Candidate, PoolState, SynthesisOutcome, Task

CHILD = variant(seed_task(0), 1)


@pytest.fixture
def filled(new_pool: Callable[[], Pool]) -> Pool:
    """Two seeds, one of them measured, and a candidate."""
    pool = new_pool()
    pool.add_seeds([seed_task(0), seed_task(1)])
    pool.record(1, 0, [group(seed_task(0), [0.0, 0.5])])
    candidates = (Candidate(task=CHILD, seed_id="seed-0", distance=0.5),)
    request = pool.request_synthesis("seed-0", 1)
    pool.stage(request, SynthesisOutcome(candidates=candidates), step=1)
    return pool


def check(rows: list[dict[str, object]], tasks: list[Task]) -> None:
    """All three entries with their measurements and tasks."""
    assert [row["id"] for row in rows] == ["seed-0", "seed-1", CHILD.id]
    assert [row["phi"] for row in rows] == [0.75, None, None]
    assert [row["distance"] for row in rows] == [0.0, 0.0, 0.5]
    assert tasks == [seed_task(0), seed_task(1), CHILD]


def test_json_lines_hold_every_entry(filled: Pool, tmp_path: Path) -> None:
    path = tmp_path / "new" / "tasks.jsonl"
    assert export(filled, path, "jsonl") == 3
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    check(rows, [Task.model_validate(row["task"]) for row in rows])


def test_only_one_state_is_exported_on_request(filled: Pool, tmp_path: Path) -> None:
    path = tmp_path / "tasks.jsonl"
    assert export(filled, path, "jsonl", PoolState.CANDIDATE) == 1
    assert json.loads(path.read_text())["id"] == CHILD.id


def test_parquet_holds_every_entry(filled: Pool, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    assert export(filled, tmp_path / "tasks.parquet", "parquet") == 3
    rows = parquet.read_table(tmp_path / "tasks.parquet").to_pylist()
    check(rows, [Task.model_validate_json(row["task"]) for row in rows])


@pytest.mark.slow
def test_a_data_set_holds_every_entry(filled: Pool, tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    assert export(filled, tmp_path / "tasks", "datasets") == 3
    rows = list(datasets.load_from_disk(str(tmp_path / "tasks")))
    check(rows, [Task.model_validate_json(row["task"]) for row in rows])
    assert [path.name for path in tmp_path.glob("*tasks*")] == ["tasks"]
    with pytest.raises(DataError, match="exists and is not empty"):
        export(filled, tmp_path / "tasks", "datasets")


class Interrupted(Pool):
    """Ends in the middle of its entries."""

    def entries(self, *_: object, **__: object) -> Iterator[PoolEntry]:
        """One entry, then Ctrl-C."""
        yield next(super().entries())
        raise KeyboardInterrupt


def test_an_interrupted_export_leaves_the_old_file(filled: Pool, tmp_path: Path) -> None:
    path = tmp_path / "tasks.jsonl"
    path.write_text("old")
    with (
        Interrupted.open(str(tmp_path / "pool-0.sqlite")) as pool,
        pytest.raises(KeyboardInterrupt),
    ):
        export(pool, path, "jsonl")
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.glob("*tasks*")] == ["tasks.jsonl"]


def test_a_folder_in_the_way_and_an_unknown_format_are_one_line(
    filled: Pool, tmp_path: Path
) -> None:
    with pytest.raises(DataError, match=r"Cannot write .*: it is a folder; name a file in it\."):
        export(filled, tmp_path, "jsonl")
    (tmp_path / "file").touch()
    with pytest.raises(DataError, match=r"Cannot write .*: .*/file is a file, not a folder\."):
        export(filled, tmp_path / "file" / "x", "parquet")
    with pytest.raises(DataError, match=r"No export format 'json'\. Did you mean 'jsonl'\?"):
        export(filled, tmp_path / "x", "json")  # type: ignore[arg-type]
