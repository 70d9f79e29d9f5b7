"""Upstream's tasks as records: counts, flags, references that reach the gold state."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from rods_tau2.domains import Domain, DomainName
from rods_tau2.environment import Tau2Environment
from rods_tau2.world import World

from rods.testing.agents import play, reference, silent
from rods.types import Task


def _domain(task: Task) -> str:
    return task.id.partition("/")[0]


def test_every_task_of_upstream_is_there(tasks: dict[str, Task]) -> None:
    assert Counter(map(_domain, tasks.values())) == {
        "airline": 50,
        "retail": 114,
        "telecom": 114,
        "mock": 9,
    }


def test_the_split_is_upstreams(environment: Tau2Environment) -> None:
    held_out = Counter(map(_domain, environment.tasks("eval")))
    assert (held_out["airline"], held_out["retail"], held_out["telecom"]) == (20, 40, 40)


def test_a_silent_agent_solves_exactly_the_flagged_tasks(
    environment: Tau2Environment, tasks: dict[str, Task]
) -> None:
    idle = {task.id for task in tasks.values() if "idle" in task.flags}
    solved = set()
    for task in tasks.values():
        reward = play(environment, task, silent).reward
        assert reward is not None
        if reward.solved:
            solved.add(task.id)
        else:
            assert reward.value == 0
    assert solved == idle
    # With the tasks that have no gold action at all: two of them in retail.
    counted = Counter(task_id.partition("/")[0] for task_id in idle)
    assert (counted["airline"], counted["retail"], counted["telecom"]) == (19, 7, 0)


def test_flagged_tasks_are_kept_out_of_training() -> None:
    default = Tau2Environment(Tau2Environment.Config(domains=("airline", "mock")))
    assert not [task.id for task in default.tasks("train") if task.flags]
    assert any("idle" in task.flags for task in default.tasks("eval"))


@pytest.mark.slow
def test_every_reference_earns_the_full_reward(
    environment: Tau2Environment, tasks: dict[str, Task]
) -> None:
    failed = []
    for task in tasks.values():
        reward = play(environment, task, reference).reward
        assert reward is not None
        if not (reward.solved and reward.value == 1):
            failed.append((task.id, task.flags))
    assert failed == [("mock/update_task_with_history_and_env_assertions", ("defect",))]


@pytest.mark.slow
def test_gold_actions_that_fail_change_nothing(
    domains: dict[DomainName, Domain], tasks: dict[str, Task]
) -> None:
    failing: Counter[str] = Counter()
    for name, domain in domains.items():
        for entry in domain.entries():
            task, criteria = tasks[f"{name}/{entry['id']}"], entry["evaluation_criteria"]
            assert isinstance(criteria, dict)
            actions: list[dict[str, Any]] = criteria.get("actions") or []  # type: ignore[assignment]
            gold, ours = (World(domain, task.initial_state) for _ in range(2))
            failing[name] += sum(gold.call(a["name"], a["arguments"])[1] for a in actions)
            for call in task.turns[0].reference:
                assert not ours.call(call.name, call.arguments)[1]
            assert gold.changes() == ours.changes()
    assert failing["retail"] == 23


def test_progress_is_the_share_of_the_records(
    environment: Tau2Environment, tasks: dict[str, Task]
) -> None:
    shares = []
    for task in tasks.values():
        if not task.id.startswith("retail/") or task.flags:
            continue
        half = task.turns[0].reference[:-1]
        shorter = task.turns[0].model_copy(update={"reference": half})
        reward = play(environment, task, lambda _, t=shorter: reference(_with(task, t))).reward  # noqa: B023
        assert reward is not None
        shares.append(reward.value)
    assert any(0 < share < 1 for share in shares)


def _with(task: Task, turn: Any) -> Task:
    return task.model_copy(update={"turns": (turn,)})


def test_the_assertions_of_telecom_give_partial_progress(
    environment: Tau2Environment, tasks: dict[str, Task]
) -> None:
    for task in tasks.values():
        if task.id.startswith("telecom/"):
            reward = play(environment, task, silent).reward
            assert reward is not None
            assert reward.value == 0  # what holds from the start is no progress


def test_every_file_is_hashed(environment: Tau2Environment) -> None:
    hashes = environment.data_hashes()
    assert "tau2/data/tau2/domains/retail/tasks.json" in hashes
    assert "tau2/data/tau2/domains/airline/db.json" in hashes
