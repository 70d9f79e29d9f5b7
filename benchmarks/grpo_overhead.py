"""A GRPO step behind the curriculum over a step of plain TRL with the same tokens.

Plain TRL is its own GRPOTrainer with a `rollout_func` that only generates: no world, no parsing, no
scoring, no pool. Its conversations replay the tool results of ours, its sampler has our seeds and
the learning rate is practically zero, so both arms sample and train on the very same tokens. They
take turns; medians count. Processor time is what the wall clock says on an idle machine.

`seam` is our step with TRL's own update: what curriculum, world and bookkeeping cost. `ours` is the
step as it is, whose update leaves out padding and rollouts without advantage.

    OMP_NUM_THREADS=1 python benchmarks/grpo_overhead.py [--blocks N] [--steps N] [--json]
"""

from __future__ import annotations

import argparse
import json
import logging
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any, cast

import torch
from datasets import Dataset  # type: ignore[import-untyped]
from rods_grpo_trl.adapter import SeamTrainer
from rods_grpo_trl.config import GrpoConfig
from rods_grpo_trl.dialect import Dialect
from rods_grpo_trl.grpo_args import grpo_config
from rods_grpo_trl.harvest import RewardColumn
from rods_grpo_trl.rollouts import RolloutFunction
from rods_grpo_trl.sampler import CachedSampler
from rods_grpo_trl.schedule import VisitSampler
from rods_grpo_trl.seeds import derive_seed
from rods_grpo_trl.tiny.model import SIZES, build_model
from rods_grpo_trl.trainer import GrpoTrainer
from tokenizers import Tokenizer, models
from transformers import (
    LlamaForCausalLM,
    PreTrainedTokenizerFast,
    PrinterCallback,
    TrainerCallback,
)
from trl.trainer.grpo_config import GRPOConfig
from trl.trainer.grpo_trainer import GRPOTrainer

from rods.buffers import StaticBuffer
from rods.curriculum import Curriculum, CurriculumConfig
from rods.interfaces import Environment
from rods.pool import Pool
from rods.run_dir import RunDir
from rods.selectors import BoundarySelector
from rods.synthesis.service import SynthesisConfig, SynthesisService
from rods.testing import FakeEnvironment, FakeSynthesizer
from rods.types import AssistantMessage, Message, StepReport, ToolCall, ToolSpec, TrainingStage

LIMIT = 1.05
VOCABULARY, PROMPT, RESULT = 512, 24, 12  # tokens; a message ends with every eleventh word
WORDS = [f"w{number}" for number in range(VOCABULARY)]
CONFIG = GrpoConfig(
    learning_rate=1e-12, save_every=10_000, message_budget=32, max_prompt_length=PROMPT,
    max_completion_length=200,
)  # fmt: skip


class RandomCalls(Dialect):
    """Whatever is sampled is a call; prompts and results are of constant length."""

    eos_ids = frozenset(range(11, VOCABULARY, 11))

    def __init__(self, tools: Mapping[str, ToolSpec]) -> None:
        self.names = sorted(tools)

    def prompt_ids(self, opening: Sequence[Message], tools: Sequence[ToolSpec]) -> list[int]:
        """Equal for all tasks of one first word."""
        return [1 + len(opening[-1].content) % 9] * PROMPT

    def suffix_ids(self, shown: Sequence[Message]) -> list[int]:
        """A dozen tokens a message."""
        return [1 + len(m.content) % 9 for m in shown for _ in range(RESULT)]

    def parse(self, ids: Sequence[int]) -> AssistantMessage:
        """A call that the tokens choose; every third message ends the turn."""
        name = self.names[ids[0] % len(self.names)]
        call = ToolCall(name=name, arguments={"item": "bolts", "amount": 1 + ids[0] % 3})
        return AssistantMessage(calls=(call,), ends_turn=ids[-1] % 2 == 0)

    def message_ids(self, message: AssistantMessage) -> list[int]:
        """Not needed: there is no warm start."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class RandomPolicy:
    """The size of the demo's policy, with random weights."""

    model: LlamaForCausalLM
    tokenizer: PreTrainedTokenizerFast
    dialect: RandomCalls
    context: int = 256

    def save(self, folder: Path) -> None:
        """Nothing is kept."""


def random_policy(environment: Environment) -> RandomPolicy:
    backend = Tokenizer(models.WordLevel({word: i for i, word in enumerate(WORDS)}, WORDS[0]))
    tokenizer = PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=backend, pad_token=WORDS[0], eos_token=WORDS[11], padding_side="left"
    )
    dialect = RandomCalls(environment.tools())
    model = build_model(SIZES["office-1m"], tokenizer, dialect.eos_ids, seed=0)
    return RandomPolicy(model, tokenizer, dialect)


# ------------------------------------------------------------------------------- our arm
class OurTrainer(GrpoTrainer):
    """The trainer with the random policy."""

    def make_policy(self, environment: Environment, run: Any) -> Any:
        return random_policy(environment)


class Quiet:
    """Nobody watches the run."""

    def step_finished(self, report: StepReport) -> None: ...
    def progress(self, what: str, done: int, total: int) -> None: ...


class Clock(TrainerCallback):
    """Processor and wall time between the ends of two steps."""

    def __init__(self) -> None:
        self.cpu: list[float] = []
        self.wall: list[float] = []

    def on_step_end(self, *_: Any, **__: Any) -> None:
        self.cpu.append(time.process_time())
        self.wall.append(time.perf_counter())

    def steps(self) -> Iterator[tuple[float, float]]:
        """One pair a step but the first, which builds the optimizer."""
        for before, after in pairwise(zip(self.cpu, self.wall, strict=True)):
            yield after[0] - before[0], after[1] - before[1]


def curriculum(environment: Environment, folder: Path, steps: int) -> Curriculum:
    """The real one, with a pool on disk; nothing is synthesised."""
    pool = Pool.open(f"sqlite:///{folder / 'pool.sqlite'}")
    pool.add_seeds(environment.tasks("train"))
    synthesizer = FakeSynthesizer(None, environment)
    stage = TrainingStage(epochs=1, synthesis=False)
    return Curriculum(
        CurriculumConfig(epoch_size=steps * CONFIG.prompts_per_step, stages=(stage,)),
        pool=pool,
        selector=BoundarySelector(None, pool),
        buffer=StaticBuffer(None, pool),
        synthesizer=synthesizer,
        synthesis=SynthesisService(SynthesisConfig(), pool=pool, synthesizer=synthesizer),
    )


def run_ours(folder: Path, steps: int, *, trls_update: bool) -> tuple[Clock, list[dict[str, Any]]]:
    """A short training; its step times and what each step's rollouts were."""
    environment, trainer, clock = FakeEnvironment(), OurTrainer(CONFIG), Clock()
    run = RunDir.create(folder, "", seed=0)
    seam = curriculum(environment, folder, steps)
    run.follow(seam.pool, (0.2, 0.85), Quiet())
    trainer.prepare(environment, [], run)
    rows: list[dict[str, Any]] = []
    with recorded(rows, trls_update, clock):
        trainer.train(seam, environment, run)
    seam.pool.close()
    run.close()
    return clock, rows


class recorded:  # noqa: N801 - a context manager
    """Inside, rollouts are kept, steps are timed, and the update is TRL's if asked."""

    def __init__(self, rows: list[dict[str, Any]], trls_update: bool, clock: Clock) -> None:
        self.rows, self.trls_update, self.clock = rows, trls_update, clock
        self.before: list[tuple[type, str, Any]] = []

    def __enter__(self) -> None:
        call, train = RolloutFunction.__call__, SeamTrainer.train

        def keep(function: RolloutFunction, prompts: list[str], trainer: Any) -> Any:
            self.rows.append(answer := call(function, prompts, trainer))
            return dict(answer)

        def timed(trainer: SeamTrainer, *args: Any, **kwargs: Any) -> Any:
            trainer.add_callback(self.clock)
            return train(trainer, *args, **kwargs)

        self.replace(RolloutFunction, "__call__", keep)
        self.replace(SeamTrainer, "train", timed)
        if self.trls_update:
            self.replace(SeamTrainer, "_compute_loss", GRPOTrainer._compute_loss)

    def replace(self, owner: type, name: str, value: Callable[..., Any]) -> None:
        """``owner.name`` is ``value`` until the block ends."""
        self.before.append((owner, name, vars(owner)[name]))
        setattr(owner, name, value)

    def __exit__(self, *_: Any) -> None:
        for owner, name, value in self.before:
            setattr(owner, name, value)


# ------------------------------------------------------------------------------- plain TRL
class Replay:
    """A conversation whose answers to the policy are known: bare generation."""

    def __init__(self, prompt_ids: list[int], shown: list[list[int]], open_end: bool) -> None:
        self.prompt_ids, self.shown, self.open_end = prompt_ids, shown, open_end
        self.completion_ids: list[int] = []
        self.budget, self.done = 256, False

    @property
    def room(self) -> int:
        left = min(CONFIG.budget, self.budget) - len(self.prompt_ids) - len(self.completion_ids)
        return min(left, CONFIG.message_budget)

    def accept(self, ids: list[int], logprobs: list[float] | None = None) -> list[int]:
        self.completion_ids += ids
        if not self.shown:
            self.done = True
            return []
        suffix = self.shown.pop(0)
        self.completion_ids += suffix
        return suffix


def replay(rows: Mapping[str, Any], number: int) -> Replay:
    """Row ``number`` of a step of ours, its tool results as they were."""
    ids, mask = rows["completion_ids"][number], rows["env_mask"][number]
    shown, start = [], 0
    for sampled, run in groupby(mask):
        end = start + len(list(run))
        if not sampled:
            shown.append(list(ids[start:end]))
        start = end
    return Replay(list(rows["prompt_ids"][number]), shown, bool(mask[-1]))


class PlainTrainer(GRPOTrainer):
    """TRL as it is, but for the order of its prompts."""

    args: GRPOConfig

    def _get_train_sampler(self, dataset: Any = None) -> VisitSampler:
        steps = int(self.args.steps_per_generation or 1)
        return VisitSampler(
            len(cast(Sized, self.train_dataset)), k=CONFIG.group_size,
            prompts=CONFIG.prompts_per_step, repeats=steps,
        )  # fmt: skip


def run_plain(folder: Path, recording: Sequence[Mapping[str, Any]]) -> tuple[Clock, list[Any]]:
    """The same steps by TRL alone; its step times and rollouts."""
    policy, clock, answers = random_policy(FakeEnvironment()), Clock(), []

    def rollout(prompts: list[str], trainer: GRPOTrainer) -> dict[str, Any]:
        step = int(trainer.state.global_step)
        rows = recording[step]
        generator = torch.Generator().manual_seed(derive_seed(0, "train", step, 0))
        talks = [replay(rows, number) for number in range(len(prompts))]
        CachedSampler(policy.model, policy.dialect.eos_ids, generator=generator).run(talks)  # type: ignore[arg-type]
        answer = {key: rows[key] for key in ("prompt_ids", "env_mask", "logprobs", "reward")}
        answers.append(answer | {"completion_ids": [talk.completion_ids for talk in talks]})
        return dict(answers[-1])

    options = {"seed": 0, "generation": "cached", "eos_ids": policy.dialect.eos_ids}
    args = grpo_config(CONFIG, folder, **options)  # type: ignore[arg-type]
    args.num_train_epochs = 1
    prompts = [f"prompt {n}" for n in range(len(recording) * CONFIG.prompts_per_step)]
    trainer = PlainTrainer(
        policy.model,
        RewardColumn(),
        args,
        Dataset.from_dict({"prompt": prompts}),
        processing_class=policy.tokenizer,
        callbacks=[clock],
        rollout_func=rollout,
    )
    trainer.remove_callback(PrinterCallback)
    trainer.train()
    return clock, answers


# ------------------------------------------------------------------------------- comparison
def measure(blocks: int, steps: int) -> dict[str, Any]:
    """Median seconds a step of each arm; the arms take turns."""
    arms: dict[str, list[tuple[float, float]]] = {"plain": [], "seam": [], "ours": []}
    tokens = set()
    for block in range(blocks):
        with tempfile.TemporaryDirectory() as scratch:
            root = Path(scratch)
            ours, recording = run_ours(root / "ours", steps, trls_update=False)
            plain, answers = run_plain(root / "plain", recording)
            seam, again = run_ours(root / "seam", steps, trls_update=True)
        tokens |= {token_count(rows) for rows in (recording, answers, again)}
        for name, clock in (("ours", ours), ("plain", plain), ("seam", seam)):
            arms[name] += clock.steps()
        print(f"block {block + 1} of {blocks}", file=sys.stderr)
    medians = {
        name: [statistics.median(x) for x in zip(*times, strict=True)]
        for name, times in arms.items()
    }
    return {
        "tokens_equal": len(tokens) == 1,
        "rollouts": CONFIG.batch_size,
        "tokens_a_rollout": round(tokens.pop() / (CONFIG.batch_size * steps), 1),
        "seconds_a_step": {name: round(cpu, 3) for name, (cpu, _) in medians.items()},
        "wall_seconds_a_step": {name: round(wall, 3) for name, (_, wall) in medians.items()},
        "ratio": round(medians["ours"][0] / medians["plain"][0], 3),
        "seam_ratio": round(medians["seam"][0] / medians["plain"][0], 3),
        "limit": LIMIT,
    }


def token_count(steps: Sequence[Mapping[str, Any]]) -> int:
    """Prompt and completion tokens of all rollouts."""
    keys = ("prompt_ids", "completion_ids")
    return sum(len(ids) for rows in steps for key in keys for ids in rows[key])


def main() -> None:
    """Measure, print and judge."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--blocks", type=int, default=2, help="turns of the arms")
    parser.add_argument("--steps", type=int, default=4, help="steps in a block")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    torch.set_num_threads(1)
    logging.disable(logging.WARNING)
    warnings.filterwarnings("ignore", category=FutureWarning)  # plain TRL's own
    result = measure(options.blocks, options.steps)
    if options.json:
        print(json.dumps(result))
    else:
        for key, value in result.items():
            print(f"{key:20} {value}")
    good = result["tokens_equal"] and max(result["ratio"], result["seam_ratio"]) <= LIMIT
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
