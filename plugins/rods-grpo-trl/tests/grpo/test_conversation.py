"""Tokens, mask and log-probabilities of one rollout."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rods_grpo_trl.conversation import Conversation

from rods.episode import Episode

from .fakes import WORDS, LampDialect, LampWorld, lamp_task

STOP = WORDS.index(".")


def conversation(*lamps: str, budget: int = 24, message_budget: int = 5) -> Conversation:
    episode = Episode(LampWorld(), lamp_task(*lamps or ("red", "blue")))
    return Conversation(episode, LampDialect(), budget=budget, message_budget=message_budget)


@given(
    st.lists(st.lists(st.integers(5, len(WORDS) - 1), max_size=8), max_size=6),
    st.integers(3, 40),
    st.integers(1, 6),
)
def test_the_three_lists_stay_aligned_and_within_the_budget(
    messages: list[list[int]], budget: int, message_budget: int
) -> None:
    talk = conversation(budget=budget, message_budget=message_budget)
    sampled = 0
    for words in messages:
        if talk.done:
            break
        message = [*words, STOP][: talk.room]
        sampled += len(message)
        shown = talk.accept(message, [-0.5] * len(message))
        assert talk.completion_ids[len(talk.completion_ids) - len(shown) :] == shown
        assert talk.done or talk.room >= 1
        assert talk.done != bool(shown)
    assert len(talk.completion_ids) == len(talk.mask) == len(talk.logprobs)
    assert sum(talk.mask) == sampled
    assert sum(talk.logprobs) == -0.5 * sampled
    assert len(talk.prompt_ids) + len(talk.completion_ids) <= max(budget, len(talk.prompt_ids))


def test_the_reference_earns_everything_and_the_last_message_shows_nothing() -> None:
    talk = conversation()
    assert talk.accept([WORDS.index("red"), STOP])
    assert talk.accept([WORDS.index("blue"), STOP]) == []
    rollout = talk.finish(policy_version=4)
    assert talk.done
    assert rollout.reward is not None
    assert rollout.reward.value == 1.0
    assert rollout.policy_version == 4


def test_a_message_without_an_end_ends_the_rollout() -> None:
    talk = conversation(message_budget=2)
    assert talk.accept([WORDS.index("red"), WORDS.index("red")]) == []
    rollout = talk.finish(0)
    assert rollout.trajectory.stop == "max_tokens"
    assert rollout.reward is not None
    assert rollout.reward.value == 0.0


def test_a_prompt_that_fills_the_budget_leaves_nothing_to_say() -> None:
    talk = conversation(budget=3)
    assert talk.done
    assert talk.room == 0
    assert talk.finish(0).trajectory.stop == "max_tokens"


def test_an_outage_leaves_a_rollout_without_reward() -> None:
    episode = Episode(LampWorld(outage=lambda task: True), lamp_task("red"))
    talk = Conversation(episode, LampDialect(), budget=9, message_budget=3)
    assert talk.done
    assert talk.finish(0).reward is None


def test_more_tokens_than_there_is_room_for_are_refused() -> None:
    with pytest.raises(ValueError, match="A message of 3 tokens, where 2 were left"):
        conversation(message_budget=2).accept([5, 5, STOP])


def test_log_probabilities_must_match_the_tokens() -> None:
    with pytest.raises(ValueError, match="1 log-probabilities for 2 tokens"):
        conversation().accept([5, STOP], [-1.0])
