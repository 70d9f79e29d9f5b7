"""The run's folder: locked, complete, and rewound to a step."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from rods.errors import RunDirError
from rods.files import read_lines
from rods.pool import Pool
from rods.run_dir import RunDir, config_of, read_rollouts, regions, whole_config_of
from rods.testing import FakeEnvironment, play, reference, silent
from rods.types import Rollout, RolloutGroup, StepReport, Task

WORLD = FakeEnvironment()
TASK = WORLD.tasks("train")[0]
CONFIG = "[run]\nseed = 3\n"


class Listener:
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.reports: list[StepReport] = []
        self.parts: list[tuple[str, int, int]] = []

    def step_finished(self, report: StepReport) -> None:
        self.reports.append(report)

    def progress(self, what: str, done: int, total: int) -> None:
        self.parts.append((what, done, total))


def rollout(solved: bool) -> Rollout:
    return play(WORLD, TASK, reference if solved else silent)


def group(*solved: bool | None, task: Task = TASK) -> RolloutGroup:
    """A group of rollouts that solved the task, did not, or were ended by an outage (None)."""
    rollouts = [rollout(bool(s)) for s in solved]
    lost = [
        r if s is not None else r.model_copy(update={"reward": None})
        for r, s in zip(rollouts, solved, strict=True)
    ]
    return RolloutGroup(entry_id=task.id, task=task, rollouts=tuple(lost))


def trained(path: Path, steps: int) -> RunDir:
    run = RunDir.create(path, CONFIG, seed=3)
    for step in range(1, steps + 1):
        run.log_rollouts(step, [group(True, False)])
        run.report(step, steps, [group(True, False)], {"loss": 0.5})
    return run


def test_a_new_run_keeps_its_settings(tmp_path: Path) -> None:
    run = RunDir.create(tmp_path / "deep" / "run", CONFIG, seed=3)
    assert config_of(run.path).read_text().startswith(CONFIG)
    assert not run.resume


def test_a_folder_that_holds_a_run_is_not_begun_again(tmp_path: Path) -> None:
    trained(tmp_path, 1).close()
    with pytest.raises(RunDirError, match=f"is not empty .*rods run --resume {tmp_path}"):
        RunDir.create(tmp_path, CONFIG, seed=3)


def test_a_folder_with_other_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(RunDirError, match=r"it holds thesis\.tex\); use another --out"):
        RunDir.create(tmp_path, CONFIG, seed=3)


def test_a_run_killed_while_it_was_made_can_be_made_again(tmp_path: Path) -> None:
    (tmp_path / "run.lock").write_text("1")
    (tmp_path / ".config.toml.part").write_text("[ru")
    RunDir.create(tmp_path, CONFIG, seed=3).close()
    assert whole_config_of(tmp_path).read_text().startswith(CONFIG)


def test_a_folder_without_settings_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(RunDirError, match=r"no run's folder: it has no config\.toml"):
        RunDir.reopen(tmp_path, seed=3)


def test_a_run_in_use_names_the_process_and_is_free_after_its_death(tmp_path: Path) -> None:
    hold = "import sys; from pathlib import Path; from rods.run_dir import RunDir\n"
    hold += f"run = RunDir.create(Path({str(tmp_path)!r}), '', 0); print('held', flush=True)\n"
    hold += "sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", hold], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        with pytest.raises(RunDirError, match=f"is in use by process {other.pid}; wait"):
            RunDir.reopen(tmp_path, seed=0)
        other.kill()
    RunDir.reopen(tmp_path, seed=0).close()


def test_every_step_is_a_line_and_reaches_the_listener(tmp_path: Path) -> None:
    run, listener = RunDir.create(tmp_path, CONFIG, seed=3), Listener()
    with Pool.open(f"sqlite:///{tmp_path / 'pool.sqlite'}") as pool:
        pool.add_seeds(WORLD.tasks("train"))
        run.follow(pool, (0.2, 0.85), listener)
        run.enter_epoch(2)
        report = run.report(1, 9, [group(True, False), group(True, True)], {"loss": 0.5})
        run.progress("warm start", 1, 2)
    assert listener.reports == [report]
    assert listener.parts == [("warm start", 1, 2)]
    assert (report.step, report.steps, report.epoch, report.reward) == (1, 9, 2, 0.75)
    assert report.pool["active"] == len(WORLD.tasks("train"))
    assert [StepReport.model_validate(line) for line in read_lines(run.metrics)] == [report]


def test_groups_fall_into_regions_and_an_outage_into_none() -> None:
    groups = [
        group(False, False),
        group(True, False),
        group(True, True),
        group(True, None),
    ]
    found = regions(groups, (0.2, 0.85))
    assert (found.hard, found.boundary, found.mastered) == (1, 1, 1)
    assert (found.no_variance, found.unscored) == (2, 1)


def test_the_borders_of_the_zone_belong_to_it() -> None:
    assert regions([group(True, False)], (0.5, 0.5)).boundary == 1


def test_rewinding_forgets_later_steps_and_nothing_else(tmp_path: Path) -> None:
    run = trained(tmp_path, 5)
    run.rewind(3)
    assert [line["step"] for line in read_lines(run.metrics)] == [1, 2, 3]
    assert sorted(p.name for p in (tmp_path / "rollouts").iterdir()) == [
        f"step-{step:06d}.jsonl.gz" for step in (1, 2, 3)
    ]
    run.rewind(3)
    assert run.last_report() is not None
    run.rewind(0)
    assert run.last_report() is None


def test_files_of_others_among_the_rollouts_are_left_alone(tmp_path: Path) -> None:
    run = trained(tmp_path, 1)
    foreign = tmp_path / "rollouts" / "step-mine.jsonl.gz"
    foreign.write_text("")
    run.rewind(0)
    assert list((tmp_path / "rollouts").iterdir()) == [foreign]


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(RunDirError, match=r"The folder .*loop cannot be made: "):
        RunDir.create(tmp_path / "loop", CONFIG, seed=3)


def test_rewinding_a_run_that_never_stepped_is_nothing(tmp_path: Path) -> None:
    run = RunDir.create(tmp_path, CONFIG, seed=3)
    run.rewind(0)
    assert run.last_report() is None


def test_a_line_torn_by_a_kill_is_repaired_when_the_run_is_reopened(tmp_path: Path) -> None:
    run = trained(tmp_path, 2)
    run.close()
    with run.metrics.open("a") as file:
        file.write('{"step": 3, "rew')
    reopened = RunDir.reopen(tmp_path, seed=3)
    last = reopened.last_report()
    assert last is not None
    assert last.step == 2
    assert reopened.resume


def test_rollouts_can_be_read_back_with_task_and_rewards_first(tmp_path: Path) -> None:
    run = RunDir.create(tmp_path, CONFIG, seed=3)
    played = group(True, False).model_copy(update={"draw_seed": 7})
    run.log_rollouts(1, [played])
    (line,) = read_rollouts(run.rollouts(1))
    assert next(iter(line)) == "task_id"
    assert (line["entry_id"], line["rewards"], line["draw_seed"]) == (TASK.id, [1.0, 0.0], 7)
    assert tuple(Rollout.model_validate(r) for r in line["rollouts"]) == played.rollouts


def test_a_damaged_record_is_named(tmp_path: Path) -> None:
    (tmp_path / "summary.json").write_text("{")
    with pytest.raises(RunDirError, match=r"summary\.json is not JSON"):
        RunDir.read(tmp_path, "summary.json")


def test_the_manifest_says_where_a_start_really_began(tmp_path: Path) -> None:
    run = trained(tmp_path, 5)
    run.write_json("manifest.json", {"starts": [{"resumed_at": 0}, {"resumed_at": 5}]})
    run.rewind(3)  # a kill after step 5, whose checkpoint was not written
    manifest = run.read_json("manifest.json")
    assert manifest is not None
    assert [start["resumed_at"] for start in manifest["starts"]] == [0, 3]
