"""A run trains a tiny policy on an MCP server: real GRPO, the whole loop, a few steps."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rods.assembly import assemble
from rods.files import read_lines
from rods.runner import new_run

from .conftest import SHELF, World

QUIET = ["clear", "save", "load_saved", "crash", "hang", "flood", "where"]


@pytest.mark.slow
def test_a_run_trains_on_a_server(world: World, tmp_path: Path) -> None:
    warm_start = pytest.importorskip("rods_grpo_trl.warm_start")
    model = pytest.importorskip("rods_grpo_trl.tiny.model")
    options: dict[str, Any] = {"deny": tuple(QUIET), "reset": "files", "n_train": 2, "n_eval": 1}
    schedule = warm_start.WarmStart(
        phases=(warm_start.Phase(steps=2, batch=2),), decay=2, target=1.1
    )
    size = model.TinySize(
        hidden=48, layers=2, heads=2, kv_heads=2, mlp=96, context=384, vocabulary=384,
        tokenizer="bpe",
    )  # fmt: skip
    environment = world(**options)
    policy = warm_start.warm_started(environment, size=size, schedule=schedule, cache=tmp_path)
    policy.save(tmp_path / "policy")
    settings = [
        f"environment.server={json.dumps(SHELF)}",
        f"environment.deny={json.dumps(QUIET)}",
        "environment.reset=files",
        "environment.n_train=2",
        "environment.n_eval=1",
        f"trainer.model={tmp_path / 'policy'}",
        "trainer.group_size=2",
        "trainer.prompts_per_step=2",
        "trainer.save_every=100",
        "curriculum.epoch_size=2",
        'curriculum.stages=[{name="all", epochs=2}]',
        "evaluation.tasks=1",
        "evaluation.samples=1",
    ]
    run = new_run(assemble("mcp,grpo-trl", overrides=settings), tmp_path / "run", ["rods", "run"])
    run.train()
    metrics = [json.loads(line) for line in read_lines(tmp_path / "run" / "metrics.jsonl")]
    steps = [line for line in metrics if "step" in line]
    assert len(steps) == 2
    assert (tmp_path / "run" / "summary.json").exists()
