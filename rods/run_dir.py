"""A run is a folder: settings, manifest, pool, metrics, rollouts, checkpoints, policy, summary.

::

    config.toml  manifest.json  summary.json     metrics.jsonl   one line a step
    pool.sqlite  run.lock                        rollouts/       one compressed file a step
    checkpoints/ policy/                         evaluation/     the held-out rollouts

Everything is written whole or not at all; after a kill the folder is that of the last step or the
one before it, and ``rewind`` takes back what the trainer's checkpoint does not know.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import filelock

from rods.errors import RunDirError
from rods.files import (
    append_line,
    read_gzip_lines,
    read_lines,
    repair_lines,
    write_atomic,
    write_gzip_lines,
)
from rods.types import Regions, RolloutGroup, StepReport

if TYPE_CHECKING:
    from rods.pool import Pool

_FIXED = "config.toml"
_END = "\n# Complete: rods refuses to resume without this line.\n"
SUMMARY, MANIFEST = "summary.json", "manifest.json"


class Listener(Protocol):
    """Who is told what happens in the run."""

    def step_finished(self, report: StepReport) -> None:
        """An optimizer step is done."""
        ...

    def progress(self, what: str, done: int, total: int) -> None:
        """A long part outside the steps moves on."""
        ...


class RunDir:
    """A run's folder, locked by this process until ``close``."""

    def __init__(self, path: Path, seed: int, *, resume: bool) -> None:
        self.path, self.seed, self.resume = path, seed, resume
        self._lock = _locked(path)
        self._pool: Pool | None = None
        self._listener: Listener | None = None
        self._zone = (0.0, 1.0)
        self._stopping: Callable[[], bool] = bool  # False
        self._clock: float | None = None  # when the present step began
        self._epoch = 0

    @classmethod
    def create(cls, path: Path, config: str, seed: int) -> RunDir:
        """A new run with its resolved settings; the folder must be absent or empty."""
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RunDirError(f"The folder {path} cannot be made: {error.strerror}.") from error
        run = cls(path, seed, resume=False)
        mine = {"run.lock", f".{_FIXED}.part"}  # what a kill right here leaves
        if others := sorted({p.name for p in path.iterdir()} - mine):
            run.close()
            hint = f"rods run --resume {path}" if _FIXED in others else "another --out"
            raise RunDirError(f"{path} is not empty (it holds {others[0]}); use {hint}.")
        write_atomic(path / _FIXED, config + _END)
        return run

    @classmethod
    def reopen(cls, path: Path, seed: int) -> RunDir:
        """The folder of a run that was stopped or killed, with torn lines cut off."""
        config_of(path)
        run = cls(path, seed, resume=True)
        repair_lines(run.metrics)
        return run

    def follow(
        self,
        pool: Pool,
        zone: tuple[float, float],
        listener: Listener,
        stopping: Callable[[], bool] = bool,
    ) -> None:
        """From here on reports count this pool and these regions, and reach ``listener``."""
        self._pool, self._zone, self._listener = pool, zone, listener
        self._stopping = stopping

    @property
    def stopping(self) -> bool:
        """Somebody wants the run to end after a checkpoint of the present step."""
        return self._stopping()

    def enter_epoch(self, epoch: int) -> None:
        """Reports belong to this epoch; the first step of a run begins here."""
        self._epoch = epoch
        if self._clock is None:
            self._clock = time.monotonic()

    def close(self) -> None:
        """Give the folder free; safe to call twice."""
        self._lock.release()

    # ---------------------------------------------------------------- places
    @property
    def checkpoints(self) -> Path:
        """Where the trainer keeps its checkpoints."""
        return self.path / "checkpoints"

    @property
    def metrics(self) -> Path:
        """One JSON line a step: ``StepReport``."""
        return self.path / "metrics.jsonl"

    @property
    def policy(self) -> Path:
        """The trained policy; it exists only when the training has ended."""
        return self.path / "policy"

    def rollouts(self, step: int) -> Path:
        """The rollouts of one step, compressed JSON lines."""
        return self.path / "rollouts" / f"step-{step:06d}.jsonl.gz"

    # ---------------------------------------------------------------- while training
    def log_rollouts(self, step: int, groups: Sequence[RolloutGroup]) -> None:
        """Keep what was played; the pool entry and the seed of the draw repeat the task."""
        path = self.rollouts(step)
        path.parent.mkdir(exist_ok=True)
        write_gzip_lines(path, [group_record(group, step) for group in groups])

    def report(
        self, step: int, steps: int, groups: Sequence[RolloutGroup], trainer: Mapping[str, float]
    ) -> StepReport:
        """Append the step to ``metrics.jsonl`` and tell the listener.

        A trainer calls it before it writes the checkpoint of this step: what a checkpoint knows
        is then never missing from the metrics.
        """
        now = time.monotonic()
        report = step_report(groups, self._zone, self._pool).model_copy(
            update={
                "step": step,
                "steps": steps,
                "epoch": self._epoch,
                "seconds": now - (self._clock or now),
                "trainer": dict(trainer),
            }
        )
        self._clock = now
        append_line(self.metrics, report.model_dump_json())
        if self._listener is not None:
            self._listener.step_finished(report)
        return report

    def progress(self, what: str, done: int, total: int) -> None:
        """Tell the listener how far a part outside the steps is."""
        if self._listener is not None:
            self._listener.progress(what, done, total)

    def rewind(self, step: int) -> None:
        """No trace of a step after ``step`` is left in metrics and rollouts.

        The manifest says that this start of the run began there.
        """
        kept = [line for line in read_lines(self.metrics) if line["step"] <= step]
        write_atomic(self.metrics, "".join(json.dumps(line) + "\n" for line in kept))
        for path in (self.path / "rollouts").glob("step-*.jsonl.gz"):
            number = path.name.removeprefix("step-").removesuffix(".jsonl.gz")
            if number.isdecimal() and int(number) > step:
                path.unlink()
        if manifest := self.read_json(MANIFEST):
            manifest["starts"][-1]["resumed_at"] = step
            self.write_json(MANIFEST, manifest)

    # ---------------------------------------------------------------- records
    def write_json(self, name: str, record: Mapping[str, Any]) -> None:
        """``name`` in the folder holds the record, complete or not at all."""
        write_atomic(self.path / name, json.dumps(record, indent=2, ensure_ascii=False) + "\n")

    def read_json(self, name: str) -> dict[str, Any] | None:
        """The record, or None where it was never written."""
        return self.read(self.path, name)

    @staticmethod
    def read(path: Path, name: str) -> dict[str, Any] | None:
        """A record of the folder ``path`` without opening the run; None where there is none."""
        if not (path / name).exists():
            return None
        try:
            record = json.loads((path / name).read_text(encoding="utf-8"))
        except ValueError as error:
            raise RunDirError(f"{path / name} is not JSON: {error}; the run is damaged.") from error
        if not isinstance(record, dict):
            raise RunDirError(f"{path / name} holds no JSON object; the run is damaged.")
        return record

    def last_report(self) -> StepReport | None:
        """The last step that was reported."""
        lines = read_lines(self.metrics)
        return StepReport.model_validate(lines[-1]) if lines else None


def config_of(path: Path) -> Path:
    """The resolved settings of a run's folder; a RunDirError where it is none."""
    if not (path / _FIXED).is_file():
        raise RunDirError(f"{path} is no run's folder: it has no {_FIXED}.")
    return path / _FIXED


def whole_config_of(path: Path) -> Path:
    """The settings of a run's folder, not cut short: what is missing would become a default."""
    config = config_of(path)
    if not config.read_bytes().rstrip().endswith(_END.strip().encode()):
        raise RunDirError(
            f"{config} does not end with {_END.strip()!r}: it is cut short. Restore it from a copy "
            "of the run, or begin a new one."
        )
    return config


def group_record(group: RolloutGroup, step: int) -> dict[str, Any]:
    """A group as one line: ``task_id`` and ``rewards`` first, the task itself by reference."""
    return {
        "task_id": group.task.id,
        "entry_id": group.entry_id,
        "kind": group.task.kind,
        "step": step,
        "draw_seed": group.draw_seed,
        "rewards": list(group.rewards),
        "rollouts": [rollout.model_dump(mode="json") for rollout in group.rollouts],
    }


def read_rollouts(path: Path) -> list[dict[str, Any]]:
    """The lines of one step's rollouts, as ``group_record`` made them."""
    return list(read_gzip_lines(path))


def step_report(
    groups: Sequence[RolloutGroup], zone: tuple[float, float], pool: Pool | None
) -> StepReport:
    """The groups and the pool in numbers; ``reward`` is the mean over the scored groups."""
    scored = [group for group in groups if group.scored]
    stats = pool.stats() if pool is not None else None
    return StepReport(
        step=0,
        steps=0,
        epoch=0,
        reward=sum(group.mean for group in scored) / len(scored) if scored else 0.0,
        regions=regions(groups, zone),
        pool={state.value: n for state, n in stats.states.items()} if stats else {},
        funnel=stats.funnel if stats else {},
        seconds=0.0,
    )


def regions(groups: Sequence[RolloutGroup], zone: tuple[float, float]) -> Regions:
    """Groups by the region of their mean; ``format_failures`` counts rollouts."""
    low, high = zone
    scored = [group for group in groups if group.scored]
    return Regions(
        hard=sum(group.mean < low for group in scored),
        boundary=sum(low <= group.mean <= high for group in scored),
        mastered=sum(group.mean > high for group in scored),
        no_variance=sum(group.variance == 0 for group in scored),
        unscored=len(groups) - len(scored),
        format_failures=sum(group.format_failures for group in groups),
    )


def _locked(path: Path) -> filelock.BaseFileLock:
    lock = filelock.FileLock(path / "run.lock")
    try:
        lock.acquire(timeout=0)
    except filelock.Timeout as error:
        owner = (path / "run.lock").read_text().strip()
        process = f"process {owner}" if owner else "another process"
        raise RunDirError(f"{path} is in use by {process}; wait for it or stop it.") from error
    except OSError as error:
        raise RunDirError(f"{path} cannot be written: {error.strerror}.") from error
    (path / "run.lock").write_text(str(os.getpid()))
    return lock
