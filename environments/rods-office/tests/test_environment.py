"""The office behind the interface: conformance, repeatability, isolation, speed, loading."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from itertools import islice

import pytest
import rods_office
from rods_office.config import OfficeConfig
from rods_office.environment import OfficeEnvironment
from rods_office.levels import LEVELS, LevelName

from rods.testing import check_environment, play, reference
from rods.types import ToolResult

LEVEL_NAMES = sorted(LEVELS)


@pytest.mark.parametrize("level", LEVEL_NAMES)
def test_the_office_conforms(level: LevelName) -> None:
    environment = OfficeEnvironment(
        OfficeConfig(level=level, n_unseen_entities=16, n_unseen_compositions=16)
    )
    failed = [check for check in check_environment(environment, limit=24) if not check.ok]
    assert not failed


def test_the_plugin_registers_the_office() -> None:
    assert rods_office.rods_register_environments() == [OfficeEnvironment]


_PRINT_A_DIGEST = """
import hashlib
from itertools import islice
from rods_office.config import OfficeConfig
from rods_office.environment import OfficeEnvironment
few = {"n_unseen_entities": 8, "n_unseen_compositions": 8, "n_unseen_tools": 4}
e = OfficeEnvironment(OfficeConfig(level="hard", seed=3, **few))
tasks = [*e.tasks("train"), *e.tasks("eval"), *islice(e.practice(2), 20)]
print(hashlib.sha256("".join(t.model_dump_json() for t in tasks).encode()).hexdigest())
"""


def test_tasks_are_the_same_in_every_process() -> None:
    digests = {
        subprocess.run(
            [sys.executable, "-c", _PRINT_A_DIGEST],
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for hash_seed in ("1", "2")
    }
    assert len(digests) == 1


def test_another_seed_gives_other_tasks_and_practice_does_not_depend_on_it() -> None:
    first, second = (OfficeEnvironment(OfficeConfig(seed=seed)) for seed in (0, 1))
    spoken = {tuple(turn.user for turn in task.turns) for task in first.tasks("train")}
    assert not any(tuple(t.user for t in task.turns) in spoken for task in second.tasks("train"))
    assert list(islice(first.practice(5), 20)) == list(islice(second.practice(5), 20))
    assert list(islice(first.practice(5), 20)) != list(islice(first.practice(6), 20))


def test_more_evaluation_tasks_leave_the_first_ones_as_they_are() -> None:
    few, many = (
        OfficeEnvironment(OfficeConfig(n_unseen_entities=n, n_unseen_compositions=n))
        for n in (8, 40)
    )
    assert many.tasks("eval")[:8] == few.tasks("eval")[:8]
    assert many.tasks("eval")[40:48] == few.tasks("eval")[8:]


def test_64_interleaved_sessions_give_what_each_gives_alone() -> None:
    environment = OfficeEnvironment(OfficeConfig(level="hard", n_train=64))
    tasks = environment.tasks("train")
    calls = [[call for turn in task.turns for call in turn.reference] for task in tasks]
    alone = []
    for task, own in zip(tasks, calls, strict=True):
        session = environment.open(task)
        alone.append(([session.call(call) for call in own], session.state()))
    sessions = [environment.open(task) for task in tasks]
    results: list[list[ToolResult]] = [[] for _ in tasks]
    for position in range(max(map(len, calls))):
        for index in reversed(range(len(tasks))):
            if position < len(calls[index]):
                results[index].append(sessions[index].call(calls[index][position]))
    together = [(r, s.state()) for r, s in zip(results, sessions, strict=True)]
    assert together == alone


def test_instructions_are_given_on_demand() -> None:
    task = OfficeEnvironment().tasks("train")[0]
    assert OfficeEnvironment().instructions(task) == ""
    told = OfficeEnvironment(OfficeConfig(instructions=True)).instructions(task)
    assert "office" in told


def test_practice_is_mostly_basic_and_its_share_can_be_chosen() -> None:
    def calls(share: float) -> float:
        environment = OfficeEnvironment(OfficeConfig(practice_basic=share))
        tasks = list(islice(environment.practice(0), 300))
        return sum(t.reference_calls for t in tasks) / sum(len(t.turns) for t in tasks)

    assert calls(1.0) < 2 < calls(0.0)
    assert calls(1.0) < calls(0.8) < calls(0.5)


def test_opening_and_replaying_a_task_takes_well_under_a_millisecond() -> None:
    environment = OfficeEnvironment()
    task = max(environment.tasks("train"), key=lambda t: t.reference_calls)
    calls = [call for turn in task.turns for call in turn.reference]

    def once() -> float:
        start = time.process_time()
        for _ in range(50):
            session = environment.open(task)
            for call in calls:
                session.call(call)
        return (time.process_time() - start) / 50

    assert min(once() for _ in range(5)) < 0.5e-3


def test_a_rollout_is_scored_the_same_after_json() -> None:
    environment = OfficeEnvironment()
    for task in environment.tasks("train"):
        rollout = play(environment, task, reference)
        again = rollout.trajectory.model_validate_json(rollout.trajectory.model_dump_json())
        assert environment.score(task, again) == rollout.reward
