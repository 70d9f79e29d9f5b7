"""Rewards for TRL and groups for the curriculum."""

from __future__ import annotations

import random

import pytest
from rods_grpo_trl.harvest import Ledger, reward_of
from rods_grpo_trl.schedule import Schedule

from rods.types import (
    AssistantMessage,
    EpochPlan,
    ProgressReward,
    Rollout,
    Step,
    TrainingStage,
    Trajectory,
    TurnVerdict,
    Visit,
)

from .fakes import LAMPS, lamp_task

HALF = ProgressReward(
    verdicts=(
        TurnVerdict(state_ok=True, response_ok=True),
        TurnVerdict(state_ok=False, response_ok=True),
    )
)


def rollout(reward: ProgressReward | None = HALF, task_id: str = "red") -> Rollout:
    broken = Step(message=AssistantMessage(malformed="no such call"))
    said = Step(message=AssistantMessage(content="done"))
    return Rollout(
        trajectory=Trajectory(task_id=task_id, turns=((broken,), (said,))), reward=reward
    )


@pytest.mark.parametrize(("stage", "reward"), [("progress", 0.5), ("solved", 0.0), ("format", 0.5)])
def test_the_stage_says_what_is_rewarded(stage: str, reward: float) -> None:
    assert reward_of(rollout(), TrainingStage.model_validate({"reward": stage})) == reward


@pytest.mark.parametrize("stage", ["progress", "solved", "format"])
def test_an_outage_is_never_a_zero(stage: str) -> None:
    assert reward_of(rollout(None), TrainingStage.model_validate({"reward": stage})) is None


def ledger(k: int) -> Ledger:
    schedule = Schedule(3)
    visits = tuple(Visit(entry_id=f"entry-{name}", draw_seed=7) for name in LAMPS)
    plan = EpochPlan(epoch=0, stage=TrainingStage(), visits=visits)
    schedule.enter(plan, tuple(lamp_task(name) for name in LAMPS))
    return Ledger(schedule, k)


def test_groups_come_in_the_order_of_their_visits_whoever_played_them() -> None:
    book = ledger(2)
    played = [(at, rollout(task_id=LAMPS[at])) for at in (0, 0, 1, 1, 2, 2)]
    random.Random(1).shuffle(played)
    book.enter(played)
    groups = book.take()
    assert [group.entry_id for group in groups] == [f"entry-{name}" for name in LAMPS]
    assert all(group.task.id == r.trajectory.task_id for group in groups for r in group.rollouts)
    assert {group.draw_seed for group in groups} == {7}


def test_groups_are_taken_once() -> None:
    book = ledger(1)
    book.enter([(1, rollout())])
    assert len(book.take()) == 1
    assert book.take() == []


def test_a_group_that_is_not_whole_is_an_error() -> None:
    with pytest.raises(RuntimeError, match="'entry-red' got 1 rollouts, where 2 were expected"):
        ledger(2).enter([(0, rollout())])
