"""Killed at any moment and resumed, a training is the one that nothing happened to."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).parent / "killed_run.py"


def outcomes(folder: Path, generation: str, kills: int) -> dict[str, Any]:
    command = [sys.executable, "-W", "error", str(SCRIPT), str(folder), generation, str(kills)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize(("generation", "kills"), [("cached", 20), ("transformers", 0)])
def test_a_killed_run_ends_with_the_weights_and_the_pool_of_a_calm_one(
    tmp_path: Path, generation: str, kills: int
) -> None:
    found = outcomes(tmp_path, generation, kills)
    calm = found.pop("calm")
    steps = [rewards for groups in calm["observed"].values() for _, rewards in groups]
    assert any(len(set(rewards)) > 1 for rewards in steps), "nothing was learned: a weak test"
    assert set(found) >= {"after observing", "within a checkpoint", "before any checkpoint"}
    assert {name: outcome == calm for name, outcome in found.items()} == dict.fromkeys(found, True)
