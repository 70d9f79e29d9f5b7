"""The configurations in ``examples/`` are complete, and TRL takes their options."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("rods_bfcl")

from rods_grpo_trl.config import GrpoConfig
from rods_grpo_trl.grpo_args import grpo_config

from rods.assembly import assemble
from rods.interfaces import Trainer

EXAMPLES = sorted((Path(__file__).parents[4] / "examples").glob("*.toml"))
PAPER = ("qwen3-4b", "qwen2.5-7b", "llama-3.1-8b")


def load(path: Path) -> tuple[Any, GrpoConfig]:
    assembly = assemble(config=path)
    trainer: Trainer = assembly.trainer()
    assert isinstance(trainer.config, GrpoConfig)
    return assembly, trainer.config


def test_there_is_one_for_each_model() -> None:
    names = {path.stem.removesuffix("-bfcl") for path in EXAMPLES}
    assert names >= {*PAPER, "smollm2-lora"}


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_trl_takes_its_options_and_its_epochs_are_whole_steps(path: Path, tmp_path: Path) -> None:
    assembly, config = load(path)
    args = grpo_config(config, tmp_path, seed=0, generation="cached", eos_ids=frozenset((1,)))
    assert args.generation_batch_size == config.batch_size
    assert assembly.curriculum.epoch_size % config.prompts_per_step == 0


@pytest.mark.parametrize("name", PAPER)
def test_the_papers_set_up_is_the_papers(name: str) -> None:
    assembly, config = load(next(path for path in EXAMPLES if path.stem.startswith(name)))
    assert (config.group_size, config.learning_rate, config.beta) == (16, 1e-6, 0.01)
    stages = assembly.curriculum.stages
    assert [(stage.name, stage.epochs) for stage in stages] == [
        ("format", 5),
        ("base", 5),
        ("all", 5),
    ]
    assert stages[0].reward == "format"
    assert len(stages[2].kinds) == 4
