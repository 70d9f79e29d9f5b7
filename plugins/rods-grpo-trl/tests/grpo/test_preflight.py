"""What is found before a training starts."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rods_grpo_trl.config import GrpoConfig
from rods_grpo_trl.memory import ModelShape, estimate, shape_from_name, shape_of
from rods_grpo_trl.preflight import checks, rank_checks, unused_weights

from rods.types import Check

from .fakes import LampWorld, lamp_policy

QWEN = "Qwen/Qwen3-4B-Instruct-2507"


def found(**options: Any) -> dict[str, Check]:
    world = LampWorld()
    made = checks(GrpoConfig(**options), world, world.tasks("train"))
    for check in made:
        assert check.ok or check.fix, f"{check.name} does not say how to mend it"
    return {check.name: check for check in made}


def test_a_tiny_policy_needs_nothing_more() -> None:
    made = found()
    assert set(made) == {"packages", "training options"}
    assert all(check.ok for check in made.values())


def test_a_wrong_option_is_found_with_its_nearest_name() -> None:
    check = found(grpo={"epsilon_hihg": 0.2})["training options"]
    assert not check.ok
    assert "'epsilon_high'" in check.detail


def test_what_is_not_installed_is_found_with_its_command() -> None:
    made = found(report_to=("wandb",), generation="vllm-colocate")
    assert made["tracker wandb"].ok == (importlib.util.find_spec("wandb") is not None)
    assert made["vllm"].ok == (importlib.util.find_spec("vllm") is not None)


def test_a_server_that_does_not_answer_comes_with_the_command_that_starts_it() -> None:
    options = {"generation": "vllm-server", "vllm": {"server_port": 9}}
    check = found(model=QWEN, **options)["vllm server"]
    assert not check.ok
    assert f"vllm serve {QWEN} --port 9" in check.fix


def test_no_server_can_have_the_policy_that_the_run_makes() -> None:
    check = found(generation="vllm-server")["generation"]
    assert not check.ok
    assert "vllm serve" not in check.fix


def test_several_gpus_want_several_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    (check,) = rank_checks(gpus=4)
    assert not check.ok
    assert "torchrun --nproc-per-node 4" in check.fix
    assert not list(rank_checks(gpus=1))
    monkeypatch.setenv("WORLD_SIZE", "4")
    assert not list(rank_checks(gpus=4))


@pytest.mark.parametrize(("ranks", "ok"), [("1", True), ("2", False)])
def test_weights_that_text_leaves_unused_are_told_to_ddp(
    monkeypatch: pytest.MonkeyPatch, ranks: str, ok: bool
) -> None:
    monkeypatch.setenv("WORLD_SIZE", ranks)
    seeing, reading = SimpleNamespace(vision_config={}), SimpleNamespace()
    (check,) = unused_weights(GrpoConfig(model=QWEN), seeing)
    assert check.ok == ok
    told = GrpoConfig(model=QWEN, grpo={"ddp_find_unused_parameters": True})
    for config, model in ((told, seeing), (GrpoConfig(model=QWEN), reading)):
        assert not list(unused_weights(config, model))


def test_a_model_that_is_not_here_comes_with_its_download(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    check = found(model=QWEN)["model files"]
    assert (check.ok, check.fix) == (False, f"hf download {QWEN}")
    monkeypatch.setenv("HF_HUB_OFFLINE", "0")
    for name in ("model files", "chat template"):
        check = found(model=QWEN)[name]
        assert (check.ok, check.skipped, check.fix) == (True, True, f"hf download {QWEN}")


def test_a_folder_that_is_not_there_is_no_model_of_the_hub() -> None:
    check = found(model="./no/such/model")["model files"]
    assert not check.ok
    assert "does not exist" in check.detail


def test_a_template_without_tools_is_found_before_the_run(tmp_path: Path) -> None:
    lamp_policy(tmp_path)
    made = found(model=str(tmp_path))
    assert made["model files"].ok
    assert not any(check.skipped for check in made.values())
    assert not made["chat template"].ok
    assert "renders no tools" in made["chat template"].detail


# ------------------------------------------------------------------------------- memory
@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        (QWEN, 4e9),
        ("Qwen/Qwen2.5-7B-Instruct", 7e9),
        ("meta-llama/Llama-3.1-8B-Instruct", 8e9),
        ("HuggingFaceTB/SmolLM2-135M-Instruct", 135e6),
        ("some/bert-base", None),
    ],
)
def test_a_name_tells_the_size(name: str, parameters: float | None) -> None:
    shape = shape_from_name(name)
    assert (shape and shape.parameters) == parameters


def test_the_size_from_a_configuration_is_the_models(tmp_path: Path) -> None:
    model = lamp_policy(tmp_path).model
    counted = sum(p.numel() for p in model.parameters())
    assert shape_of(model.config).parameters == pytest.approx(counted, rel=0.02)


def test_memory_counts_what_lies_side_by_side() -> None:
    shape = ModelShape(4e9, 2560, 36)
    full = estimate(shape, GrpoConfig(model=QWEN, beta=0.01), bytes_each=2)
    assert (full.weights, full.gradients, full.optimizer, full.reference) == (8, 8, 16, 8)
    lora = estimate(shape, GrpoConfig(model=QWEN, beta=0.01, lora={}), bytes_each=2)
    assert (lora.gradients, lora.optimizer, lora.reference) == (0, 0, 0)
    assert "weights 8.0" in str(lora)
