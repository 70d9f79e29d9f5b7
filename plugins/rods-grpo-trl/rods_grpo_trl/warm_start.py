"""What stands in for pretraining: a tiny policy that half knows its world, made once and kept.

Supervised steps on reference solutions of the environment's practice tasks. First single turns, in
which copying is learned, then whole tasks, because what is learned on first turns alone is worth
nothing on later ones. It stops as soon as sampled rollouts reach ``target``: a policy that knows
everything has nothing left to learn from rewards.
"""

from __future__ import annotations

import hashlib
import logging
import math
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path

import torch
from pydantic import BaseModel, ConfigDict, Field

from rods.episode import Episode, EpisodeLimits
from rods.errors import RodsError
from rods.interfaces import Environment
from rods.types import Task
from rods_grpo_trl.conversation import Conversation
from rods_grpo_trl.sampler import CachedSampler
from rods_grpo_trl.tiny import policy as tiny
from rods_grpo_trl.tiny.cache import kept
from rods_grpo_trl.tiny.corpus import Trace, read_corpus, trace
from rods_grpo_trl.tiny.model import SIZES, SizeName, TinySize
from rods_grpo_trl.tiny.policy import TinyPolicy
from rods_grpo_trl.tiny.training import SupervisedOptimizer

log = logging.getLogger(__name__)

VERSION = 2  # raise it when equal inputs would give another policy
WARM_UP = 20  # steps
_MAX_SKIPPED = 1000  # practice tasks in a row that do not fit
MESSAGE_BUDGET = 64  # tokens of one sampled message while looking at the progress
LOOK_LIMITS = EpisodeLimits(max_steps_per_turn=8)  # a policy that is lost costs time, not insight
REACHED = "target reached"
Progress = Callable[[int, int, float], None]  # step, steps at most, loss


class Phase(BaseModel):
    """A part of the schedule: what its steps learn from."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    steps: int = Field(ge=1, description="At most; the last phase may stop earlier.")
    batch: int = Field(ge=1, description="Traces in one step.")
    turns: int | None = Field(None, ge=1, description="Keep only the first turns; None: all.")


class WarmStart(BaseModel):
    """How a policy is warm-started."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    phases: tuple[Phase, ...] = Field(min_length=1)
    matrix_rate: float = Field(0.02, gt=0, description="Peak rate of the matrices (Muon).")
    rate: float = Field(3e-3, gt=0, description="Peak rate of all else (AdamW).")
    decay: int = Field(ge=1, description="The rates fall to 0 over so many last steps.")
    sharpen: float = Field(
        1.0, gt=0, description="Factor on the logits at the end: what is recited gets surer."
    )
    target: float = Field(0.42, ge=0, description="Mean sampled progress to stop at.")
    check_after: int = Field(60, ge=0, description="Steps of the last phase without a look.")
    check_every: int = Field(20, ge=1, description="Steps between two looks at the progress.")
    check_tasks: int = Field(16, ge=1, description="Train tasks in one look, 4 samples each.")
    time_limit_s: float = Field(600.0, gt=0, description="Stop then, with what there is.")

    @property
    def steps(self) -> int:
        """Steps of all phases."""
        return sum(phase.steps for phase in self.phases)

    def scale(self, step: int) -> float:
        """Share of the peak rates at step ``step`` (0-based): up, constant, down to almost 0."""
        return min(1.0, (step + 1) / WARM_UP, (self.steps - step) / self.decay)


SCHEDULES: dict[SizeName, WarmStart] = {
    "office-1m": WarmStart(
        phases=(Phase(steps=60, batch=32, turns=1), Phase(steps=100, batch=32)),
        decay=80,
        target=0.42,
        check_after=20,
        check_every=5,
    ),
    "bfcl-1m": WarmStart(
        phases=(Phase(steps=360, batch=4),), decay=180, sharpen=1.5, check_after=360
    ),
}


def warm_started(
    environment: Environment,
    *,
    size: SizeName | TinySize | None = None,
    schedule: WarmStart | None = None,
    seed: int = 0,
    progress: Progress | None = None,
    cache: Path | None = None,
) -> TinyPolicy:
    """A policy with some skill in this environment, from the cache if it was made before.

    Size and schedule are chosen by whether the practice tasks repeat. Equal inputs, the world's
    texts included, give the policy made before; two runs at a time never make the same one twice.
    ``cache`` defaults to the user's cache folder.
    """
    corpus = read_corpus(environment, seed)
    name = tiny.choose_size(corpus) if size is None or isinstance(size, TinySize) else size
    shape = size if isinstance(size, TinySize) else SIZES[name]
    plan = schedule or SCHEDULES[name]
    inputs = {
        "version": VERSION,
        "environment": environment.name,
        "hashes": dict(environment.data_hashes()),
        "corpus": corpus.digest,
        "looked_at": _digest(_spread(environment.tasks("train"), plan.check_tasks)),
        "size": shape.model_dump(),
        "schedule": plan.model_dump(),
        "seed": seed,
    }

    def make() -> TinyPolicy:
        policy = tiny.untrained(environment, corpus, shape, seed)
        return train(policy, environment, plan, seed=seed, progress=progress)

    return kept(inputs, make, lambda folder: tiny.load(folder, environment.tools()), cache)


# ------------------------------------------------------------------------------- training
def train(
    policy: TinyPolicy,
    environment: Environment,
    schedule: WarmStart,
    *,
    seed: int = 0,
    progress: Progress | None = None,
) -> TinyPolicy:
    """The policy, trained in place over the schedule; its card says how far it came and why."""
    run = _Training(policy, environment, schedule, seed, progress)
    for phase in schedule.phases:
        run.train(phase)
    run.finish()
    log.info("Warm start: %s.", ", ".join(f"{k} {v}" for k, v in run.outcome().items()))
    card = {**policy.card, "warm_start": run.outcome()}
    return TinyPolicy(policy.model.train(False), policy.tokenizer, policy.dialect, card)


class _Training:
    """Where a warm start has got to."""

    def __init__(
        self,
        policy: TinyPolicy,
        environment: Environment,
        schedule: WarmStart,
        seed: int,
        progress: Progress | None,
    ) -> None:
        self.policy, self.environment, self.schedule = policy, environment, schedule
        self.seed, self._tell = seed, progress or (lambda step, steps, loss: None)
        self._tasks = environment.practice(seed + 1)
        self._optimizer = SupervisedOptimizer(policy.model, schedule.matrix_rate, schedule.rate)
        self._started = time.monotonic()
        self.step, self.loss = 0, math.nan
        self.reached: float | None = None
        self.stopped = ""

    def train(self, phase: Phase) -> None:
        """Run the phase, up to its end or the first reason to stop."""
        if self.stopped:
            return
        traces = self._traces(phase.turns)
        last = phase is self.schedule.phases[-1]
        for number in range(phase.steps):
            scale = self.schedule.scale(self.step)
            self.loss = self._optimizer.step(list(islice(traces, phase.batch)), scale)
            self.step += 1
            self._tell(self.step, self.schedule.steps, self.loss)
            self.stopped = self._reason(last and self._is_look(number + 1))
            if self.stopped:
                return

    def _is_look(self, step: int) -> bool:
        """Whether to look at the progress after step ``step`` (1-based) of the last phase."""
        schedule = self.schedule
        return step > schedule.check_after and step % schedule.check_every == 0

    def finish(self) -> None:
        """Make the policy as sure as the schedule says, and look at it once more if needed."""
        if self.schedule.sharpen != 1.0:
            with torch.no_grad():
                self.policy.model.model.norm.weight.mul_(self.schedule.sharpen)
        if self.stopped != REACHED:
            self.reached = self._look()

    def outcome(self) -> dict[str, object]:
        """What goes on the policy's card."""
        return {
            "steps": self.step,
            "loss": round(self.loss, 4),
            "progress": round(self.reached, 3) if self.reached is not None else None,
            "stopped": self.stopped or "end of the schedule",
            "seconds": round(time.monotonic() - self._started, 1),
        }

    def _reason(self, look: bool) -> str:
        """Why to stop now; empty: go on."""
        if look:
            self.reached = self._look()
            if self.reached >= self.schedule.target:
                return REACHED
        if time.monotonic() - self._started > self.schedule.time_limit_s:
            return "time limit"
        return ""

    def _look(self) -> float:
        tasks = _spread(self.environment.tasks("train"), self.schedule.check_tasks)
        return sampled_progress(self.policy, self.environment, tasks, seed=self.seed)

    def _traces(self, turns: int | None) -> Iterator[Trace]:
        skipped = 0
        for task in self._tasks:
            kept = task if turns is None else task.model_copy(update={"turns": task.turns[:turns]})
            found = trace(self.environment, kept, self.policy.dialect, self.policy.context)
            if found is not None:
                skipped = 0
                yield found
            elif (skipped := skipped + 1) >= _MAX_SKIPPED:
                break
        raise RodsError(
            f"{self.environment.name!r} gives no practice task whose reference fits into "
            f"{self.policy.context} tokens; choose a larger policy or easier tasks."
        )


def _digest(tasks: Sequence[Task]) -> str:
    return hashlib.sha256("\n".join(t.model_dump_json() for t in tasks).encode()).hexdigest()


def _spread(tasks: Sequence[Task], n: int) -> list[Task]:
    """At most n of the tasks, evenly spread over them."""
    return list(tasks[:: max(1, len(tasks) // n)])[:n]


def sampled_progress(
    policy: TinyPolicy, environment: Environment, tasks: list[Task], *, k: int = 4, seed: int = 0
) -> float:
    """Mean progress of k rollouts a task at temperature 1; the model is left in eval mode."""
    conversations = [
        Conversation(
            Episode(environment, task, LOOK_LIMITS),
            policy.dialect,
            budget=policy.context,
            message_budget=MESSAGE_BUDGET,
        )
        for task in tasks
        for _ in range(k)
    ]
    generator = torch.Generator().manual_seed(seed)
    CachedSampler(policy.model.train(False), policy.dialect.eos_ids, generator=generator).run(
        conversations
    )
    rewards = [rollout.reward for rollout in (c.finish(0) for c in conversations)]
    values = [reward.value for reward in rewards if reward is not None]
    return sum(values) / len(values) if values else 0.0
