"""What is played before the tasks of an evaluation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from rods.errors import DataError
from rods.interfaces import Environment
from rods.policy_report import evaluate_policy
from rods.preparation import Preparation
from rods.testing import FakeEnvironment
from rods.testing.agents import play, reference
from rods.types import Rollout, RolloutGroup, Task


class Player:
    """Plays the references; at ``fail`` an outage ends the rollout."""

    def __init__(self, fail: str = "") -> None:
        self.fail, self.played = fail, list[str]()

    def evaluate(
        self,
        tasks: Sequence[Task],
        environment: Environment,
        *,
        k: int,
        seed: int,
        progress: Callable[[int, int], None] | None = None,
    ) -> list[RolloutGroup]:
        self.played += [task.id for task in tasks]
        return [self._group(task, environment, k) for task in tasks]

    def _group(self, task: Task, environment: Environment, k: int) -> RolloutGroup:
        rollout = play(environment, task, reference)
        if task.id == self.fail:
            ended = rollout.trajectory.model_copy(update={"stop": "error"})
            rollout = Rollout(trajectory=ended, reward=None)
        return RolloutGroup(entry_id=task.id, task=task, rollouts=(rollout,) * k)


@pytest.fixture
def world() -> FakeEnvironment:
    return FakeEnvironment()


def prepared(player: Player, world: Environment, file: Path | None, terms: str = "a") -> list[Any]:
    tasks = world.tasks("train")[:3]
    preparation = Preparation(player, world, seed=0, file=file, terms=terms)
    return [preparation.play(tasks[:2]), preparation.play(tasks[2:])]


def test_what_was_played_under_these_terms_is_not_played_again(
    world: FakeEnvironment, tmp_path: Path
) -> None:
    file = tmp_path / "before.jsonl"
    first, second, third = Player(), Player(), Player()
    rounds = prepared(first, world, file)
    assert prepared(second, world, file) == rounds
    prepared(third, world, file, terms="b")
    assert (len(first.played), second.played, len(third.played)) == (3, [], 3)


def test_an_outage_and_a_torn_line_are_played_again(world: FakeEnvironment, tmp_path: Path) -> None:
    file = tmp_path / "before.jsonl"
    failed = world.tasks("train")[1].id
    prepared(Player(fail=failed), world, file)
    again = Player()
    prepared(again, world, file)
    assert again.played == [failed]
    file.write_text(file.read_text()[:-20])
    torn = Player()
    prepared(torn, world, file)
    assert len(torn.played) == 1
    whole = Player()
    prepared(whole, world, file)
    assert whole.played == []  # what was played after the torn line is found too


def test_a_damaged_line_is_named_not_played_over(world: FakeEnvironment, tmp_path: Path) -> None:
    file = tmp_path / "before.jsonl"
    prepared(Player(), world, file)
    head, *lines = file.read_text().splitlines()
    for damaged in ("{", '{"task_id": 1}'):
        file.write_text("\n".join((head, damaged, *lines, "")))
        with pytest.raises(DataError, match="is damaged"):
            prepared(Player(), world, file)


def test_without_a_file_nothing_is_kept(world: FakeEnvironment, tmp_path: Path) -> None:
    prepared(Player(), world, None)
    assert list(tmp_path.iterdir()) == []


def test_tasks_are_played_as_the_world_prepared_them() -> None:
    class Prepared(FakeEnvironment):
        """Changes a task by what the policy did in another."""

        def prepared(self, tasks: Sequence[Task], play: Any) -> Sequence[Task]:
            (rollout,) = play(self.tasks("train")[:1])
            flag = f"after {rollout.trajectory.calls} calls"
            return [task.model_copy(update={"flags": (flag,)}) for task in tasks]

    player = Player()
    report = evaluate_policy(player, Prepared(), split="eval", tasks=2, samples=1, seed=0)
    (flag,) = report["sets"]
    assert flag.startswith("after ")
    assert len(player.played) == 3
    assert report["n"] == 2
