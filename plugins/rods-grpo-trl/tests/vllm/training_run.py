"""A training on the lamp world that samples with vLLM; FOLDER/outcome-RANK.json says how it went.

Run by ``python`` (one rank) or ``torchrun`` (several): see conftest.py.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import requests
import rods_vllm_cpu_shim as shim
import torch

sys.path.insert(0, str(Path(__file__).parents[1] / "grpo"))
from fakes import (
    LAMPS,
    WORDS,
    LampCurriculum,
    LampPolicy,
    LampRun,
    LampTrainer,
    LampWorld,
    lamp_policy,
)
from rods_grpo_trl import adapter
from rods_grpo_trl.adapter import SeamTrainer
from rods_grpo_trl.trainer import GrpoTrainer
from transformers import TrainerCallback

from rods.interfaces import Environment
from rods.types import TrainingStage

RANK = int(os.environ.get("RANK", "0"))
PROBE = [WORDS.index(word) for word in ("<user>", "red", "<say>", "red", ".", "<user>", *LAMPS)]
BUDGETS = {"max_prompt_length": 4, "max_completion_length": 12, "message_budget": 4}
DENSE = TrainingStage(reward="format")  # a random policy seldom earns another
HEAD = 32  # the smallest head that vLLM's CPU kernels know
Probe = Callable[[], float]


class VllmTrainer(LampTrainer):
    """The trainer with a lamp policy that vLLM can load."""

    def make_policy(self, environment: Environment, run: Any) -> LampPolicy:
        self.policy = lamp_policy(self.folder, head_dim=HEAD)
        return self.policy


class Watch(TrainerCallback):
    """Stands between TRL and the rollout function, and keeps what passes."""

    def __init__(self, trl: SeamTrainer) -> None:
        self.trl, self.unmask = trl, False
        self.steps: list[list[tuple[list[int], list[float]]]] = []  # mask and log-probs, a rollout

    def on_train_begin(self, *_: Any, **__: Any) -> None:
        self.rollout_function, self.trl.rollout_function = self.trl.rollout_function, self

    def __call__(self, prompts: list[str], trl: SeamTrainer) -> dict[str, Any]:
        answer: dict[str, Any] = self.rollout_function(prompts, trl)
        self.steps.append(list(zip(answer["env_mask"], answer["logprobs"], strict=True)))
        if self.unmask:
            answer["env_mask"] = [[1] * len(mask) for mask in answer["env_mask"]]
        return answer


def inner(trainer: GrpoTrainer) -> SeamTrainer:
    """TRL's trainer, which ours keeps to itself."""
    assert trainer._training is not None
    return trainer._training._trainer()


# ------------------------------------------------------------------------------- probes
def probe(trainer: GrpoTrainer) -> float:
    """The largest difference between vLLM's log-probabilities of fixed tokens and the policy's."""
    assert trainer._training is not None
    model = trainer._training.policy.model.eval()
    with torch.no_grad():
        logits = model(input_ids=torch.tensor([PROBE])).logits[0].log_softmax(-1)
    ours = [float(logits[at, token]) for at, token in enumerate(PROBE[1:])]
    engine = inner(trainer).vllm_generation
    theirs = ask_server(engine.vllm_client) if engine.mode == "server" else ask_engine(engine.llm)
    return max(abs(a - b) for a, b in zip(ours, theirs, strict=True))


def ask_engine(llm: Any) -> list[float]:
    from vllm import SamplingParams

    wanted = SamplingParams(max_tokens=1, prompt_logprobs=0)
    (answer,) = llm.generate([{"prompt_token_ids": PROBE}], wanted, use_tqdm=False)
    scored = zip(PROBE[1:], answer.prompt_logprobs[1:], strict=True)
    return [row[token].logprob for token, row in scored]


def ask_server(client: Any) -> list[float]:
    wanted = {"model": client.model, "prompt": [PROBE], "max_tokens": 1, "prompt_logprobs": 0}
    reply = requests.post(f"{client.base_url}/v1/completions", json=wanted, timeout=120)
    reply.raise_for_status()
    (choice,) = reply.json()["choices"]
    scored = zip(PROBE[1:], choice["prompt_logprobs"][1:], strict=True)
    return [row[str(token)]["logprob"] for token, row in scored]


# ------------------------------------------------------------------------------- the run
def main(folder: Path, options: argparse.Namespace) -> None:
    ranks = int(os.environ.get("WORLD_SIZE", "1"))
    trainer = VllmTrainer(
        folder / f"policy-{RANK}",
        generation=f"vllm-{options.mode}",
        temperature=0.8,
        save_every=100,
        ddp_timeout_s=options.ddp_timeout_s,
        vllm={"server_port": options.port, "server_timeout_s": 60},
        grpo={"vllm_group_port": options.group_port},
        **BUDGETS,
    )
    world, run = LampWorld(), LampRun(folder, seed=5)
    trainer.prepare(world, world.tasks("train"), run)
    measure: Probe = (lambda: probe(trainer)) if RANK == 0 else (lambda: 0.0)
    measured = {}
    trainer.evaluate(world.tasks("eval"), world, k=1, seed=1)
    measured["synchronised"] = measure()
    watch = Watch(inner(trainer))
    inner(trainer).add_callback(watch)
    trainer.train(LampCurriculum(epochs=2, stage=DENSE), world, run)
    measured["behind by an update"] = measure()
    odd = world.tasks("train")[: 2 * ranks - 1]  # the last rank is given fewer
    groups = trainer.evaluate(odd, world, k=3, seed=2)
    measured["synchronised again"] = measure()
    metrics = [report.trainer for report in run.reports]
    watch.unmask, steps = True, list(watch.steps)
    if options.unmask:
        trainer.train(LampCurriculum(epochs=1, stage=DENSE), world, run)
    outcome = {
        "probe": measured,
        "metrics": metrics,
        "unmasked": [report.trainer for report in run.reports[len(metrics) :]],
        "steps": steps,
        "evaluated": [group.scored for group in groups],
    }
    (folder / f"outcome-{RANK}.json").write_text(json.dumps(outcome))


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("mode", choices=("colocate", "server"))
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--group-port", type=int, default=51216)
    parser.add_argument("--ddp-timeout-s", type=int, default=600)
    parser.add_argument("--unmask", action="store_true", help="then train on shown tokens too")
    parser.add_argument("--no-lockstep", action="store_true", help="ranks call as they like")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    options = parse(sys.argv[1:])
    torch.set_num_threads(1)
    shim.exact_engines()
    shim.transfer_over_gloo()
    if options.no_lockstep:
        adapter.needs_lockstep = lambda trainer: False  # type: ignore[assignment]
    main(options.folder, options)
