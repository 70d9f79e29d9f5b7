"""The kits for trainers and selectors pass sound parts and name the fault of broken ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from rods.buffers import DualControlBuffer, StaticBuffer
from rods.interfaces import Buffer, CurriculumSeam, Environment, RunFolder, Selector
from rods.selectors import BoundarySelector
from rods.testing import FakeTrainer, check_buffer, check_selector, check_trainer
from rods.testing.buffer_checks import BUFFER_CHECKS
from rods.testing.part_checks import SELECTOR_CHECKS, TRAINER_CHECKS
from rods.types import Check, RolloutGroup, TrainingStage


def failed(checks: Sequence[Check]) -> dict[str, Check]:
    assert all(check.fix for check in checks if not check.ok)
    return {check.name: check for check in checks if not check.ok}


def test_sound_parts_pass_every_check() -> None:
    trainer = check_trainer(FakeTrainer)
    selector = check_selector(lambda pool: BoundarySelector(None, pool))
    assert (len(trainer), len(selector)) == (len(TRAINER_CHECKS), len(SELECTOR_CHECKS))
    assert failed([*trainer, *selector]) == {}


# ------------------------------------------------------------------------------- trainers
class Deaf(FakeTrainer):
    """Starts anew when it is to resume."""

    def train(self, curriculum: CurriculumSeam, environment: Environment, run: RunFolder) -> None:
        run.resume = False
        super().train(curriculum, environment, run)


class Forgetful(FakeTrainer):
    """Saves another policy than it has."""

    def load(self, folder: Path) -> None:
        super().load(folder)
        self.skill = 1.0


class Alone(FakeTrainer):
    """One rollout a task."""

    def __init__(self, config: Any = None) -> None:
        super().__init__(self.Config(group_size=1))


class Backwards(FakeTrainer):
    """Evaluates in its own order."""

    def evaluate(self, tasks: Any, environment: Environment, **options: Any) -> list[RolloutGroup]:
        return super().evaluate(tasks, environment, **options)[::-1]


@pytest.mark.parametrize(
    ("trainer", "check"),
    [
        (Deaf, "a killed run goes on"),
        (Forgetful, "a saved policy can be loaded"),
        (Alone, "groups can teach"),
        (Backwards, "evaluation keeps the order"),
    ],
)
def test_a_trainer_fails_the_check_of_its_fault(trainer: type[FakeTrainer], check: str) -> None:
    assert set(failed(check_trainer(trainer))) == {check}


class Slipping(FakeTrainer):
    """Asks for what it does not have."""

    def evaluate(self, tasks: Any, environment: Environment, **options: Any) -> list[RolloutGroup]:
        return self.skil  # type: ignore[attr-defined,no-any-return]


def test_an_exception_of_a_trainer_is_told_once_with_its_line() -> None:
    checks = check_trainer(Slipping)
    (row,) = failed(checks).values()
    assert row.name == "a saved policy can be loaded"
    assert "AttributeError" in row.detail
    assert "test_part_checks.py, line " in row.detail
    assert row.fix == "mend that line"
    assert {check.blocked_by for check in checks} == {"", row.name}


# ------------------------------------------------------------------------------- selectors
Rule = Callable[[int, Sequence[RolloutGroup]], list[str]]


def selector(rule: Rule) -> type[Selector]:
    class Ruled(Selector):
        name = "ruled"

        def select(self, step: int, epoch: int, groups: Sequence[RolloutGroup]) -> list[str]:
            return rule(step, groups)

    return Ruled


def scored(groups: Sequence[RolloutGroup]) -> list[str]:
    return [group.entry_id for group in groups if group.scored]


turns = iter(range(1000))
RULES: dict[str, Rule] = {
    "seeds are entries of the pool": lambda step, groups: scored(groups) * 2,
    "equal steps choose equally": lambda step, groups: scored(groups)[next(turns) % 2 :],
    "nothing scored chooses nothing": lambda step, groups: [g.entry_id for g in groups],
}


@pytest.mark.parametrize("check", RULES)
def test_a_selector_fails_the_check_of_its_fault(check: str) -> None:
    broken = selector(RULES[check])
    assert set(failed(check_selector(lambda pool: broken(None, pool)))) == {check}


def test_an_exception_of_a_selector_is_told_once_with_its_line() -> None:
    slipping = selector(lambda step, groups: groups.ids)  # type: ignore[attr-defined]
    checks = check_selector(lambda pool: slipping(None, pool))
    (row,) = failed(checks).values()
    assert "AttributeError: 'list' object has no attribute 'ids'" in row.detail
    assert "test_part_checks.py, line " in row.detail
    assert row.fix == "mend that line"
    assert sum(bool(check.blocked_by) for check in checks) == 2


def test_an_exception_of_what_makes_a_selector_is_told_with_its_line() -> None:
    def make(pool: object) -> Selector:
        return pool.selector  # type: ignore[attr-defined,no-any-return]

    (row,) = failed(check_selector(make)).values()
    assert ", in make)" in row.detail


# ------------------------------------------------------------------------------- buffers
@pytest.mark.parametrize("kind", [DualControlBuffer, StaticBuffer])
def test_a_sound_buffer_passes_every_check(kind: type[Buffer]) -> None:
    checks = check_buffer(lambda pool: kind(None, pool))
    assert len(checks) == len(BUFFER_CHECKS)
    assert failed(checks) == {}


class Short(StaticBuffer):
    """Plans each entry once."""

    def plan(self, epoch: int, stage: TrainingStage, size: int) -> Sequence[str]:
        return list(dict.fromkeys(super().plan(epoch, stage, size)))


class KindBlind(StaticBuffer):
    """Does not ask what the stage trains on."""

    def plan(self, epoch: int, stage: TrainingStage, size: int) -> Sequence[str]:
        return super().plan(epoch, TrainingStage(), size)


class Restless(StaticBuffer):
    """Plans otherwise each time."""

    def plan(self, epoch: int, stage: TrainingStage, size: int) -> Sequence[str]:
        return super().plan(next(turns), stage, size)


class Boasting(DualControlBuffer):
    """Says that it let in more than it did."""

    def inject(self, epoch: int) -> int:
        return super().inject(epoch) + 1


@pytest.mark.parametrize(
    ("buffer", "check"),
    [
        (Short, "an epoch is planned"),
        (KindBlind, "an epoch is planned"),
        (Restless, "equal epochs plan equally"),
        (Boasting, "what leaves and enters is counted"),
    ],
)
def test_a_buffer_fails_the_check_of_its_fault(buffer: type[Buffer], check: str) -> None:
    assert set(failed(check_buffer(lambda pool: buffer(None, pool)))) == {check}


def test_an_exception_of_a_buffer_is_told_once_with_its_line() -> None:
    class Slipping(StaticBuffer):
        def plan(self, epoch: int, stage: TrainingStage, size: int) -> Sequence[str]:
            return self.entries  # type: ignore[attr-defined,no-any-return]

    checks = check_buffer(lambda pool: Slipping(None, pool))
    (row,) = failed(checks).values()
    assert "has no attribute 'entries' (" in row.detail
    assert ", in plan)" in row.detail
    assert [check.blocked_by for check in checks] == ["", row.name, ""]
