"""The office policy in a colocated engine, with the trainer's own options; no warm start.

Its messages are noise, but its model, its budgets and its tokens are those of ``rods run``.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import rods_vllm_cpu_shim as shim
import torch
from rods_grpo_trl.tiny import policy as tiny
from rods_grpo_trl.tiny.corpus import read_corpus
from rods_grpo_trl.tiny.model import SIZES
from rods_grpo_trl.trainer import GrpoTrainer
from rods_office.environment import OfficeEnvironment
from training_run import probe


def main(folder: Path) -> None:
    world = OfficeEnvironment()
    policy = folder / "policy"
    tiny.untrained(world, read_corpus(world, 0), SIZES["office-1m"], seed=0).save(policy)
    trainer = GrpoTrainer(GrpoTrainer.Config(generation="vllm-colocate"))
    trainer.load(policy)
    groups = trainer.evaluate(world.tasks("eval")[:8], world, k=2, seed=0)
    rollouts = [rollout for group in groups for rollout in group.rollouts]
    outcome = {
        "probe": probe(trainer),
        "stops": [rollout.trajectory.stop for rollout in rollouts],
        "scored": [rollout.reward is not None for rollout in rollouts],
    }
    (folder / "outcome-0.json").write_text(json.dumps(outcome))


if __name__ == "__main__":
    torch.set_num_threads(1)
    shim.exact_engines()
    main(Path(sys.argv[1]))
