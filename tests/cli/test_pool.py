"""``rods pool``: what is in the pool of a run, as tables and as JSON."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rods.pool import Pool, tables
from rods.testing import (
    FakeEnvironment,
    FakeSynthesizer,
    play,
    reference,
    silent,
    write_distribution,
)
from rods.types import PoolState, RetireReason, RolloutGroup, Task

Rods = Callable[..., subprocess.CompletedProcess[str]]
WORLD = FakeEnvironment()
SEED = WORLD.tasks("train")[0]


def group(task: Task, good: int, bad: int) -> RolloutGroup:
    """``good`` references and ``bad`` silences."""
    agents = [reference] * good + [silent] * bad
    rollouts = tuple(play(WORLD, task, agent) for agent in agents)
    return RolloutGroup(entry_id=task.id, task=task, rollouts=rollouts)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run's folder after two steps: eight seeds, one variant in trial, one seed retired."""
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "config.toml").write_text('[run]\nplugins = ["fake"]\n')
    with Pool.open(f"sqlite:///{folder / 'pool.sqlite'}") as pool:
        pool.add_seeds(WORLD.tasks("train"))
        pool.record(1, 0, [group(SEED, 1, 1)])
        synthesizer = FakeSynthesizer(FakeSynthesizer.Config(rejected=0), WORLD)
        request = pool.request_synthesis(SEED.id, 1)
        pool.stage(request, synthesizer.synthesize(SEED, n=1, rng_seed=0), step=1)
        pool.move(PoolState.TRIAL, epoch=1)
        pool.record(2, 1, [group(WORLD.tasks("train")[1], 2, 0)])
        assert pool.retire(RetireReason.MASTERED, tables.entry.c.mean == 1.0) == 1
    return folder


def read(here: Rods, *arguments: object) -> Any:
    done = here("pool", *arguments, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def variant_id(here: Rods, run: Path) -> str:
    (variant,) = read(here, "list", run, "--state", "trial")
    return str(variant["id"])


def test_stats_count_states_reasons_and_the_funnel(here: Rods, run: Path) -> None:
    stats = read(here, "stats", run)
    assert (stats["step"], stats["injected"]) == (2, 1)
    assert stats["states"] | {"parked": 0, "candidate": 0} == {
        "active": 7,
        "trial": 1,
        "retired": 1,
        "parked": 0,
        "candidate": 0,
    }
    assert stats["retired"] == {"mastered": 1}
    assert stats["funnel"]["admitted"]["total"] == 1
    shown = here("pool", "stats", run).stdout
    assert "retired: mastered" in shown
    assert "Funnel" in shown


def test_the_list_can_be_filtered_and_cut(here: Rods, run: Path) -> None:
    assert len(read(here, "list", run)) == 9
    assert len(read(here, "list", run, "--limit", 3)) == 3
    assert {e["kind"] for e in read(here, "list", run, "--kind", "miss_param")} == {"miss_param"}
    (retired,) = read(here, "list", run, "--state", "retired")
    assert (retired["reason"], retired["phi"]) == ("mastered", 0.0)
    assert "The first 2; --limit 0 lists all." in here("pool", "list", run, "--limit", 2).stdout


def test_an_entry_is_shown_with_its_task_and_its_history(here: Rods, run: Path) -> None:
    shown = read(here, "show", run, SEED.id)
    assert shown["entry"]["mean"] == 0.5
    assert Task.model_validate(shown["task"]).turns == SEED.turns
    assert shown["observations"][0]["rewards"] == [1.0, 0.0]
    assert shown["children"] == [variant_id(here, run)]
    table = here("pool", "show", run, SEED.id).stdout
    assert f"turn 0: {SEED.turns[0].user}" in table
    assert "1.00 0.00" in table
    assert shown["observations"][0]["epoch"] == 0  # as in all files
    observed = next(row.split() for row in table.splitlines() if "1.00 0.00" in row)
    assert observed[:2] == ["1", "1"]  # people count epochs from one, as steps


def test_the_lineage_goes_from_the_seed_to_the_variants(here: Rods, run: Path) -> None:
    variant = variant_id(here, run)
    assert [e["id"] for e in read(here, "lineage", run, variant)["lineage"]] == [SEED.id, variant]
    assert [e["id"] for e in read(here, "lineage", run, SEED.id)["children"]] == [variant]
    assert variant in here("pool", "lineage", run, SEED.id).stdout


def test_a_file_and_a_url_name_the_pool_too(here: Rods, run: Path) -> None:
    expected = read(here, "stats", run)
    assert read(here, "stats", run / "pool.sqlite") == expected
    assert read(here, "stats", f"sqlite:///{run / 'pool.sqlite'}") == expected


def test_a_pool_that_is_being_written_can_be_read(here: Rods, run: Path) -> None:
    with Pool.open(f"sqlite:///{run / 'pool.sqlite'}") as pool, pool.transaction():
        pool.record(3, 1, [group(SEED, 2, 0)])
        assert read(here, "stats", run)["step"] == 2


@pytest.mark.parametrize("form", ["jsonl", "parquet", "datasets"])
def test_the_export_holds_the_chosen_tasks(
    here: Rods, run: Path, tmp_path: Path, form: str
) -> None:
    filters = ("--state", "active", "--kind", "base", "--format", form, "--out", "tasks")
    assert read(here, "export", run, *filters)["entries"] == 2
    rows = {"jsonl": read_jsonl, "parquet": read_parquet, "datasets": read_dataset}[form]
    tasks = [Task.model_validate_json(text) for text in rows(tmp_path / "tasks")]
    assert [task.id for task in tasks] == [SEED.id, SEED.id.replace("_0", "_1")]


def read_jsonl(path: Path) -> list[str]:
    return [json.dumps(json.loads(line)["task"]) for line in path.read_text().splitlines()]


def read_parquet(path: Path) -> list[str]:
    parquet = pytest.importorskip("pyarrow.parquet")
    return [str(text) for text in parquet.read_table(path)["task"].to_pylist()]


def read_dataset(path: Path) -> list[str]:
    datasets = pytest.importorskip("datasets")
    return list(datasets.load_from_disk(str(path))["task"])


def test_a_file_that_is_there_is_replaced_only_by_force(
    here: Rods, run: Path, tmp_path: Path
) -> None:
    (tmp_path / "t.jsonl").write_text("mine")
    words = ("pool", "export", run, "--out", "t.jsonl")
    done = here(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert "t.jsonl exists; name another --out, or replace it with --force." in done.stderr
    assert (tmp_path / "t.jsonl").read_text() == "mine"
    assert here(*words, "--force").returncode == 0
    assert "syn-" in (tmp_path / "t.jsonl").read_text()


def test_an_export_can_be_the_seeds_of_a_synthesis(
    here: Rods, run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    points = {"rods": {"fake": "rods.testing.plugin"}}
    monkeypatch.syspath_prepend(write_distribution(tmp_path / "d", "fake", points))
    here("pool", "export", run, "--state", "trial", "--out", "trial.jsonl")
    done = here(
        *("synth", "--plugins", "fake", "-o", "synthesizer.name=fake", "--kind", "base"),
        *("--seeds", "trial.jsonl", "-n", 9, "--out", "v.jsonl"),
    )
    assert done.returncode == 0
    lines = (tmp_path / "v.jsonl").read_text().splitlines()
    assert {json.loads(line)["generation"] for line in lines} == {1, 2}


@pytest.mark.parametrize(
    ("out", "status"), [("/dev/full", 1), ("/proc/x/tasks.jsonl", 2), ("run/pool.sqlite/t", 2)]
)
def test_a_place_that_cannot_be_written_is_one_line(
    here: Rods, run: Path, out: str, status: int
) -> None:
    done = here("pool", "export", run, "--out", out)
    assert (done.returncode, done.stdout) == (status, "")
    assert len(done.stderr.splitlines()) == 1


BAD = {
    "no folder": (("stats", "nowhere"), "nowhere is no run's folder, no pool file"),
    "a folder that is no run's": (("stats", "empty"), "empty is no run's folder"),
    "a run without a pool": (("stats", "bare"), "There is no pool at"),
    "a file that is no pool": (("stats", "text"), "text"),
    "an unknown entry": (("show", "run", "syn-0"), "syn-0"),
    "an unknown entry's lineage": (("lineage", "run", "syn-0"), "syn-0"),
    "an unknown database": (("stats", "oracle9://x"), "oracle9"),
}


@pytest.mark.parametrize(("arguments", "said"), BAD.values(), ids=BAD.keys())
def test_bad_input_is_one_line_with_status_2(
    here: Rods, run: Path, tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "bare").mkdir()
    (tmp_path / "bare" / "config.toml").write_text("")
    (tmp_path / "text").write_text("no pool at all, but long enough to be read as a header\n" * 9)
    done = here("pool", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(("form", "extra"), [("parquet", "parquet"), ("datasets", "datasets")])
def test_a_format_whose_package_is_missing_names_the_extra(
    here: Rods, run: Path, monkeypatch: pytest.MonkeyPatch, form: str, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)  # as python itself marks what is not there
    monkeypatch.setitem(sys.modules, "datasets", None)
    done = here("pool", "export", run, "--format", form, "--out", "tasks")
    assert done.returncode == 2
    assert f"pip install 'rods[{extra}]'" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_an_unknown_state_is_refused_with_those_there_are(here: Rods, run: Path) -> None:
    done = here("pool", "list", run, "--state", "sleeping")
    assert done.returncode == 2
    assert "'candidate', 'trial', 'active', 'parked', 'retired'" in done.stderr
