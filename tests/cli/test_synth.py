"""``rods synth``: variants from seeds or from someone else's rollouts, in whole files."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from rods.jsonl import JsonlReader
from rods.testing import FakeEnvironment, play, reference
from rods.types import Task

PLUGIN = ("--plugins", "stockroom", "-o", "synthesizer.name=renamer")
Rods = Callable[..., subprocess.CompletedProcess[str]]


def synth(here: Rods, *more: object) -> subprocess.CompletedProcess[str]:
    return here("synth", *PLUGIN, "--force", "--out", "v.jsonl", *more)


def written(path: Path) -> list[Task]:
    return [Task.model_validate_json(line) for line in path.read_text().splitlines()]


def rollouts(path: Path, **rewards: Sequence[float | None]) -> Path:
    lines = [{"task_id": task, "rewards": earned} for task, earned in rewards.items()]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_variants_are_whole_tasks_that_their_reference_solves(here: Rods, tmp_path: Path) -> None:
    done = synth(here, "-n", 12)
    assert (done.returncode, done.stderr) == (0, "")
    tasks = written(tmp_path / "v.jsonl")
    assert len({task.id for task in tasks}) == 12
    for task in tasks:
        reward = play(FakeEnvironment(), task, reference).reward
        assert task.parent_id is not None
        assert reward is not None
        assert reward.value == 1


def test_the_funnel_the_speed_and_the_coverage_are_shown(here: Rods) -> None:
    done = synth(here, "-n", 12)
    for name in ("critique", "leak", "admitted", "seeds covered", "admitted a second", "distance"):
        assert name in done.stdout
    report = json.loads(synth(here, "-n", 12, "--json").stdout)
    assert report["funnel"]["admitted"] == {"total": 12}
    assert report["seeds_covered"] <= report["seeds"] == 8
    assert report["per_second"] > 0


def test_equal_seeds_give_equal_files(here: Rods, tmp_path: Path) -> None:
    texts = []
    for seed in (3, 3, 4):
        synth(here, "-n", 8, "--seed", seed)
        texts.append(re.sub(r'"seconds":[\d.e-]+', "", (tmp_path / "v.jsonl").read_text()))
    assert texts[0] == texts[1] != texts[2]


def office(here: Rods, *more: object) -> subprocess.CompletedProcess[str]:
    pytest.importorskip("rods_office")
    quick = ("-o", "synthesizer.planning.search.exploration_calls=0")
    return here("synth", "--plugins", "office", *quick, "-n", 2, "--out", "v.jsonl", *more)


def test_new_structures_are_told_from_the_seeds_own(here: Rods, tmp_path: Path) -> None:
    """In the table, in --json and in each task; the seconds are those that it took."""
    done = office(here, "-o", "synthesizer.structures=new")
    assert re.search(r"of other functions +2\n", done.stdout)
    made = [task.provenance for task in written(tmp_path / "v.jsonl")]
    assert [one.structure for one in made if one] == ["new", "new"]
    assert all(one.seconds > 0 for one in made if one)
    report = json.loads(office(here, "--force", "--json").stdout)
    assert report["structures"] == {"seed": 2}


def test_only_boundary_tasks_of_foreign_rollouts_are_seeds(here: Rods, tmp_path: Path) -> None:
    path = rollouts(
        tmp_path / "r.jsonl",
        fake_train_base_0=[1, 1],
        fake_train_miss_func_0=[0, 1],
        fake_train_miss_param_0=[0, 0],
        fake_train_long_context_0=[0.5, None],
    )
    report = json.loads(synth(here, "--from-rollouts", path, "-n", 4, "--json").stdout)
    assert (report["measured"], report["boundary"], report["seeds"]) == (3, 1, 1)
    parents = {task.parent_id for task in written(tmp_path / "v.jsonl")}
    assert parents == {"fake_train_miss_func_0"}


def test_evaluation_tasks_in_a_log_are_left_out_and_other_kinds_too(here: Rods) -> None:
    path = rollouts(
        Path("r.jsonl"),
        fake_eval_base_0=[0, 1],
        fake_train_base_0=[0, 1],
        fake_train_miss_func_0=[0, 1],
    )
    done = synth(here, "--from-rollouts", path, "--kind", "base", "-n", 1, "--json")
    report = json.loads(done.stdout)
    assert (report["measured"], report["boundary"]) == (1, 1)
    assert done.stderr == "1 of 3 lines are of evaluation tasks and were left out.\n"


def test_without_a_boundary_task_the_file_is_empty_and_the_reason_is_said(
    here: Rods, tmp_path: Path
) -> None:
    path = rollouts(tmp_path / "r.jsonl", fake_train_base_0=[1, 1])
    done = synth(here, "--from-rollouts", path)
    assert done.returncode == 1
    assert done.stderr == "Only 0 of 100 variants: no measured task lies on the boundary.\n"
    assert written(tmp_path / "v.jsonl") == []


def test_the_zone_is_an_option(here: Rods, tmp_path: Path) -> None:
    path = rollouts(tmp_path / "r.jsonl", fake_train_base_0=[1, 1, 1, 0.8])
    zone = ("-o", "selector.alpha_high=1.0", "--from-rollouts", path, "-n", 1, "--json")
    assert json.loads(synth(here, *zone).stdout)["boundary"] == 1


def test_earlier_variants_can_be_seeds(here: Rods, tmp_path: Path) -> None:
    synth(here, "-n", 2)
    earlier = written(tmp_path / "v.jsonl")
    (tmp_path / "v.jsonl").rename(tmp_path / "earlier.jsonl")
    path = rollouts(tmp_path / "r.jsonl", **{earlier[0].id: [0, 1]})
    done = synth(here, "--seeds", "earlier.jsonl", "--from-rollouts", path, "-n", 3)
    assert done.returncode == 0
    children = written(tmp_path / "v.jsonl")
    assert {(t.parent_id, t.generation) for t in children} == {(earlier[0].id, 2)}


@pytest.mark.parametrize("name", ["v.jsonl", "v.jsonl.partial"])
def test_what_is_there_is_replaced_only_by_force(here: Rods, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("mine")
    done = here("synth", *PLUGIN, "--out", "v.jsonl", "-n", 1)
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)
    assert "--force" in done.stderr
    assert (tmp_path / name).read_text() == "mine"
    assert synth(here, "-n", 1).returncode == 0
    assert len(written(tmp_path / "v.jsonl")) == 1


def test_what_is_read_is_never_what_is_written(here: Rods, tmp_path: Path) -> None:
    assert synth(here, "-n", 1).returncode == 0
    before = (tmp_path / "v.jsonl").read_text()
    for option in ("--seeds", "--from-rollouts"):
        done = synth(here, option, "v.jsonl", "-n", 1)
        assert (done.returncode, done.stdout) == (2, "")
        assert "v.jsonl is what this command reads" in done.stderr
    assert (tmp_path / "v.jsonl").read_text() == before


def test_rollouts_of_a_run_are_of_the_tasks_that_it_had(here: Rods, tmp_path: Path) -> None:
    assert here("run", "--plugins", "stockroom", "--out", "r", "--epochs", 2).returncode == 0
    files = sorted((tmp_path / "r" / "rollouts").iterdir())
    played = [r.parse(n, line)["entry_id"] for r in map(JsonlReader, files) for n, line in r]
    assert any(str(entry).startswith("syn-") for entry in played), "no variant was played"
    for place in ("r", files[-1]):
        done = here("synth", "--from-rollouts", place, "--out", "v", "-n", 2, "--force")
        assert done.returncode == 0, done.stderr
        assert done.stderr.endswith("/config.toml\n")
        assert len(written(tmp_path / "v")) == 2


def test_rollouts_of_seeds_need_no_pool_and_those_of_variants_say_so(
    here: Rods, tmp_path: Path
) -> None:
    assert here("run", "--plugins", "stockroom", "--out", "r", "--epochs", 2).returncode == 0
    for file in (tmp_path / "r").glob("pool.sqlite*"):
        file.unlink()
    first = min((tmp_path / "r" / "rollouts").iterdir())
    assert here("synth", "--from-rollouts", first, "--out", "v", "-n", 1).returncode == 0
    done = here("synth", "--from-rollouts", "r", "--out", "w", "-n", 1)
    assert done.returncode == 2
    assert "is not known. Export the tasks of its run's pool" in done.stderr


def test_seeds_of_one_kind(here: Rods, tmp_path: Path) -> None:
    synth(here, "--kind", "miss_func", "-n", 5)
    assert {task.kind for task in written(tmp_path / "v.jsonl")} == {"miss_func"}


def test_an_interrupted_run_keeps_whole_lines_under_another_name(
    environment: dict[str, str], tmp_path: Path
) -> None:
    command = [sys.executable, "-m", "rods", "synth", *PLUGIN, "--out", "v.jsonl"]
    options: dict[str, Any] = {"cwd": tmp_path, "env": environment, "text": True}
    with subprocess.Popen([*command, "-n", "10000000"], stderr=subprocess.PIPE, **options) as run:
        partial, deadline = tmp_path / "v.jsonl.partial", time.monotonic() + 60
        while time.monotonic() < deadline and not (partial.exists() and partial.stat().st_size):
            time.sleep(0.05)
        run.send_signal(signal.SIGINT)
        error = run.communicate(timeout=60)[1]
    assert run.returncode == 130
    kept = written(partial)
    assert error == f"\nInterrupted.\nThe {len(kept)} lines done are in v.jsonl.partial.\n"
    assert not (tmp_path / "v.jsonl").exists()


BAD: dict[str, tuple[tuple[Any, ...], str]] = {
    "the evaluation split": (("--split", "eval"), "--split eval is refused"),
    "an unknown kind": (("--kind", "miss"), "There is no kind 'miss'."),
    "an unknown synthesizer": (("-o", "synthesizer.name=renamr"), "Did you mean 'renamer'?"),
    "an unknown option": (("-o", "synthesizer.reject=1"), "Did you mean 'reject_every'?"),
    "a missing rollouts file": (("--from-rollouts", "r"), "Cannot read r: No such file"),
    "a missing seeds file": (("--seeds", "s"), "Cannot read s: No such file"),
    "a corrupt line": (("--from-rollouts", "corrupt"), "corrupt line 1 is no JSON"),
    "a missing column": (("--from-rollouts", "column"), "column line 1 has no column 'rewards'"),
    "an unknown task": (("--from-rollouts", "task"), "Did you mean 'fake_train_base_0'?"),
    "an unknown variant": (("--from-rollouts", "variant"), "rods pool export RUN --out"),
    "a folder without rollouts": (("--from-rollouts", "."), ". holds no rollouts"),
    "a place that cannot be written": (("--out", "no/v.jsonl"), "Cannot write no/v.jsonl"),
}


@pytest.mark.parametrize(("arguments", "said"), BAD.values(), ids=BAD.keys())
def test_bad_input_is_one_line_with_status_2(
    here: Rods, tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    (tmp_path / "corrupt").write_text('{"task_id": "fake')
    (tmp_path / "column").write_text('{"task_id": "fake_train_base_0"}')
    rollouts(tmp_path / "task", fake_train_bas_0=[0, 1])
    rollouts(tmp_path / "variant", **{"syn-0123": [0, 1]})
    done = synth(here, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert list(tmp_path.glob("v.jsonl*")) == []


def test_a_full_disk_is_one_line_with_status_1(here: Rods) -> None:
    done = synth(here, "-n", 3, "--out", "/dev/full")
    assert done.returncode == 1
    assert done.stderr == "Error: No space is left on the disk; make room, what was done is kept.\n"
