"""Killed at any moment and resumed, a training is the one that nothing happened to."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent / "killed_run.py"


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_killed_run_ends_with_the_weights_and_the_pool_of_a_calm_one(tmp_path: Path) -> None:
    command = [sys.executable, "-W", "error", str(SCRIPT), str(tmp_path), "20"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    found = json.loads(done.stdout)
    assert set(found["cached"]) == {
        "calm",
        "after observing",
        "within rollouts",
        "within a checkpoint",
        "before any checkpoint",
        "interrupted",
        "killed",
    }
    for sampler, outcomes in found.items():
        calm = outcomes["calm"]
        assert calm["injected"] > 0, "nothing entered the pool: a weak test"
        for misfortune, outcome in outcomes.items():
            assert outcome == calm, f"{sampler}, {misfortune}"
