"""``rods run`` as a user has it: whole, dry, interrupted, resumed, and refused."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from rods.run_dir import RunDir

Rods = Callable[..., subprocess.CompletedProcess[str]]
RUN = ("run", "--plugins", "stockroom", "--out", "r")


def test_a_run_ends_with_its_tables_and_can_be_asked_again(rods: Rods, tmp_path: Path) -> None:
    done = rods(*RUN)
    assert done.returncode == 0, done.stderr
    for title in ("Held-out progress", "Pool", "Synthesis"):
        assert title in done.stdout
    assert "8 steps in 4 epochs" in done.stdout
    assert "The run lies in r\n" in done.stdout
    assert "Note: The policy is a coin; it only exercises the machine." in done.stdout
    assert "step 8/8" in done.stderr
    again = rods("run", "--resume", "r", "--json")
    assert again.returncode == 0
    assert json.loads(again.stdout) == RunDir.read(tmp_path / "r", "summary.json")
    assert "The run in r is finished." in rods("run", "--resume", "r").stdout


def test_json_is_all_that_stdout_holds(rods: Rods) -> None:
    done = rods(*RUN, "--json", "--epochs", 1)
    summary = json.loads(done.stdout)
    assert {"eval", "pool", "funnel", "epochs", "steps", "injected", "retired", "seconds"} <= (
        summary.keys()
    )
    assert {"candidate", "trial", "active", "retired"} <= summary["pool"].keys()
    assert summary["steps"] == 2


def test_a_dry_run_writes_nothing_and_tells_what_it_checked(rods: Rods, tmp_path: Path) -> None:
    done = rods(*RUN, "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "the references of 32 tasks solve them" in done.stdout
    assert not list(tmp_path.iterdir())
    checks = json.loads(rods(*RUN, "--dry-run", "--json").stdout)
    assert [check["name"] for check in checks][:3] == ["settings", "tasks", "schedule"]


def test_a_dry_run_that_finds_a_fault_exits_with_one(rods: Rods) -> None:
    done = rods(*RUN, "--dry-run", "-o", "environment.outage_every=1")
    assert done.returncode == 1
    assert "FAIL" in done.stdout
    assert "does not answer" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--plugins", "stokroom"], "No plugin 'stokroom' is installed. Did you mean 'stockroom'?"),
        ([], "No plugin is named; try --plugins office,grpo-trl (`rods plugins` lists them)."),
        (
            ["--plugins", "stockroom", "-o", "trainer.grup_size=2"],
            "Unknown key trainer.grup_size (-o trainer.grup_size=2). Did you mean 'group_size'?",
        ),
        (
            ["--plugins", "stockroom", "-o", "trainer.group_size=x"],
            "trainer.group_size = 'x' (-o trainer.group_size=x): expected a valid integer, "
            "unable to parse string as an integer.",
        ),
        (["--config", "no.toml"], "Cannot read no.toml: No such file or directory."),
        (["--resume", "nowhere"], "nowhere is no run's folder: it has no config.toml."),
        (
            ["--resume", "x", "--seed", "1"],
            "--resume takes the run's own settings; leave out seed.",
        ),
    ],
)
def test_a_mistake_is_one_line_and_status_two(
    rods: Rods, arguments: list[str], message: str
) -> None:
    done = rods("run", *arguments)
    assert (done.returncode, done.stderr) == (2, f"Error: {message}\n")


def started(environment: dict[str, str], folder: Path, epochs: int) -> subprocess.Popen[str]:
    """A run whose first step is done, held there."""
    command = [sys.executable, "-m", "rods", *RUN, "-o", f"curriculum.stages=[{{epochs={epochs}}}]"]
    process = subprocess.Popen(
        command, cwd=folder, env=environment, stderr=subprocess.PIPE, text=True
    )
    metrics = folder / "r" / "metrics.jsonl"
    end = time.monotonic() + 60
    while not (metrics.exists() and metrics.stat().st_size) and time.monotonic() < end:
        time.sleep(0.02)
    process.send_signal(signal.SIGSTOP)
    return process


def test_an_interruption_says_how_to_go_on(environment: dict[str, str], tmp_path: Path) -> None:
    with started(environment, tmp_path, epochs=500) as process:
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGCONT)
        assert process.wait(60) == 130
        assert process.stderr is not None
        last = process.stderr.read().strip().splitlines()[-1]
    assert last == "Interrupted. Go on with: rods run --resume r"


def test_a_run_in_use_is_refused_and_a_killed_one_resumed(
    environment: dict[str, str], rods: Rods, tmp_path: Path
) -> None:
    with started(environment, tmp_path, epochs=3) as process:
        done = rods("run", "--resume", "r")
        assert done.returncode == 2
        assert f"r is in use by process {process.pid}" in done.stderr
        process.kill()
    done = rods("run", "--resume", "r")
    assert done.returncode == 0, done.stderr
    assert "6 steps in 3 epochs" in done.stdout


def test_a_full_disk_keeps_what_was_done(rods: Rods, tmp_path: Path) -> None:
    first = rods(*RUN, "-o", "evaluation.tasks=0")
    assert first.returncode == 0
    (tmp_path / "r" / "summary.json").unlink()
    (tmp_path / "r" / ".summary.json.part").symlink_to("/dev/full")
    done = rods("run", "--resume", "r")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-2:] == [
        "Error: No space is left on the disk; make room, what was done is kept.",
        "Go on with: rods run --resume r",
    ]
    assert rods("run", "--resume", "r").returncode == 0
