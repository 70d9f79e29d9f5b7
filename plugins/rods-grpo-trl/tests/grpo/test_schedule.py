"""What the data loader hands out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rods_grpo_trl.schedule import Schedule, VisitDataset, VisitSampler, position_of
from trl.trainer.utils import RepeatSampler

from rods.types import EpochPlan, TrainingStage, Visit

from .fakes import LAMPS, lamp_task


def schedule(size: int = 3) -> Schedule:
    made = Schedule(size)
    tasks = tuple(lamp_task(name) for name in LAMPS[:size])
    visits = tuple(Visit(entry_id=task.id) for task in tasks)
    made.enter(EpochPlan(epoch=0, stage=TrainingStage(), visits=visits), tasks)
    return made


@given(steps=st.integers(1, 4), prompts=st.integers(1, 4), k=st.integers(1, 4), r=st.integers(1, 3))
def test_the_layout_is_that_of_trls_own_sampler(steps: int, prompts: int, k: int, r: int) -> None:
    size = steps * prompts
    theirs = RepeatSampler(
        list(range(size)), mini_repeat_count=k, batch_size=prompts, repeat_count=r, shuffle=False
    )
    ours = VisitSampler(size, k=k, prompts=prompts, repeats=r)
    assert list(ours) == list(theirs)
    assert len(ours) == len(theirs)


def test_a_row_says_where_it_stands() -> None:
    rows = VisitDataset(schedule())
    assert [position_of(rows[i]["prompt"]) for i in range(len(rows))] == [0, 1, 2]


def test_rows_of_one_position_are_not_one_object() -> None:
    rows = VisitDataset(schedule())
    rows[0]["reward"] = "TRL writes into rows"
    assert "reward" not in rows[0]


def test_an_epoch_of_another_length_is_refused() -> None:
    made = schedule()
    assert made.plan is not None
    with pytest.raises(ValueError, match="Epoch 0 has 2 visits"):
        made.enter(made.plan.model_copy(update={"visits": made.plan.visits[:2]}), made.tasks[:2])
