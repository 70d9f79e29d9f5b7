"""What a rank beside rank 0 gets: it trains, and owns neither pool nor folder nor display."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn

from rods.errors import RunDirError
from rods.run_dir import config_of, step_report
from rods.types import RolloutGroup, StepReport

_WAIT_S = 600.0


class FollowerCurriculum:
    """The lengths of the curriculum; its plans come from rank 0 through the trainer."""

    def __init__(self, epochs: int, epoch_size: int) -> None:
        self.epochs, self.epoch_size = epochs, epoch_size

    def _refuse(self, *_: object) -> NoReturn:
        raise RuntimeError("Only rank 0 may ask the curriculum; broadcast what it answers.")

    begin_epoch = draw = observe = rewind = _refuse


class FollowerFolder:
    """The run's folder for reading: where the checkpoints lie, and nothing is reported."""

    def __init__(self, path: Path, seed: int, *, resume: bool) -> None:
        self.path, self.seed, self.resume = path, seed, resume

    @property
    def checkpoints(self) -> Path:
        """Where the trainer keeps its checkpoints."""
        return self.path / "checkpoints"

    @property
    def stopping(self) -> bool:
        """Rank 0 hears of it."""
        return False

    def wait(self, timeout_s: float = _WAIT_S) -> None:
        """Return when rank 0 has made the folder."""
        end = time.monotonic() + timeout_s
        while time.monotonic() < end:
            try:
                config_of(self.path)
            except RunDirError:
                time.sleep(0.1)
            else:
                return
        raise RunDirError(f"Rank 0 has not made {self.path} within {timeout_s:.0f} s.")

    def progress(self, what: str, done: int, total: int) -> None:
        """Rank 0 shows it."""

    def log_rollouts(self, step: int, groups: Sequence[RolloutGroup]) -> None:
        """Rank 0 keeps them."""

    def report(
        self, step: int, steps: int, groups: Sequence[RolloutGroup], trainer: Mapping[str, float]
    ) -> StepReport:
        """The report of the groups given here; rank 0 writes the run's own."""
        report = step_report(groups, (0.0, 1.0), None)
        return report.model_copy(update={"step": step, "steps": steps, "trainer": dict(trainer)})
