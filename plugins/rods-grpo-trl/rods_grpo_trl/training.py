"""One policy in one world, with TRL: sampling, training, evaluation."""

from __future__ import annotations

import logging
import shutil
import tempfile
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import cast

import torch
from accelerate.utils import set_seed  # type: ignore[import-untyped]
from transformers import LlamaForCausalLM

from rods.errors import ConfigError
from rods.interfaces import CurriculumSeam, Environment, RunFolder
from rods.types import Rollout, RolloutGroup, Task
from rods_grpo_trl import adapter, checkpoints
from rods_grpo_trl.adapter import SeamTrainer
from rods_grpo_trl.callbacks import CurriculumCallback
from rods_grpo_trl.config import GrpoConfig
from rods_grpo_trl.generation import Generator
from rods_grpo_trl.grpo_args import (
    check_options,
    grpo_config,
    launched_ranks,
    rollout_budget,
    updates_per_generation,
)
from rods_grpo_trl.harvest import Ledger
from rods_grpo_trl.policies import INITIAL
from rods_grpo_trl.policy import Policy, choose_generation
from rods_grpo_trl.ranks import from_rank_zero, gather, rank, world_size
from rods_grpo_trl.rollouts import RolloutFunction, Rollouts
from rods_grpo_trl.sampler import CachedSampler
from rods_grpo_trl.schedule import Schedule
from rods_grpo_trl.seeds import derive_seed
from rods_grpo_trl.tiny.policy import CARD
from rods_grpo_trl.trl_generation import TrlGenerator

log = logging.getLogger(__name__)

EVALUATION_BATCH = 256  # rollouts between two progress reports


class Training:
    """Owns TRL's trainer, which is made when it is first needed and kept: vLLM starts once."""

    def __init__(
        self,
        config: GrpoConfig,
        policy: Policy,
        environment: Environment,
        output: Path | None,
        seed: int,
    ) -> None:
        check_options(config)
        self.config, self.policy, self.seed = config, policy, seed
        self.generation = choose_generation(config, policy)
        self.rollouts = Rollouts(
            environment,
            policy.dialect,
            budget=rollout_budget(config, policy.context, self.generation),
            message_budget=config.message_budget,
            limits=config.limits,
        )
        self._output = output
        self._trl: SeamTrainer | None = None
        if launched_ranks() > 1:  # TRL joins the ranks, which evaluation shares its work among
            self._trainer()

    # ---------------------------------------------------------------- training
    def train(self, curriculum: CurriculumSeam, run: RunFolder) -> None:
        """All epochs of the curriculum in one ``train()`` of TRL."""
        trainer = self._trainer()
        steps = self._steps_per_epoch(curriculum.epoch_size)
        trainer.schedule = Schedule(curriculum.epoch_size)
        trainer.rollout_function = self._rollout_function(trainer.schedule)
        trainer.args.num_train_epochs = curriculum.epochs
        callback = CurriculumCallback(
            curriculum,
            run,
            trainer.rollout_function,
            steps_per_epoch=steps,
            updates=updates_per_generation(self.config),
            policy_files=[run.path / INITIAL / CARD],
        )
        adapter.put_first(trainer, callback)
        set_seed(self.seed % 2**32, device_specific=True)  # whatever was drawn before this
        try:
            trainer.train(resume_from_checkpoint=self._resume(curriculum, run))
        finally:
            trainer.remove_callback(callback)
        adapter.weights_changed(trainer)

    def _resume(self, curriculum: CurriculumSeam, run: RunFolder) -> str | None:
        """The checkpoint to go on from; everything later is forgotten, here and in the pool."""
        if not run.resume:
            return None
        return from_rank_zero(lambda: self._rewind(curriculum, run.checkpoints))

    def _rewind(self, curriculum: CurriculumSeam, folder: Path) -> str | None:
        newest = checkpoints.newest_complete(folder, world_size())
        step = checkpoints.step_of(newest) if newest is not None else 0
        checkpoints.discard_after(folder, step)
        curriculum.rewind(step)
        log.info("Training resumes after step %d.", step)
        return str(newest) if newest is not None else None

    def _steps_per_epoch(self, epoch_size: int) -> int:
        prompts = self.config.prompts_per_step
        if epoch_size % prompts:
            raise ConfigError(
                f"curriculum.epoch_size = {epoch_size} is not a multiple of "
                f"trainer.prompts_per_step = {prompts}: an epoch is whole steps."
            )
        return epoch_size // prompts * updates_per_generation(self.config)

    def _rollout_function(self, schedule: Schedule) -> RolloutFunction:
        pad = self.policy.tokenizer.pad_token_id
        return RolloutFunction(
            self.rollouts,
            Ledger(schedule, self.config.group_size),
            lambda step: self.generator("train", step),
            pad_id=int(pad) if isinstance(pad, int) else min(self.policy.dialect.eos_ids),
            logprobs=self.generation.startswith("vllm-"),
        )

    # ---------------------------------------------------------------- sampling
    def generator(self, *purpose: int | str) -> Generator:
        """Samples with the present weights; its random stream is a function of seed and purpose."""
        seed = derive_seed(self.seed, *purpose, rank())
        if self.generation != "cached":
            return TrlGenerator(self._trainer(), seed)
        return CachedSampler(
            cast(LlamaForCausalLM, self.policy.model),
            self.policy.dialect.eos_ids,
            temperature=self.config.temperature,
            generator=torch.Generator().manual_seed(seed),
        )

    def evaluate(
        self,
        tasks: Sequence[Task],
        *,
        k: int,
        seed: int,
        progress: Callable[[int, int], None] | None = None,
    ) -> list[RolloutGroup]:
        """k rollouts of every task; the ranks share the work and all get all groups."""
        rollouts: list[Rollout] = []
        per_batch = max(1, EVALUATION_BATCH // k)
        for start in range(0, len(tasks), per_batch):
            batch = [task for task in tasks[start : start + per_batch] for _ in range(k)]
            rollouts += self._evaluate_batch(batch, derive_seed(seed, "evaluate", start))
            if progress is not None:
                progress(len(rollouts) // k, len(tasks))
        return [
            RolloutGroup(entry_id=task.id, task=task, rollouts=tuple(rollouts[i * k : (i + 1) * k]))
            for i, task in enumerate(tasks)
        ]

    def _evaluate_batch(self, tasks: Sequence[Task], seed: int) -> list[Rollout]:
        share = -(-len(tasks) // world_size())
        mine = tasks[rank() * share : (rank() + 1) * share]
        version = self._trl.state.global_step if self._trl is not None else 0
        self.policy.model.train(False)
        return gather([r for _, r in self.rollouts.play(mine, self.generator(seed), version)])

    # ---------------------------------------------------------------- files
    def save(self, folder: Path) -> None:
        """Write the present policy; all ranks call it, as sharded weights are gathered."""
        if self._trl is not None and adapter.is_sharded(self._trl):
            self._trl.save_model(str(folder))
        elif rank() == 0:
            self.policy.save(folder)

    def _trainer(self) -> SeamTrainer:
        if self._trl is None:
            args = grpo_config(
                self.config,
                self._output or self._temporary(),
                seed=self.seed,
                generation=self.generation,
                eos_ids=self.policy.dialect.eos_ids,
                context=self.policy.context,
            )
            self._trl = SeamTrainer(
                self.policy.model,
                args,
                self.policy.tokenizer,
                skip_flat_groups=self.config.skip_flat_groups,
            )
        return self._trl

    def _temporary(self) -> Path:
        """Where TRL's trainer may write when it only samples; deleted with this object."""
        folder = tempfile.mkdtemp(prefix="rods-grpo-trl-")
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        return Path(folder)
