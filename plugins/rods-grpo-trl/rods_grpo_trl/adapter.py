"""Everything of TRL 1.16 and transformers that is private, in one place.

``tests/test_trl_contract.py`` holds these names and behaviours against the installed versions; when
TRL moves, this module moves with it and nothing else.
"""

from __future__ import annotations

import logging
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from datasets import Dataset  # type: ignore[import-untyped]
from torch import Tensor
from torch.utils.data import DataLoader
from transformers import PreTrainedModel, PreTrainedTokenizerBase, PrinterCallback, TrainerCallback
from trl.trainer import utils as trl_utils
from trl.trainer.grpo_config import GRPOConfig
from trl.trainer.grpo_trainer import GRPOTrainer

from rods_grpo_trl.flat_groups import rows_with_signal, sampled_only, with_signal
from rods_grpo_trl.harvest import RewardColumn
from rods_grpo_trl.packing import packs, unpack
from rods_grpo_trl.quiet import quiet
from rods_grpo_trl.ranks import gather
from rods_grpo_trl.schedule import Schedule, VisitDataset, VisitSampler

PACK_ROWS = 6  # rows of similar length in one forward pass: less padding, and they fit the cache
_TALKATIVE = ("trl.trainer.grpo_trainer", "transformers.trainer_utils", "transformers.trainer")
_DEVICE_TEST = "_use_triton"  # in trl.trainer.utils: asked whether only labels are scored
os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")  # rollout_func: pinned, under contract

if TYPE_CHECKING:
    from rods_grpo_trl.rollouts import RolloutFunction


class SeamTrainer(GRPOTrainer):
    """TRL's trainer whose data come from a ``Schedule`` and whose rollouts are ours."""

    args: GRPOConfig
    num_generations: int

    def __init__(
        self,
        model: PreTrainedModel,
        args: GRPOConfig,
        tokenizer: PreTrainedTokenizerBase,
        *,
        skip_flat_groups: bool = True,
    ) -> None:
        self.schedule = Schedule(size=0)
        self.rollout_function: RolloutFunction | None = None
        self._scored: Tensor | None = None  # (B, C), while a loss is computed
        with quiet():
            super().__init__(
                model=model,
                reward_funcs=RewardColumn(),
                args=args,
                train_dataset=Dataset.from_dict({"prompt": [""]}),  # our loader ignores it
                processing_class=tokenizer,
                rollout_func=_call_rollout_function,
            )
        self.skip_flat_groups = skip_flat_groups and _only_advantages_count(self)
        self.remove_callback(PrinterCallback)
        for name in _TALKATIVE:
            logging.getLogger(name).addFilter(_is_news)

    def train(self, *args: Any, **kwargs: Any) -> Any:
        """TRL's ``train`` without the warnings that TRL itself earns."""
        with quiet():
            return super().train(*args, **kwargs)

    # ---------------------------------------------------------------- data
    def get_train_dataloader(self) -> DataLoader[Any]:
        """Generation batches of the schedule's positions."""
        loader: DataLoader[Any] = self._get_dataloader(
            dataset=VisitDataset(self.schedule),
            description="Training",
            batch_size=self._train_batch_size * int(self.args.steps_per_generation or 0),
            sampler_fn=self._get_train_sampler,
            is_training=True,
        )
        return loader

    def _get_train_sampler(self, dataset: Any = None) -> VisitSampler:
        return VisitSampler(
            self.schedule.size,
            k=self.num_generations,
            prompts=int(self.args.generation_batch_size or 0) // self.num_generations,
            repeats=self.num_iterations * int(self.args.steps_per_generation or 0),
        )

    # ---------------------------------------------------------------- update
    def _compute_loss(self, model: Any, inputs: dict[str, Any]) -> Tensor:
        """TRL's loss, computed from the rows and the tokens that it depends on."""
        share = 1.0
        if self.skip_flat_groups:
            keep = max(gather([rows_with_signal(inputs)]))  # TRL gathers one number a row
            inputs, share = with_signal(inputs, self.loss_type, keep)
        inputs, self._scored = sampled_only(inputs)
        try:
            with _head_on_labels(self.accelerator.device):
                loss: Tensor = super()._compute_loss(model, inputs)  # type: ignore[no-untyped-call]
        finally:
            self._scored = None
        return loss * share

    def _get_per_token_logps_and_entropies(
        self,
        model: Any,
        input_ids: Tensor,
        attention_mask: Tensor,
        logits_to_keep: int,
        *args: Any,
        compute_aux_loss: bool = False,
        **kwargs: Any,
    ) -> tuple[Tensor, Tensor | None, Tensor | None]:
        """Log-probabilities and entropies (B, C); in the loss those of sampled tokens, else 0."""
        score = super()._get_per_token_logps_and_entropies
        if self._scored is None or compute_aux_loss:
            kwargs["compute_aux_loss"] = compute_aux_loss
            whole: tuple[Tensor, Tensor | None, Tensor | None] = score(
                model, input_ids, attention_mask, logits_to_keep, *args, **kwargs
            )
            return whole
        logps, entropies = [], []
        for pack in packs(input_ids, attention_mask, self._scored, self._parts(len(input_ids))):
            labelled = _Unlabelled(model, pack.unscored)
            keep = pack.ids.size(1) - 1
            logp, entropy, _ = score(labelled, pack.ids, pack.attention, keep, compute_entropy=True)
            logps.append((pack, logp))
            entropies.append((pack, entropy))
        return unpack(logps), unpack(entropies), None

    def _parts(self, rows: int) -> int:
        """Forward passes of one loss: a GPU and DDP want one, a CPU is faster with several."""
        alone = self.accelerator.num_processes == 1
        return -(-rows // PACK_ROWS) if alone and self.accelerator.device.type == "cpu" else 1

    # ---------------------------------------------------------------- files
    def _save_checkpoint(self, model: Any, trial: Any) -> None:
        folder = Path(self._get_output_dir(trial=trial)) / f"checkpoint-{self.state.global_step}"
        try:
            super()._save_checkpoint(model, trial)  # type: ignore[no-untyped-call]
        except BaseException:  # Ctrl-C, a full disk: leave no half of a checkpoint behind
            shutil.rmtree(folder, ignore_errors=True)
            raise

    def create_model_card(self, *args: Any, **kwargs: Any) -> None:
        """No card: a checkpoint is a place to resume at, the run's folder says what it is."""


@contextmanager
def _head_on_labels(device: torch.device) -> Iterator[None]:
    """TRL's fused head scores the labelled positions only, on a CPU as on a GPU.

    Elsewhere TRL scores every position, because shapes that change are compiled anew on some
    devices; a CPU compiles nothing, and most positions are prompts and tool results.
    """
    if device.type != "cpu":
        yield
        return
    before = getattr(trl_utils, _DEVICE_TEST)
    setattr(trl_utils, _DEVICE_TEST, lambda device: True)
    try:
        yield
    finally:
        setattr(trl_utils, _DEVICE_TEST, before)


class _Unlabelled:
    """A model that leaves positions out of its fused head."""

    def __init__(self, model: Any, positions: Tensor) -> None:
        self.model, self.positions = model, positions

    def __call__(self, *, labels: Tensor, **inputs: Any) -> Any:
        return self.model(**inputs, labels=labels.masked_fill(self.positions, -100))


def _call_rollout_function(prompts: list[str], trainer: GRPOTrainer) -> dict[str, Any]:
    assert isinstance(trainer, SeamTrainer)
    if trainer.rollout_function is None:
        raise RuntimeError("Rollouts were asked for before a curriculum was given.")
    return trainer.rollout_function(prompts, trainer)


def _only_advantages_count(trainer: GRPOTrainer) -> bool:
    """A row without advantage adds nothing to the gradient: no KL, no entropy, no router term."""
    return (
        trainer.beta == 0.0
        and not trainer._entropy_bonus_enabled
        and not trainer.aux_loss_enabled
        and trainer.top_entropy_quantile == 1.0
    )


def _is_news(record: logging.LogRecord) -> bool:
    """Not one of the lines that would come at every step.

    TRL prints whole rows that have no reward; ``rollouts`` says it in one line. Checkpoints are
    numbered, so it does not matter that a file system keeps no times. Tied heads are not saved.
    """
    dull = ("All reward functions returned None", "mtime may not be", "There were missing keys")
    return not record.getMessage().startswith(dull)


# ------------------------------------------------------------------------------- generation
def generate(
    trainer: SeamTrainer, prompts: Sequence[list[int]], max_tokens: int
) -> tuple[list[list[int]], list[list[float]] | None]:
    """One message a prompt, ended by an EOS or ``max_tokens``; log-probabilities with vLLM."""
    with quiet(), _message_budget(trainer, max_tokens):
        ids, logprobs = trainer._generate_single_turn(  # type: ignore[no-untyped-call]
            list(prompts), None, {}, 1
        )
    if logprobs is not None:  # vLLM: None stands for a token it could not score
        logprobs = [[float("nan") if x is None else x for x in row] for row in logprobs]
    return [list(row) for row in ids], logprobs


@contextmanager
def _message_budget(trainer: SeamTrainer, max_tokens: int) -> Iterator[None]:
    """TRL would allow every message ``max_completion_length`` tokens."""
    holder, name = (
        (trainer.vllm_generation, "max_completion_length")
        if trainer.use_vllm
        else (trainer.generation_config, "max_new_tokens")
    )
    before = getattr(holder, name)
    setattr(holder, name, max_tokens)
    try:
        yield
    finally:
        setattr(holder, name, before)


def needs_lockstep(trainer: SeamTrainer) -> bool:
    """Ranks must make equally many calls with equally many prompts.

    vLLM's server mode and tensor parallelism slice the gathered prompts by rank; ZeRO-3 and FSDP
    gather weights in every forward pass.
    """
    shared_engine = trainer.use_vllm and (
        trainer.vllm_mode == "server" or trainer.vllm_tensor_parallel_size > 1
    )
    return trainer.accelerator.num_processes > 1 and bool(shared_engine or is_sharded(trainer))


def is_sharded(trainer: SeamTrainer) -> bool:
    """No rank holds all weights."""
    return bool(trainer.is_deepspeed_enabled or trainer.is_fsdp_enabled)


def weights_changed(trainer: SeamTrainer) -> None:
    """A vLLM engine gets the weights again before it samples: they changed outside of a step."""
    if trainer.use_vllm:
        trainer._last_loaded_step = -1


def put_first(trainer: SeamTrainer, callback: TrainerCallback) -> None:
    """Add a callback before all others: what it writes into the logs reaches the trackers."""
    trainer.callback_handler.callbacks.insert(0, callback)
