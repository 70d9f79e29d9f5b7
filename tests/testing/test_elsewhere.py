"""The kit plays a world in a second process too, and finds what only that shows."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path

import pytest

from rods.interfaces import Environment
from rods.testing import FakeEnvironment
from rods.testing.conformance import CHECKS, iter_checks
from rods.types import Check, Split, Task, ToolCall, Turn

COUNT = ToolCall(name="count", arguments={"item": "nuts"})


class HashOrdered(FakeEnvironment):
    """Tasks that hang on the order of a set: equal in one process, other in the next."""

    name = "hashed"

    def tasks(self, split: Split) -> Sequence[Task]:
        words = {f"word {i}" for i in range(50)}  # all of them: one alone may come first in both
        user = f"Count the nuts, {', '.join(words)}."
        return [
            t.model_copy(update={"turns": (Turn(user=user, reference=(COUNT,)),)})
            for t in super().tasks(split)
        ]


def elsewhere(world: Environment) -> Check:
    checks = list(iter_checks(world, limit=4, sessions=2, elsewhere=True))
    assert len(checks) == len(CHECKS) + 1
    return checks[-1]


def test_a_world_is_played_in_another_process() -> None:
    world = FakeEnvironment(FakeEnvironment.Config(tasks=4))
    assert (elsewhere(world).ok, elsewhere(world).detail) == (True, "8 tasks")


def test_what_hangs_on_the_order_of_sets_is_found_in_another_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = Path(__file__).read_text()
    (tmp_path / "kept_elsewhere.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    world = importlib.import_module("kept_elsewhere").HashOrdered()
    check = elsewhere(world)
    assert not check.ok
    assert "the task itself differs" in check.detail
    assert "sort sets" in check.fix


def test_a_class_within_a_function_is_left_out() -> None:
    class Local(FakeEnvironment):
        """Cannot be imported."""

    check = elsewhere(Local())
    assert (check.ok, check.skipped) == (True, True)
    assert check.detail.endswith("cannot be imported elsewhere")
