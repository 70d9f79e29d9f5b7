"""Synthesis through a real vLLM server on the CPU: ``make test-vllm``.

The model is SmolLM2 with 135 million parameters. What it says is poor; that its answers fit the
schemas is vLLM's doing and what is tested here, and that nothing it says can break a task.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import pytest

from rods.testing import play, reference
from rods.types import Stage, Task

CONVERT = Path(__file__).parent / "gguf_to_safetensors.py"
NAME = "smollm2-served"


@pytest.fixture(scope="module")
def url(
    tmp_path_factory: pytest.TempPathFactory,
    serve: Callable[..., Any],
    free_port: Callable[[], int],
) -> Iterator[str]:
    """The address of a vLLM server that has the model."""
    from rods.synthesis.lm.weights import open_weights

    folder, port = tmp_path_factory.mktemp("served"), free_port()
    command = [sys.executable, str(CONVERT), str(open_weights()), str(folder / "model")]
    subprocess.run(command, check=True, capture_output=True, timeout=600)
    server = (
        f"vllm serve {folder / 'model'} --served-model-name {NAME} --port {port} "
        "--max-model-len 4096 --enforce-eager --dtype float32"
    )
    with serve(server, folder, port):
        yield f"http://127.0.0.1:{port}/v1"


def test_every_answer_fits_the_schema_that_was_sent(url: str) -> None:
    import dspy

    from rods.synthesis.lm.config import LmConfig
    from rods.synthesis.lm.models import LanguageModels

    class Pick(dspy.Signature):  # type: ignore[misc]
        """Choose the colour that the text names, and say how sure you are."""

        text: str = dspy.InputField()
        colour: Literal["red", "green", "blue"] = dspy.OutputField()
        percent: int = dspy.OutputField()

    models = LanguageModels(
        LmConfig(model=(f"openai/{NAME}",), url=url, max_tokens=64, temperature=1.0)
    )
    with models.of(Stage.PLAN, "any"), models.counting() as meter:
        answers = [dspy.Predict(Pick)(text=f"The {noun} is green.") for noun in ("car", "sea")]
    assert all(a.colour in ("red", "green", "blue") for a in answers)
    assert all(isinstance(a.percent, int) for a in answers)
    assert meter.calls == 2


def test_synth_shows_its_bill_and_makes_a_sound_task(url: str, tmp_path: Path) -> None:
    out = tmp_path / "variants.jsonl"
    command = [sys.executable, "-m", "rods", "synth", "--plugins", "office", "-n", "1"]
    command += ["--lm", f"openai/{NAME}", "--lm-url", url, "-o", "synthesis.lm.max_tokens=160"]
    command += ["-o", "synthesis.lm.timeout_s=300", "--out", str(out), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=1500)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["admitted"] == 1
    assert report["lm"]["all"]["calls"] > 0
    assert report["funnel"]["admitted"]["total"] == 1
    (line,) = out.read_text().splitlines()
    assert earned(Task.model_validate_json(line)) == 1.0


def earned(task: Task) -> float | None:
    """What the task's own reference earns in the world."""
    from rods_office.environment import OfficeEnvironment

    reward = play(OfficeEnvironment(), task, reference).reward
    return reward.value if reward else None
