"""One of several ranks of a training on CPUs, started by torchrun: see test_ranks.py."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import NoReturn

import torch
from torch import distributed

sys.path.insert(0, str(Path(__file__).parent))
from fakes import LampCurriculum, LampRun, LampTrainer, LampWorld, weights
from rods_grpo_trl.ranks import gather, rank


class Nobody:
    """What ranks beside rank 0 get: lengths, and no answers."""

    epochs, epoch_size = 3, 8

    def _refuse(self, *_: object) -> NoReturn:
        raise RuntimeError("only rank 0 may ask the curriculum")

    begin_epoch = draw = observe = rewind = _refuse


def main(folder: Path, resume: bool) -> None:
    torch.set_num_threads(1)
    world, run = LampWorld(), LampRun(folder, seed=3, resume=resume)
    trainer = LampTrainer(folder / "policy", save_every=2)
    trainer.prepare(world, world.tasks("train"), run)
    curriculum = LampCurriculum(epochs=3, folder=folder / "pool") if rank() == 0 else Nobody()
    before = trainer.evaluate(world.tasks("eval"), world, k=4, seed=1)
    trainer.train(curriculum, world, run)
    after = trainer.evaluate(world.tasks("eval"), world, k=4, seed=1)
    trainer.save(folder / "saved")
    vector = weights(trainer).double()
    mine = {
        "rank": rank(),
        "ranks": distributed.get_world_size(),
        "weights": [float(vector.sum()), float(vector.abs().sum())],
        "reported": [report.step for report in run.reports],
        "evaluated": [[group.rewards for group in groups] for groups in (before, after)],
    }
    everyone = gather([mine])
    if isinstance(curriculum, LampCurriculum):
        ledger = {s: [(g.entry_id, g.rewards) for g in gs] for s, gs in curriculum.observed.items()}
        (folder / "ranks.json").write_text(json.dumps({"all": everyone, "ledger": ledger}))
    distributed.destroy_process_group()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2] == "1")
