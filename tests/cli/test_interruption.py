"""Ctrl-C ends what it is given to, whatever swallows it, and says how to go on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from rods.cli.interruption import Interruption, interruptible
from rods.files import read_lines
from rods.testing import FakeTrainer

RUN = ("run", "--plugins", "stockroom", "--out", "r", "-o", "curriculum.stages=[{epochs=500}]")


def press() -> None:
    os.kill(os.getpid(), signal.SIGINT)


# ------------------------------------------------------------------------------- the guard
def test_what_swallows_it_does_not_keep_it() -> None:
    with pytest.raises(KeyboardInterrupt), interruptible() as interruption:  # noqa: PT012
        with suppress(KeyboardInterrupt):  # as pydantic's serializer does
            press()
        interruption.rods_step_finished()


def test_what_makes_another_error_of_it_does_not_hide_it() -> None:
    with pytest.raises(KeyboardInterrupt), interruptible():  # noqa: PT012
        try:
            press()
        except KeyboardInterrupt:
            raise SystemError("initialization raised an unreported exception") from None


def test_an_error_of_its_own_stays_what_it_is_and_the_handler_is_put_back() -> None:
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(ValueError, match="own"), interruptible():
        raise ValueError("own")
    assert signal.getsignal(signal.SIGINT) is before


def test_a_job_in_the_background_stays_deaf() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with interruptible() as interruption:
            press()
        assert not interruption.asked
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_training_gets_one_step_to_write_its_checkpoint(
    capfd: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(KeyboardInterrupt), interruptible() as interruption:  # noqa: PT012
        interruption.patient = True
        interruption.rods_epoch_started()
        press()
        interruption.rods_epoch_started()
        assert interruption.stopping()
        interruption.rods_step_finished()  # a trainer looks at `stopping` after this
        interruption.rods_step_finished()  # this one did not
    assert "Ctrl-C again ends it at once" in capfd.readouterr().err


def test_the_second_one_ends_a_training_at_once() -> None:
    with pytest.raises(KeyboardInterrupt), interruptible() as interruption:  # noqa: PT012
        interruption.patient = True
        interruption.rods_epoch_started()
        press()
        press()
        pytest.fail("it went on")


@pytest.mark.parametrize("over", [False, True], ids=["before", "after"])
def test_outside_the_training_the_first_one_ends_the_run(over: bool) -> None:
    with pytest.raises(KeyboardInterrupt), interruptible() as interruption:  # noqa: PT012
        interruption.patient = True
        if over:
            interruption.rods_epoch_started()
            interruption.rods_progress()
        press()
        pytest.fail("it went on")


def test_nothing_is_raised_where_nobody_pressed() -> None:
    Interruption().check()


# ------------------------------------------------------------------------------- real processes
def begun(folder: Path, environment: dict[str, str], *words: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "rods", *words]
    return subprocess.Popen(command, cwd=folder, env=environment, stderr=subprocess.PIPE, text=True)


def wait_for(path: Path) -> None:
    end = time.monotonic() + 100
    while time.monotonic() < end and not (path.exists() and path.stat().st_size):
        time.sleep(0.005)


@pytest.mark.parametrize(
    ("sign", "later_s"), [("config.toml", 0.0), ("metrics.jsonl", 0.0), ("metrics.jsonl", 0.06)]
)
def test_a_run_is_interrupted_at_any_moment(
    environment: dict[str, str], tmp_path: Path, sign: str, later_s: float
) -> None:
    with begun(tmp_path, environment, *RUN) as process:
        wait_for(tmp_path / "r" / sign)
        time.sleep(later_s)
        process.send_signal(signal.SIGINT)
        assert process.wait(100) == 130
        assert process.stderr is not None
        last = process.stderr.read().strip().splitlines()[-1]
    assert last == "Interrupted. Go on with: rods run --resume r"


@pytest.mark.slow
def test_an_interrupted_run_has_a_checkpoint_of_its_last_step_and_goes_on_after_it(
    environment: dict[str, str], tmp_path: Path
) -> None:
    words = (*RUN, "-o", "curriculum.epoch_size=400")
    with begun(tmp_path, environment, *words) as process:
        wait_for(tmp_path / "r" / "metrics.jsonl")
        process.send_signal(signal.SIGINT)
        assert process.wait(100) == 130
        assert process.stderr is not None
        assert "the run ends with a checkpoint after this step" in process.stderr.read()
    last = read_lines(tmp_path / "r" / "metrics.jsonl")[-1]["step"]
    assert (tmp_path / "r" / "checkpoints" / f"checkpoint-{last}").is_dir()
    with begun(tmp_path, environment, "run", "--resume", "r") as process:
        end = time.monotonic() + 100
        while time.monotonic() < end and not resumed_at(tmp_path, last):
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        assert process.wait(100) == 130
        assert process.stderr is not None
        said = process.stderr.read()
    assert f"Resumed: step {last} is the last that a checkpoint holds" in said


def resumed_at(folder: Path, step: int) -> bool:
    return read_lines(folder / "r" / "metrics.jsonl")[-1]["step"] > step


@pytest.mark.slow
def test_an_evaluation_keeps_what_was_played_and_goes_on_from_there(
    environment: dict[str, str], tmp_path: Path
) -> None:
    FakeTrainer().save(tmp_path / "policy")
    words = ("eval", "--plugins", "stockroom", "--policy", "policy", "-k", "300")
    words += ("-o", "environment.tasks=8", "--json")
    partial = tmp_path / "r.jsonl.partial"
    with begun(tmp_path, environment, *words, "--out", "r.jsonl") as process:
        wait_for(partial)
        process.send_signal(signal.SIGINT)
        assert process.wait(100) == 130
        assert process.stderr is not None
        said = process.stderr.read()
    done = partial.read_text()
    assert done.endswith("\n")
    assert "Interrupted." in said
    assert "r.jsonl.partial." in said.splitlines()[-2]
    assert said.splitlines()[-1] == "The same command goes on from there."
    assert not (tmp_path / "r.jsonl").exists()
    with begun(tmp_path, environment, *words, "--out", "r.jsonl", "--seed", "1") as other:
        assert other.wait(100) == 2
        assert other.stderr is not None
        assert "with other settings" in other.stderr.read()
    assert partial.read_text() == done
    for out in ("r.jsonl", "calm.jsonl"):
        with begun(tmp_path, environment, *words, "--out", out) as process:
            assert process.wait(100) == 0
            assert process.stderr is not None
            assert ("Going on after" in process.stderr.read()) == (out == "r.jsonl")
    assert (tmp_path / "r.jsonl").read_text() == (tmp_path / "calm.jsonl").read_text()
    assert not list(tmp_path.glob("*.partial*"))
