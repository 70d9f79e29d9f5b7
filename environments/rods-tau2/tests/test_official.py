"""The verdict is upstream's: its own evaluators, on gold, silent, shortened and wrong rollouts."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from rods_tau2.domains import DOMAIN_NAMES, Domain, DomainName
from rods_tau2.environment import Tau2Environment

from rods.types import AssistantMessage, Step, Task, ToolCall, Trajectory


def _trajectory(task: Task, calls: Sequence[ToolCall], texts: Sequence[str]) -> Trajectory:
    steps = [Step(message=AssistantMessage(calls=(call,))) for call in calls]
    steps += [Step(message=AssistantMessage(content=text)) for text in texts]
    return Trajectory(task_id=task.id, turns=(tuple(steps),))


def _rollouts(task: Task) -> Iterator[tuple[Sequence[ToolCall], Sequence[str]]]:
    """What an agent may do instead of the reference."""
    calls, answer = task.turns[0].reference, task.turns[0].answer
    rng = random.Random(task.id)
    yield (), ()
    yield calls, (answer,)
    yield calls, ("Done.",)
    yield (), (answer,)
    if calls:
        yield calls[:-1], (answer,)
        left = rng.randrange(len(calls))
        yield calls[:left] + calls[left + 1 :], (answer.upper(),)
        yield (*calls, calls[-1]), (f"It is ${answer}",)
        wrong = calls[-1].model_copy(update={"arguments": {"unknown": 1}})
        yield (*calls[:-1], wrong), (answer,)
        yield rng.sample(calls, len(calls)), (answer,)


@pytest.mark.slow
@pytest.mark.parametrize("name", DOMAIN_NAMES)
def test_solved_is_the_official_reward(
    name: DomainName,
    domains: dict[DomainName, Domain],
    environment: Tau2Environment,
    tasks: dict[str, Task],
    official: Callable[[Domain, Any], Any],
) -> None:
    domain = domains[name]
    differing, judged, valid = [], 0, 0
    for entry in domain.entries():
        task = tasks[f"{name}/{entry['id']}"]
        judge = official(domain, entry)
        for calls, texts in _rollouts(task):
            reward = judge.reward(calls, texts)
            ours = environment.score(task, _trajectory(task, calls, texts))
            judged, valid = judged + 1, valid + (reward == 1)
            if ours.solved != (reward == 1) or (ours.value == 1) != (reward == 1):
                differing.append((task.id, len(calls), texts, reward, ours))
    assert differing == []
    assert 0 < valid < judged
