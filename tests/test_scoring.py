"""What a replay opens is closed, whatever becomes of it."""

from __future__ import annotations

import pytest

from rods.errors import WorldError
from rods.scoring import replay_score
from rods.testing import FakeEnvironment
from rods.testing.world import FakeSession
from rods.types import Task, Trajectory

TASK = FakeEnvironment().tasks("train")[0]


class Worlds:
    """Opens sessions up to some number, and then is out of order; counts those that are open."""

    def __init__(self, most: int, *, closes: bool = True) -> None:
        self.left, self.open, self.closes = most, 0, closes

    def __call__(self, task: Task) -> FakeSession:
        if not self.left:
            raise WorldError("The stockroom's server does not answer.")
        self.left, self.open = self.left - 1, self.open + 1
        worlds = self

        class Counted(FakeSession):
            def close(self) -> None:
                worlds.open -= 1
                if not worlds.closes:
                    raise WorldError("The stockroom's server hangs up.")

        return Counted(task.initial_state)


@pytest.mark.parametrize("most", [1, 2])
def test_no_session_stays_open_when_a_world_is_out_of_order(most: int) -> None:
    worlds, nothing = Worlds(most), Trajectory(task_id=TASK.id, turns=())
    if most == 1:
        with pytest.raises(WorldError):
            replay_score(worlds, TASK, nothing)
    else:
        assert replay_score(worlds, TASK, nothing).value < 1
    assert worlds.open == 0


def test_a_session_that_cannot_be_closed_leaves_no_other_open() -> None:
    worlds = Worlds(2, closes=False)
    with pytest.raises(WorldError, match="hangs up"):
        replay_score(worlds, TASK, Trajectory(task_id=TASK.id, turns=()))
    assert worlds.open == 0
