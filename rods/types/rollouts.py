"""What a policy says, what it earns, and the group of rollouts that is learned from."""

from __future__ import annotations

from itertools import zip_longest
from typing import Literal

from pydantic import Field

from rods.types.base import EmptyTurnRule, Record, StopReason
from rods.types.tasks import Task, ToolCall, ToolResult, ToolSpec


class AssistantMessage(Record):
    """What the policy said, parsed.

    Without calls it ends the turn. ``ends_turn`` ends it after its calls have run, for compact
    policies that need no closing message. ``malformed`` says why a call could not be parsed: no
    call of the message runs, the policy gets an error back and the turn goes on.
    """

    content: str = ""
    calls: tuple[ToolCall, ...] = ()
    malformed: str | None = None
    ends_turn: bool = False


class Message(Record):
    """A message shown to the policy. ``reveals`` are the tools handed over with it."""

    role: Literal["system", "user", "tool", "assistant"]  # the last: what it is made to have said
    content: str
    name: str | None = None  # of the tool that answers
    reveals: tuple[ToolSpec, ...] = ()


class Step(Record):
    """One message of the policy (or of a simulated user) and the results of its calls, in order."""

    message: AssistantMessage
    results: tuple[ToolResult, ...] = ()

    @property
    def executed(self) -> tuple[ToolCall, ...]:
        """The calls that reached the world: what a replay runs again."""
        pairs = zip_longest(self.message.calls, self.results)
        return tuple(c for c, r in pairs if c is not None and not (r is not None and r.refused))


class Trajectory(Record):
    """One rollout of one task: turns of steps. Fewer turns than the task's: it ended early.

    ``user``: what a simulated user said and did before each turn, and after the last; empty where
    the task's turns were said as they are written.
    """

    task_id: str
    turns: tuple[tuple[Step, ...], ...]
    user: tuple[tuple[Step, ...], ...] = ()
    stop: StopReason = "completed"
    error: str | None = None

    @property
    def calls(self) -> int:
        """Number of executed calls."""
        return sum(len(step.executed) for turn in self.turns for step in turn)

    @property
    def malformed(self) -> int:
        """Number of messages whose call could not be parsed."""
        return sum(step.message.malformed is not None for turn in self.turns for step in turn)


class TurnVerdict(Record):
    """How one turn went. ``judged`` is false where the reference is empty.

    ``share`` in [0, 1] is how much of the turn's goal was reached, in worlds that can tell; it
    takes the place of 0 or 1 in the reward, and is 1 exactly where the turn passes.
    """

    state_ok: bool
    response_ok: bool
    judged: bool = True
    acted: bool = True  # at least one call was tried in this turn: a refused one is no abstention
    share: float | None = Field(None, ge=0.0, le=1.0)

    @property
    def ok(self) -> bool:
        """A judged turn passes when state and responses match and something was done."""
        return self.state_ok and self.response_ok and self.acted

    @property
    def credit(self) -> float:
        """What the turn is worth: its share where the world tells one, else 0 or 1."""
        return float(self.ok) if self.share is None else self.share


class ProgressReward(Record):
    """R_P = (1/N) sum_t state_ok_t * exec_ok_t over the N turns of the task (arXiv:2606.19047).

    ``verdicts`` has one entry a turn **of the task**, so a truncated rollout cannot score 1. The
    three rules differ in turns with an empty reference: ``judged`` leaves them out of N, ``all``
    counts them 1, ``abstain`` counts them 1 only if no call was made (it teaches to ask back).
    """

    verdicts: tuple[TurnVerdict, ...]
    empty_turns: EmptyTurnRule = "abstain"

    def under(self, rule: EmptyTurnRule) -> float:
        """The reward in [0, 1] under one of the three rules; 1 for a task without judged turns."""
        scores = [
            v.credit if v.judged else float(rule == "all" or not v.acted)
            for v in self.verdicts
            if v.judged or rule != "judged"
        ]
        return sum(scores) / len(scores) if scores else 1.0

    @property
    def value(self) -> float:
        """The reward in [0, 1] under the rule of this record."""
        return self.under(self.empty_turns)

    @property
    def solved(self) -> bool:
        """Every judged turn passed."""
        return all(v.ok for v in self.verdicts if v.judged)


class Rollout(Record):
    """A trajectory and what it earned. ``reward`` is None when an outage ended it: never a zero."""

    trajectory: Trajectory
    reward: ProgressReward | None
    policy_version: int = 0

    @property
    def format_failure(self) -> bool:
        """No call was executed, and at least one could not be parsed."""
        return self.trajectory.malformed > 0 and self.trajectory.calls == 0


class RolloutGroup(Record):
    """K rollouts of one draw of one pool entry.

    ``task`` is what was played; ``entry_id`` is the pool entry it was drawn from (the same id
    unless the entry is redrawn with new entities, and then ``draw_seed`` repeats the draw).
    """

    entry_id: str
    task: Task
    rollouts: tuple[Rollout, ...]
    draw_seed: int | None = None

    @property
    def rewards(self) -> tuple[float, ...]:
        """The rewards of the scored rollouts, shape (<= K,)."""
        return tuple(r.reward.value for r in self.rollouts if r.reward is not None)

    @property
    def scored(self) -> bool:
        """At least two rollouts have a reward; a group that is not scored moves nothing."""
        return len(self.rewards) >= 2

    @property
    def mean(self) -> float:
        """Mean reward over the scored rollouts, in [0, 1]; to 12 places, so that 0.85 is 0.85."""
        rewards = self.rewards
        return round(sum(rewards) / len(rewards), 12) if rewards else 0.0

    @property
    def variance(self) -> float:
        """Population variance over the scored rollouts; exactly 0 where all rewards are equal."""
        rewards, mean = self.rewards, self.mean
        if len(set(rewards)) < 2:  # the mean of equal floats may differ from them
            return 0.0
        return sum((r - mean) ** 2 for r in rewards) / len(rewards)

    @property
    def unscored(self) -> int:
        """Rollouts that an outage ended."""
        return sum(r.reward is None for r in self.rollouts)

    @property
    def format_failures(self) -> int:
        """Rollouts with no executed call and at least one that could not be parsed."""
        return sum(r.format_failure for r in self.rollouts)
