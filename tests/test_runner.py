"""A whole run in milliseconds: from settings to summary, stopped, resumed, and on several ranks."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from rods.assembly import assemble
from rods.errors import DataError, RodsError, UserError
from rods.files import read_lines, write_atomic
from rods.finished import finished
from rods.hookspecs import hookimpl
from rods.pool import Pool, PoolStats
from rods.run_dir import RunDir
from rods.runner import TrainingRun, new_run, resumed_run
from rods.types import StepReport

OUT = Path("run")


class Witness:
    """Writes down what observers are told."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        self.notes: list[str] = []

    @hookimpl
    def rods_run_started(self, folder: Path, epochs: int, notes: list[str]) -> None:
        self.heard.append("started")
        self.notes = notes

    @hookimpl
    def rods_progress(self, what: str, done: int, total: int) -> None:
        if done == total:
            self.heard.append(what)

    @hookimpl
    def rods_step_finished(self, report: StepReport) -> None:
        self.heard.append(f"step {report.step}")

    @hookimpl
    def rods_epoch_started(self, epoch: int, injected: int, retired: int, pool: PoolStats) -> None:
        self.heard.append(f"epoch {epoch}")

    @hookimpl
    def rods_run_finished(
        self, folder: Path, summary: dict[str, Any] | None, error: str | None
    ) -> None:
        self.heard.append(f"failed: {error}" if error else "finished")


class StopAt:
    """Ends the run after a step, as Ctrl-C does."""

    def __init__(self, step: int) -> None:
        self.step = step

    @hookimpl
    def rods_step_finished(self, report: StepReport) -> None:
        if report.step == self.step:
            raise KeyboardInterrupt


def run(plugin: str, *overrides: str, observers: Sequence[object] = ()) -> TrainingRun:
    made = new_run(assemble(plugin, overrides=overrides), OUT, ["rods", "run"])
    for observer in observers:
        made.assembly.plugins.observe(observer)
    return made


def pool_digest(path: Path = OUT) -> str:
    with Pool.open(f"sqlite:///{path.absolute() / 'pool.sqlite'}", create=False) as pool:
        return pool.digest()


def test_a_run_crosses_epochs_injects_retires_and_sums_up(stockroom: str) -> None:
    witness = Witness()
    summary = run(stockroom, "curriculum.stages=[{epochs=8}]", observers=[witness]).train()
    assert (summary["epochs"], summary["steps"]) == (8, 16)
    assert summary["injected"] > 0
    assert summary["retired"] == summary["pool"]["retired"] > 0
    assert sum(summary["retired_because"].values()) == summary["retired"]
    assert summary["funnel"]["admitted"]["total"] > 0
    assert summary["funnel"]["critique"]["leak"] > 0
    assert {"before", "after", "gain", "ci_low", "ci_high", "n"} <= summary["eval"].keys()
    assert summary["eval"]["n"] == 8
    assert summary["seconds"] > 0
    assert json.loads((OUT / "summary.json").read_text()) == summary
    assert (OUT / "policy" / "policy.json").exists()


def test_observers_hear_everything_once_and_in_order(stockroom: str) -> None:
    witness = Witness()
    run(stockroom, observers=[witness]).train()
    steps = [[f"epoch {e}", f"step {2 * e + 1}", f"step {2 * e + 2}"] for e in range(4)]
    assert witness.heard == [
        "preflight",
        "started",
        "evaluate before",
        *(heard for epoch in steps for heard in epoch),
        "evaluate after",
        "finished",
    ]
    assert witness.notes == ["The policy is a coin; it only exercises the machine."]


def test_two_runs_with_one_seed_are_equal_and_with_two_are_not(stockroom: str) -> None:
    digests = []
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        assembly = assemble(stockroom, overrides=[f"run.seed={seed}"])
        new_run(assembly, Path(name)).train()
        digests.append((pool_digest(Path(name)), (Path(name) / "policy/policy.json").read_text()))
    assert digests[0] == digests[1]
    assert digests[0] != digests[2]


@pytest.mark.parametrize("step", [1, 4, 7])
def test_a_stopped_run_goes_on_to_the_same_end(stockroom: str, step: int) -> None:
    new_run(assemble(stockroom), Path("whole")).train()
    stopped, witness = Witness(), Witness()
    with pytest.raises(KeyboardInterrupt):
        run(stockroom, observers=[StopAt(step), stopped]).train()
    assert stopped.heard[-1] == "failed: KeyboardInterrupt"
    assert finished(OUT) is None
    resumed = resumed_run(OUT)
    resumed.assembly.plugins.observe(witness)
    summary = resumed.train()
    assert "evaluate before" not in witness.heard
    assert pool_digest() == pool_digest(Path("whole"))
    assert [line["step"] for line in read_lines(OUT / "metrics.jsonl")] == list(range(1, 9))
    assert summary["eval"] == RunDir.read(Path("whole"), "summary.json")["eval"]  # type: ignore[index]
    assert finished(OUT) == summary
    starts = RunDir.read(OUT, "manifest.json")["starts"]  # type: ignore[index]
    assert [start["resumed_at"] for start in starts] == [0, step - 1]  # its checkpoint
    assert summary["seconds"] == pytest.approx(sum(start["seconds"] for start in starts), abs=0.01)
    assert all(start["seconds"] > 0 for start in starts)


def test_a_run_stopped_after_its_training_only_evaluates(stockroom: str) -> None:
    run(stockroom).train()
    policy, digest = (OUT / "policy/policy.json").read_text(), pool_digest()
    first = finished(OUT)
    (OUT / "summary.json").unlink()
    (OUT / "evaluation" / "after.jsonl.gz").unlink()
    witness = Witness()
    resumed = resumed_run(OUT)
    resumed.assembly.plugins.observe(witness)
    summary = resumed.train()
    assert witness.heard == ["started", "evaluate after", "finished"]
    assert (summary["eval"], summary["steps"]) == (first["eval"], 8)  # type: ignore[index]
    assert ((OUT / "policy/policy.json").read_text(), pool_digest()) == (policy, digest)


def test_the_manifest_says_what_made_the_run(stockroom: str) -> None:
    run(stockroom).train()
    manifest = RunDir.read(OUT, "manifest.json")
    assert manifest is not None
    (start,) = manifest["starts"]
    assert start["command"] == ["rods", "run"]
    assert start["versions"]["acme-stockroom"] == "1.0"
    assert {"rods", "pydantic", "sqlmodel"} <= start["versions"].keys()
    assert start["seconds"] > 0


def test_tasks_that_changed_since_the_start_are_refused(stockroom: str) -> None:
    with pytest.raises(KeyboardInterrupt):
        run(stockroom, observers=[StopAt(1)]).train()
    manifest = RunDir.read(OUT, "manifest.json")
    resumed = resumed_run(OUT)
    world = resumed.assembly.component("environment")
    world.data_hashes = lambda self: {"tasks.json": "ab" * 32}
    write_atomic(OUT / "manifest.json", json.dumps({**manifest, "data": {"tasks.json": "cd" * 32}}))  # type: ignore[dict-item]
    with pytest.raises(DataError, match=r"'tasks\.json' is not what the run in run began with"):
        resumed.train()


def test_a_trainer_that_resumes_without_rewinding_is_stopped(stockroom: str) -> None:
    with pytest.raises(KeyboardInterrupt):
        run(stockroom, observers=[StopAt(3)]).train()
    resumed = resumed_run(OUT)
    trainer = resumed.assembly.component("trainer")
    trainer.train = lambda self, curriculum, environment, folder: curriculum.begin_epoch(1)
    with pytest.raises(RodsError, match=r"went on without curriculum\.rewind"):
        resumed.train()


def test_nothing_is_written_when_the_preflight_fails(stockroom: str) -> None:
    with pytest.raises(UserError, match="schedule: no task of a kind"):
        run(stockroom, "environment.tasks=1", "curriculum.stages=[{kinds=['miss_func']}]").train()
    assert not OUT.exists()


def test_the_evaluation_can_be_left_out(stockroom: str) -> None:
    summary = run(stockroom, "evaluation.tasks=0").train()
    assert (summary["eval"]["n"], summary["eval"]["gain"]) == (0, None)
    assert not (OUT / "evaluation").exists()


def test_a_pool_that_belongs_to_another_run_is_left_alone(stockroom: str, tmp_path: Path) -> None:
    url = f"pool.url=sqlite:///{tmp_path / 'shared.sqlite'}"
    run(stockroom, url).train()
    other = new_run(assemble(stockroom, overrides=[url]), Path("other"))
    with pytest.raises(UserError, match="holds another run"):
        other.train()


def test_the_folder_of_a_run_is_named_by_world_and_time(stockroom: str) -> None:
    made = new_run(assemble(stockroom), None)
    assert made.path.parent == Path("runs")
    assert made.path.name.startswith("stockroom-20")


def test_several_processes_need_one_folder(stockroom: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(UserError, match="give it with --out DIR"):
        new_run(assemble(stockroom), None)


def test_a_rank_beside_zero_makes_the_same_calls_and_writes_nothing(
    stockroom: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RANK", "1")
    make_folder()
    made, calls = run(stockroom), list[Any]()
    trainer = made.assembly.component("trainer")

    def train(self: object, curriculum: Any, environment: object, folder: Any) -> None:
        calls.append((curriculum.epochs, curriculum.epoch_size, folder.resume))
        folder.log_rollouts(1, [])
        assert folder.report(1, 8, [], {}).step == 1
        with pytest.raises(RuntimeError, match="Only rank 0"):
            curriculum.begin_epoch(0)

    trainer.train = train
    trainer.evaluate = lambda self, tasks, *args, **more: calls.append(len(tasks))
    trainer.save = lambda self, folder: calls.append(folder.name)
    trainer.load = lambda self, folder: calls.append(folder.name)
    assert made.train() == {}
    assert calls == [8, (4, 8, False), ".policy.part", 8]
    assert [p.name for p in OUT.iterdir()] == ["config.toml"]
    (OUT / "policy").mkdir()
    calls.clear()
    made.train()
    assert calls == [8, "policy", 8]


def make_folder() -> None:
    """What rank 0 has written when the others may begin."""
    OUT.mkdir()
    write_atomic(OUT / "config.toml", "")
