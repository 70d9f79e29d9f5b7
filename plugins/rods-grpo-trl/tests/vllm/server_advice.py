"""Writes the command that the preflight check advises when no server answers on a port."""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "grpo"))
from fakes import LampWorld, lamp_config, lamp_policy
from rods_grpo_trl.trainer import GrpoTrainer
from training_run import BUDGETS, HEAD


def main(folder: Path, port: int) -> None:
    model = folder / "policy"
    lamp_policy(model, head_dim=HEAD)
    vllm = {"server_port": port}
    config = lamp_config(model=str(model), generation="vllm-server", vllm=vllm, **BUDGETS)
    checks = GrpoTrainer(config).preflight(LampWorld(), LampWorld().tasks("train"))
    (advice,) = (check.fix for check in checks if check.name == "vllm server")
    (folder / "outcome-0.json").write_text(json.dumps(advice))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
