"""What is found out before a run starts."""

from __future__ import annotations

import socket
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest

from rods.curriculum import CurriculumConfig
from rods.errors import DataError, UserError
from rods.interfaces import Environment
from rods.preflight import iter_checks, play_reference, require
from rods.synthesis.lm.config import LmConfig
from rods.synthesis.lm.preflight import lm_checks
from rods.testing import FakeEnvironment, FakeTrainer
from rods.testing.model_server import ModelServer
from rods.types import (
    Check,
    ProgressReward,
    Split,
    Task,
    ToolCall,
    TrainingStage,
    Trajectory,
    Turn,
)


class Trainer(FakeTrainer):
    """Has a check of its own."""

    def check_schedule(self, epochs: int, epoch_size: int) -> list[Check]:
        return [Check(name="steps", ok=True, detail=f"{epochs} x {epoch_size}")]

    def preflight(self, environment: Environment, tasks: Sequence[Task]) -> list[Check]:
        return [
            Check(name="packages", ok=False, detail="torch is missing", fix="pip install torch")
        ]


class Changed(FakeEnvironment):
    """The stockroom with other tasks."""

    def __init__(self, **tasks: Sequence[Task]) -> None:
        super().__init__()
        self.changed = tasks

    def tasks(self, split: Split) -> Sequence[Task]:
        return self.changed.get(split, super().tasks(split))


def found(environment: Environment, out: Path, *stages: TrainingStage) -> dict[str, Check]:
    schedule = CurriculumConfig(stages=stages or (TrainingStage(),))
    checks = iter_checks(environment, Trainer(), schedule, out, seed=0)
    return {check.name: check for check in checks}


def test_a_sound_world_passes_and_the_trainer_has_its_say(tmp_path: Path) -> None:
    checks = found(FakeEnvironment(), tmp_path / "runs" / "one")
    assert [name for name, check in checks.items() if not check.ok] == ["packages"]
    assert "held out" in checks["tasks"].detail
    assert checks["steps"].detail == "5 x 64"
    assert not (tmp_path / "runs").exists()


def test_a_reference_that_does_not_solve_its_task_is_named(tmp_path: Path) -> None:
    wrong = FakeEnvironment().tasks("train")[0]
    turn = Turn(
        user="x", reference=(ToolCall(name="add", arguments={"item": "none", "amount": 1}),)
    )
    broken = wrong.model_copy(update={"turns": (*wrong.turns, turn), "tools": ()})
    check = found(Changed(train=[broken]), tmp_path)["gold replay"]
    assert not check.ok
    assert f"1 of 9 references fail; {broken.id}" in check.detail


def test_an_outage_of_the_world_is_a_failed_check(tmp_path: Path) -> None:
    checks = found(FakeEnvironment(FakeEnvironment.Config(outage_every=1)), tmp_path)
    assert "does not answer" in checks["gold replay"].detail


def test_a_task_in_both_splits_is_found(tmp_path: Path) -> None:
    train = FakeEnvironment().tasks("train")
    check = found(Changed(eval=[train[3]]), tmp_path)["tasks"]
    assert not check.ok
    assert f"1 are in both splits, such as {train[3].id!r}" in check.detail


def test_an_id_that_stands_twice_in_a_split_is_found(tmp_path: Path) -> None:
    train = list(FakeEnvironment().tasks("train"))
    check = found(Changed(train=[*train, train[2]]), tmp_path)["tasks"]
    assert not check.ok
    assert f"1 ids stand more than once, such as {train[2].id!r}" in check.detail
    assert check.fix == "give every task an id of its own"


def test_an_exception_of_the_worlds_own_code_is_a_row_with_its_line(tmp_path: Path) -> None:
    class Slipping(FakeEnvironment):
        def score(self, task: Task, trajectory: Trajectory) -> ProgressReward:
            raise KeyError("aloe")

    check = found(Slipping(), tmp_path)["gold replay"]
    assert not check.ok
    assert "KeyError: 'aloe' (" in check.detail
    assert "test_preflight.py, line " in check.detail
    assert check.fix == "mend that line"


def test_an_exception_of_tasks_is_a_row_and_nothing_more_is_looked_at(tmp_path: Path) -> None:
    class Slipping(FakeEnvironment):
        def tasks(self, split: Split) -> Sequence[Task]:
            raise KeyError("aloe")

    ((name, check),) = found(Slipping(), tmp_path).items()
    assert (name, check.ok) == ("tasks", False)
    assert "test_preflight.py, line " in check.detail


def test_a_reference_that_names_no_tool_hears_which_one_is_near(tmp_path: Path) -> None:
    turn = Turn(user="x", reference=(ToolCall(name="cancle", arguments={"order": "o-1"}),))
    task = FakeEnvironment().tasks("train")[0].model_copy(update={"turns": (turn,)})
    check = found(Changed(train=[task]), tmp_path)["gold replay"]
    assert "there is no tool 'cancle'; did you mean 'cancel'? (Is @tool missing?)" in check.detail


def test_a_world_for_evaluation_only_is_told_apart_from_a_wrong_schedule(tmp_path: Path) -> None:
    checks = found(Changed(train=()), tmp_path)
    assert not checks["tasks"].ok
    assert "fake has no tasks to train on" in checks["tasks"].detail
    assert "schedule" not in checks


def test_a_stage_without_tasks_is_found(tmp_path: Path) -> None:
    base = [task for task in FakeEnvironment().tasks("train") if task.kind == "base"]
    stage = TrainingStage(name="late", kinds=("long_context",))
    check = found(Changed(train=base), tmp_path, stage)["schedule"]
    assert not check.ok
    assert "stage 'late' asks for" in check.detail


def test_data_that_cannot_be_read_ends_the_checks_in_one_line(tmp_path: Path) -> None:
    class Missing(FakeEnvironment):
        def tasks(self, split: Split) -> Sequence[Task]:
            raise DataError("The asset is missing.")

    checks = found(Missing(), tmp_path)
    assert list(checks) == ["tasks"]
    assert checks["tasks"].detail == "The asset is missing."


def test_a_file_in_the_way_of_the_folder_is_found(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert not found(FakeEnvironment(), tmp_path / "file" / "run")["folder"].ok


def test_a_folder_whose_name_is_too_long_is_found(tmp_path: Path) -> None:
    check = found(FakeEnvironment(), tmp_path / ("x" * 300))["folder"]
    assert not check.ok
    assert check.detail.endswith("File name too long")


def test_what_failed_is_one_error_with_its_remedy() -> None:
    checks = [Check(name="a", ok=True), *Trainer().preflight(FakeEnvironment(), [])]
    with pytest.raises(UserError, match="packages: torch is missing -> pip install torch"):
        require(checks)
    require(checks[:1])


@pytest.mark.parametrize("task", FakeEnvironment().tasks("eval")[:8], ids=lambda task: task.id)
def test_a_reference_is_played_through_a_real_episode(task: Task) -> None:
    rollout = play_reference(FakeEnvironment(), task)
    assert rollout.reward is not None
    assert rollout.reward.solved


def test_a_folder_with_content_is_found_before_the_run(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("")
    for resume in (False, True):
        found = iter_checks(
            FakeEnvironment(), FakeTrainer(), CurriculumConfig(), tmp_path, seed=0, resume=resume
        )
        (check,) = [check for check in found if check.name == "folder"]
        assert (check.ok, check.fix) == ((True, "") if resume else (False, "another --out"))


def test_a_broken_link_is_no_folder_for_a_run(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    for out in (tmp_path / "loop", tmp_path / "loop" / "r"):
        check = found(FakeEnvironment(), out)["folder"]
        assert not check.ok
        assert "leads nowhere" in check.detail


# ------------------------------------------------------------------------------- model servers
def test_servers_that_say_nothing_are_waited_for_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("no_proxy", "*")
    with ExitStack() as stack:
        mute = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(4)]
        urls = [f"http://127.0.0.1:{one.getsockname()[1]}/v1" for one in mute]
        stages = ("plan", "rewrite", "critique", "augment")
        tables = {
            stage: {"model": "openai/x", "url": url, "timeout_s": 1}
            for stage, url in zip(stages, urls, strict=True)
        }
        began = time.monotonic()
        found = list(lm_checks(LmConfig.model_validate(tables)))
        assert time.monotonic() - began < 3.5
    assert {check.detail for check in found} == {f"No answer from {url} within 1 s" for url in urls}
    assert not any(check.ok for check in found)


def test_a_server_that_lists_no_models_is_not_called_checked() -> None:
    with ModelServer(lambda _: "{}") as server:
        server.models = ()
        config = {"model": "openai/tiny", "url": server.url}
        (check,) = lm_checks(LmConfig.model_validate(config))
    assert (check.ok, check.skipped) == (True, True)
