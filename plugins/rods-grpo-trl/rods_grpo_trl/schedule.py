"""What TRL's data loader hands out: the visits of the present epoch, by their position.

Hugging Face's ``Trainer`` builds its loader once, so every epoch has the same length; what stands
at a position is looked up when it is played. A row holds nothing but its position, as text.
"""

from __future__ import annotations

from collections.abc import Iterator

from torch.utils.data import Dataset, Sampler

from rods.types import EpochPlan, Task


class Schedule:
    """The plan of the present epoch and the tasks drawn for it; equal on all ranks."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.plan: EpochPlan | None = None
        self.tasks: tuple[Task, ...] = ()

    def enter(self, plan: EpochPlan, tasks: tuple[Task, ...]) -> None:
        """The epoch of ``plan`` begins."""
        if not len(plan.visits) == len(tasks) == self.size:
            raise ValueError(
                f"Epoch {plan.epoch} has {len(plan.visits)} visits and {len(tasks)} tasks, where "
                f"{self.size} were expected: all epochs of a run are equally long."
            )
        self.plan, self.tasks = plan, tasks

    def prompt(self, position: int) -> str:
        """The row's text: the position, and the entry's id for whoever reads TRL's logs."""
        assert self.plan is not None
        return f"{position} {self.plan.visits[position].entry_id}"


def position_of(prompt: str) -> int:
    """The position in the epoch that ``Schedule.prompt`` wrote."""
    return int(prompt.split(" ", 1)[0])


class VisitDataset(Dataset[dict[str, str]]):
    """Rows by position. Each is a new dict: TRL writes into them."""

    def __init__(self, schedule: Schedule) -> None:
        self.schedule = schedule

    def __len__(self) -> int:
        return self.schedule.size

    def __getitem__(self, position: int) -> dict[str, str]:
        return {"prompt": self.schedule.prompt(position)}


class VisitSampler(Sampler[int]):
    """Positions in order: every prompt ``k`` times, every batch of prompts ``repeats`` times.

    This is the layout of ``trl.trainer.utils.RepeatSampler`` without its shuffle, whose generator
    does not survive a resume: the curriculum's plan is shuffled already.
    """

    def __init__(self, size: int, *, k: int, prompts: int, repeats: int) -> None:
        self.size, self.k, self.prompts, self.repeats = size, k, prompts, repeats

    def __len__(self) -> int:
        return self.size * self.k * self.repeats

    def __iter__(self) -> Iterator[int]:
        for start in range(0, self.size, self.prompts):
            for _ in range(self.repeats):
                for position in range(start, start + self.prompts):
                    yield from [position] * self.k
