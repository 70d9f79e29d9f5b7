"""kill -9 at random moments, and resume: the same pool, policy, metrics and rollouts."""

from __future__ import annotations

import hashlib
import multiprocessing
import random
import time
from pathlib import Path
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


def start(path: Path, plugin: str) -> None:
    """Run to the end, or resume to it where there is something to resume."""
    try:
        made = resumed_run(path)
    except RunDirError:  # killed before the folder was made
        made = new_run(assemble(plugin, overrides=SMALL), path)
    made.train()


def child(path: Path, plugin: str) -> Any:
    process = FORK.Process(target=start, args=(path, plugin))
    process.start()
    return process


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
    began = time.monotonic()
    whole = child(Path("whole"), stockroom)
    whole.join()
    duration = time.monotonic() - began
    assert whole.exitcode == 0
    expected, rng, killed = fingerprint(Path("whole")), random.Random(0), 0
    for point in range(POINTS):
        path = Path(f"killed-{point}")
        process = child(path, stockroom)
        process.join(timeout=rng.uniform(0.0, duration))
        killed += process.exitcode is None
        process.kill()
        process.join()
        resumed = child(path, stockroom)
        resumed.join()
        assert resumed.exitcode == 0
        assert fingerprint(path) == expected, f"killed at point {point}"
    assert killed >= POINTS // 2, "most runs ended before they could be killed"
