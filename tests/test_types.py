"""What the records promise."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from rods.scoring import format_score
from rods.testing import FakeEnvironment, play, random_calls, reference
from rods.types import (
    AssistantMessage,
    ProgressReward,
    Rollout,
    RolloutGroup,
    Step,
    Task,
    Trajectory,
    TurnVerdict,
)

verdicts = st.lists(
    st.builds(
        TurnVerdict,
        state_ok=st.booleans(),
        response_ok=st.booleans(),
        judged=st.booleans(),
        acted=st.booleans(),
    ),
    min_size=1,
    max_size=6,
).map(tuple)


@given(verdicts)
def test_the_three_rules_agree_on_what_is_solved(turns: tuple[TurnVerdict, ...]) -> None:
    reward = ProgressReward(verdicts=turns)
    for rule in ("judged", "all", "abstain"):
        assert 0 <= reward.under(rule) <= 1
    assert (reward.under("judged") == 1) == reward.solved
    assert (reward.under("all") == 1) == reward.solved
    assert reward.under("abstain") <= reward.under("all")


def test_every_record_survives_a_json_round_trip() -> None:
    environment = FakeEnvironment()
    for task in environment.tasks("train"):
        rollouts = (
            play(environment, task, reference),
            play(environment, task, random_calls(environment.tools())),
        )
        group = RolloutGroup(entry_id=task.id, task=task, rollouts=rollouts, draw_seed=3)
        assert RolloutGroup.model_validate_json(group.model_dump_json()) == group


def test_an_unknown_key_is_an_error() -> None:
    with pytest.raises(ValidationError, match="extra_forbidden"):
        TurnVerdict.model_validate({"state_ok": True, "response_ok": True, "state": 1})


def test_equal_content_gets_an_equal_id_and_a_changed_word_another() -> None:
    task = FakeEnvironment().tasks("train")[0]
    renamed = task.model_copy(update={"id": "other", "parent_id": "x", "generation": 4})
    assert task.with_content_id().id == renamed.with_content_id().id
    turn = task.turns[0].model_copy(update={"user": "Something else."})
    changed: Task = task.model_copy(update={"turns": (turn, *task.turns[1:])})
    assert changed.with_content_id().id != task.with_content_id().id


def rollout(*passed: bool, outage: bool = False) -> Rollout:
    reward = ProgressReward(
        verdicts=tuple(TurnVerdict(state_ok=ok, response_ok=ok) for ok in passed)
    )
    return Rollout(
        trajectory=Trajectory(task_id="t", turns=(), stop="error" if outage else "completed"),
        reward=None if outage else reward,
    )


def test_an_outage_is_not_a_zero_in_the_mean_of_its_group() -> None:
    task = FakeEnvironment().tasks("train")[0]
    half = RolloutGroup(
        entry_id=task.id, task=task, rollouts=(rollout(True, False), rollout(True, True))
    )
    with_outage = half.model_copy(update={"rollouts": (*half.rollouts, rollout(True, outage=True))})
    assert with_outage.mean == half.mean == 0.75
    assert with_outage.variance == half.variance == 0.0625
    assert with_outage.unscored == 1


def test_a_group_with_fewer_than_two_rewards_is_not_scored() -> None:
    task = FakeEnvironment().tasks("train")[0]
    lonely = RolloutGroup(
        entry_id=task.id, task=task, rollouts=(rollout(True), rollout(True, outage=True))
    )
    assert not lonely.scored


def test_format_failures_are_told_apart_from_wrong_calls() -> None:
    task = FakeEnvironment().tasks("train")[0]
    mute = Trajectory(
        task_id=task.id, turns=((Step(message=AssistantMessage(malformed="no name")),),)
    )
    wrong = play(FakeEnvironment(), task, random_calls(FakeEnvironment().tools()))
    group = RolloutGroup(
        entry_id=task.id, task=task, rollouts=(Rollout(trajectory=mute, reward=None), wrong)
    )
    assert group.format_failures == 1
    assert format_score(mute) == 0
    assert format_score(wrong.trajectory) == 1
