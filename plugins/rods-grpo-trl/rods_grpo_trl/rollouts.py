"""The rollouts of one step: the function that TRL calls for them, and its answer."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from typing import Any

from rods.episode import Episode, EpisodeLimits
from rods.interfaces import Environment
from rods.types import Rollout, Task
from rods_grpo_trl.conversation import Conversation
from rods_grpo_trl.dialect import Dialect
from rods_grpo_trl.generation import Generator
from rods_grpo_trl.harvest import Ledger, reward_of
from rods_grpo_trl.schedule import position_of

log = logging.getLogger(__name__)


class Rollouts:
    """Plays tasks with one world, one dialect and one set of budgets."""

    def __init__(
        self,
        environment: Environment,
        dialect: Dialect,
        *,
        budget: int,
        message_budget: int,
        limits: EpisodeLimits,
    ) -> None:
        self.environment, self.dialect, self.limits = environment, dialect, limits
        self.budget, self.message_budget = budget, message_budget

    def play(
        self, tasks: Sequence[Task], generator: Generator, policy_version: int
    ) -> list[tuple[Conversation, Rollout]]:
        """One rollout a task; the worlds are closed and the trajectories scored."""
        conversations = [self.open(task) for task in tasks]
        generator.run(conversations)
        return [(c, c.finish(policy_version)) for c in conversations]

    def open(self, task: Task) -> Conversation:
        """The conversation about ``task``, up to where the policy speaks first."""
        return Conversation(
            Episode(self.environment, task, self.limits),
            self.dialect,
            budget=self.budget,
            message_budget=self.message_budget,
        )


class RolloutFunction:
    """TRL's ``rollout_func``: prompts are positions in the epoch, each repeated K times."""

    def __init__(
        self,
        rollouts: Rollouts,
        ledger: Ledger,
        generator: Callable[[int], Generator],
        *,
        pad_id: int,
        logprobs: bool,
    ) -> None:
        self.rollouts, self.ledger, self.generator = rollouts, ledger, generator
        self.pad_id, self.logprobs = pad_id, logprobs
        self.seconds, self.tokens = 0.0, 0  # of the last call, on this rank

    def __call__(self, prompts: list[str], trainer: Any) -> dict[str, Any]:
        """Play this rank's prompts with the present policy; one row a prompt."""
        started = time.perf_counter()
        schedule, version = self.ledger.schedule, int(trainer.state.global_step)
        positions = [position_of(prompt) for prompt in prompts]
        tasks = [schedule.tasks[position] for position in positions]
        played = self.rollouts.play(tasks, self.generator(version), version)
        _warn_of_outages([rollout for _, rollout in played])
        self.ledger.enter([(p, r) for p, (_, r) in zip(positions, played, strict=True)])
        self.tokens = sum(sum(conversation.mask) for conversation, _ in played)
        assert schedule.plan is not None
        rows = [self._row(c, reward_of(r, schedule.plan.stage)) for c, r in played]
        self.seconds = time.perf_counter() - started
        return {**{key: [row[key] for row in rows] for key in rows[0]}, **self._no_logprobs()}

    def _row(self, conversation: Conversation, reward: float | None) -> dict[str, Any]:
        """The row that trains; one without reward or tokens has an empty mask and moves nothing."""
        if not conversation.completion_ids:  # TRL needs a token; the prompt would only cost memory
            return {
                "prompt_ids": conversation.prompt_ids[:1],
                "completion_ids": [self.pad_id],
                "env_mask": [0],
                "logprobs": [0.0],
                "reward": reward,
            }
        scored = reward is not None
        return {
            "prompt_ids": conversation.prompt_ids,
            "completion_ids": conversation.completion_ids,
            "env_mask": conversation.mask if scored else [0] * len(conversation.mask),
            "logprobs": conversation.logprobs,
            "reward": reward,
        }

    def _no_logprobs(self) -> dict[str, None]:
        return {} if self.logprobs else {"logprobs": None}


def _warn_of_outages(rollouts: Sequence[Rollout]) -> None:
    errors = [r.trajectory.error for r in rollouts if r.reward is None]
    if errors:
        log.warning(
            "%d of %d rollouts have no reward, so they train nothing; the first ended with: %s",
            len(errors),
            len(rollouts),
            errors[0],
        )
