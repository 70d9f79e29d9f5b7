"""kill -9 at random moments, and resume: the same pool, policy, metrics and rollouts."""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import random
import signal
import sys
import threading
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from rods.assembly import assemble
from rods.errors import RunDirError
from rods.files import read_lines
from rods.pool import Pool
from rods.run_dir import RunDir
from rods.runner import new_run, resumed_run

FORK = multiprocessing.get_context("fork")  # a child that has already imported everything
POINTS = 20
SMALL = ["trainer.group_size=3", "evaluation.samples=1", "curriculum.stages=[{epochs=5}]"]


class Moments:
    """Count the calls of a process, of Python and of C, and kill it at one of them.

    A kill by the clock hits what the machine's speed decides: on a quick one, a run that has ended.
    """

    def __init__(self, last: int = -1) -> None:
        self.passed, self.last = FORK.Value("q", 0, lock=False), last

    def __call__(self, frame: FrameType, event: str, argument: object) -> None:
        self.passed.value += 1
        if self.passed.value == self.last:
            os.kill(os.getpid(), signal.SIGKILL)

    def watch(self) -> None:
        threading.setprofile(self)
        sys.setprofile(self)


def start(path: Path, plugin: str, moments: Moments | None = None) -> None:
    """Run to the end, or resume to it where there is something to resume."""
    if moments is not None:
        moments.watch()
    try:
        made = resumed_run(path)
    except RunDirError:  # killed before the folder was made
        made = new_run(assemble(plugin, overrides=SMALL), path)
    made.train()


def ended(path: Path, plugin: str, moments: Moments | None = None) -> int | None:
    """The exit status of a run in a process of its own."""
    process = FORK.Process(target=start, args=(path, plugin, moments))
    process.start()
    process.join()
    return process.exitcode


def fingerprint(path: Path) -> dict[str, Any]:
    """All that a run leaves behind, without times."""
    with Pool.open(f"sqlite:///{path.absolute() / 'pool.sqlite'}", create=False) as pool:
        digest = pool.digest()
    metrics = [{**line, "seconds": 0} for line in read_lines(path / "metrics.jsonl")]
    rollouts = {
        file.name: hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(path.glob("rollouts/*")) + sorted(path.glob("evaluation/*"))
    }
    summary = RunDir.read(path, "summary.json") or {}
    return {
        "pool": digest,
        "policy": (path / "policy" / "policy.json").read_text(),
        "metrics": metrics,
        "rollouts": rollouts,
        "summary": {k: v for k, v in summary.items() if k not in ("seconds", "folder")},
    }


@pytest.mark.slow
def test_a_run_killed_at_any_moment_ends_as_if_it_was_not(stockroom: str) -> None:
    whole = Moments()
    assert ended(Path("whole"), stockroom, whole) == 0
    expected, rng = fingerprint(Path("whole")), random.Random(0)
    for point in range(POINTS):
        path, last = Path(f"killed-{point}"), rng.randrange(1, whole.passed.value * 99 // 100)
        assert ended(path, stockroom, Moments(last)) == -signal.SIGKILL, f"alive at call {last}"
        assert ended(path, stockroom) == 0
        assert fingerprint(path) == expected, f"killed at call {last}"
