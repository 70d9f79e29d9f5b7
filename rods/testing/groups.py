"""Tasks and rollout groups by their rewards, for tests of selectors, buffers and curricula."""

from __future__ import annotations

from collections.abc import Sequence

from rods.types import (
    AssistantMessage,
    Kind,
    ProgressReward,
    Provenance,
    Rollout,
    RolloutGroup,
    Step,
    Task,
    Trajectory,
    Turn,
    TurnVerdict,
)

_TURNS = 20  # rewards are multiples of 1/20


def seed_task(number: int, kind: Kind = "base") -> Task:
    """A seed named ``seed-NUMBER``, of an environment that does not exist."""
    return Task(
        id=f"seed-{number}",
        environment="nowhere",
        kind=kind,
        tools=("look",),
        turns=(Turn(user=f"Look at {number}."),),
        initial_state={"number": number},
    )


def variant(seed: Task, number: int) -> Task:
    """A synthetic task made of ``seed``; equal arguments give equal ids."""
    made = Provenance(synthesizer="fake", seed=number, calls=1, tokens=10, seconds=0.5)
    task = seed.model_copy(
        update={
            "turns": (Turn(user=f"Look at variant {number} of {seed.id}."),),
            "origin": "synthetic",
            "parent_id": seed.id,
            "generation": seed.generation + 1,
            "provenance": made,
        }
    )
    return task.with_content_id()


def group(
    task: Task,
    rewards: Sequence[float | None],
    *,
    malformed: int = 0,
    draw_seed: int | None = None,
    policy_version: int = 0,
) -> RolloutGroup:
    """One rollout a reward (a multiple of 1/20; None: an outage); the first are ``malformed``."""
    rollouts = tuple(
        _rollout(task, reward, index < malformed, policy_version)
        for index, reward in enumerate(rewards)
    )
    return RolloutGroup(entry_id=task.id, task=task, rollouts=rollouts, draw_seed=draw_seed)


def _rollout(task: Task, reward: float | None, malformed: bool, policy_version: int) -> Rollout:
    message = AssistantMessage(malformed="not JSON" if malformed else None)
    turns = ((Step(message=message),),)
    if reward is None:
        trajectory = Trajectory(task_id=task.id, turns=turns, stop="error", error="an outage")
        return Rollout(trajectory=trajectory, reward=None, policy_version=policy_version)
    passed = round(reward * _TURNS)
    verdicts = tuple(TurnVerdict(state_ok=t < passed, response_ok=True) for t in range(_TURNS))
    return Rollout(
        trajectory=Trajectory(task_id=task.id, turns=turns),
        reward=ProgressReward(verdicts=verdicts),
        policy_version=policy_version,
    )
