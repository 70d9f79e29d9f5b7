"""Two ranks under torchrun: one curriculum, one ledger, the same weights."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from rods_grpo_trl.ranks import from_rank_zero, gather, rank, world_size

SCRIPT = Path(__file__).parent / "two_ranks.py"


def test_alone_nothing_is_sent() -> None:
    assert (rank(), world_size()) == (0, 1)
    assert gather([1, 2]) == [1, 2]
    assert from_rank_zero(lambda: "plan") == "plan"


def torchrun(folder: Path, resume: bool) -> dict[str, Any]:
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}
    done = subprocess.run(
        [*command, str(SCRIPT), str(folder), str(int(resume))],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    found: dict[str, Any] = json.loads((folder / "ranks.json").read_text())
    return found


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_two_ranks_train_one_policy_and_resume_it(tmp_path: Path) -> None:
    found = torchrun(tmp_path, resume=False)
    first, second = found["all"]
    assert (first["rank"], second["rank"], first["ranks"]) == (0, 1, 2)
    assert first["weights"] == second["weights"]
    assert first["evaluated"] == second["evaluated"]
    assert (first["reported"], second["reported"]) == ([1, 2, 3, 4, 5, 6], [])
    assert list(found["ledger"]) == ["1", "2", "3", "4", "5", "6"]
    groups = [rewards for step in found["ledger"].values() for _, rewards in step]
    assert {len(rewards) for rewards in groups} == {4}
    assert any(len(set(rewards)) > 1 for rewards in groups), "nothing was learned: a weak test"
    shutil.rmtree(tmp_path / "checkpoints" / "checkpoint-6")
    again = torchrun(tmp_path, resume=True)
    assert again["ledger"] == found["ledger"]
    assert [mine["weights"] for mine in again["all"]] == [first["weights"]] * 2
