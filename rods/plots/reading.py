"""Reads runs for a figure; one that is still going, or was interrupted, is as good as any."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from rods.config import read_toml
from rods.errors import DataError, PoolError, RunDirError
from rods.plots.averages import moving_mean, moving_shares
from rods.plots.held_out import held_out_of
from rods.plots.records import EpochPool, RunSeries, Shares
from rods.pool_access import open_existing
from rods.run_dir import config_of
from rods.types import EpochPlan, Stage, StepReport

METRICS = "metrics.jsonl"
REGIONS = ("hard", "boundary", "mastered")
MIN_WINDOW, MAX_WINDOW = 3, 100


def read_runs(
    folders: Sequence[Path], window: int | None = None, note: Callable[[str], None] = print
) -> list[RunSeries]:
    """The runs in their order; ``note`` hears what had to be left out of one."""
    labels = labels_of(folders)
    return [
        read_run(folder, label, window, note) for folder, label in zip(folders, labels, strict=True)
    ]


def read_run(
    folder: Path, label: str, window: int | None, note: Callable[[str], None]
) -> RunSeries:
    """The series of one run; ``window`` is a tenth of its steps unless it is given."""
    config = read_toml(config_of(folder))
    reports = read_steps(folder)
    window = window or default_window(len(reports))
    rewards = [_reward(report) for report in reports]
    whole, kinds = held_out_of(folder)
    return RunSeries(
        run=str(folder),
        label=label,
        **_names(config),
        steps_planned=reports[-1].steps,
        window=window,
        step=[report.step for report in reports],
        epoch=[report.epoch for report in reports],
        reward=rewards,
        reward_mean=moving_mean(rewards, window),
        groups=_groups(reports),
        shares=_shares(reports, window),
        synthesis=_synthesis(reports),
        epochs=_epochs(reports, _plans(folder, reports, note)),
        held_out=whole,
        kinds=kinds,
    )


def default_window(steps: int) -> int:
    """A tenth of the steps, at least 3 and at most 100."""
    return min(MAX_WINDOW, max(MIN_WINDOW, round(steps / 10)))


def read_steps(folder: Path) -> list[StepReport]:
    """The steps that were reported; a last line that is still being written is none yet."""
    path = folder / METRICS
    try:
        content = path.read_bytes() if path.exists() else b""
    except OSError as error:
        raise DataError(f"Cannot read {path}: {error.strerror}.") from error
    lines = content[: content.rfind(b"\n") + 1].splitlines()
    if not lines:
        raise RunDirError(f"{folder} has no training step yet: {METRICS} is missing or empty.")
    return [_report(path, number, line) for number, line in enumerate(lines, 1)]


def labels_of(folders: Sequence[Path]) -> list[str]:
    """The shortest end of each path that tells it from the others; a folder named twice is two."""
    parts = [Path(os.path.normpath(folder.absolute())).parts for folder in folders]
    return [_label(own, parts) for own in parts]


# ------------------------------------------------------------------------------- inside
def _label(own: tuple[str, ...], all_parts: Sequence[tuple[str, ...]]) -> str:
    for length in range(1, len(own)):
        end = own[-length:]
        if sum(other[-length:] == end for other in all_parts) == 1:
            return "/".join(end)
    return own[-1]


def _report(path: Path, number: int, line: bytes) -> StepReport:
    try:
        return StepReport.model_validate(json.loads(line))
    except ValidationError as error:
        fault = error.errors()[0]
        what = f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}".removeprefix(": ")
        raise DataError(f"{path} line {number} is no training step ({what}).") from error
    except (ValueError, RecursionError) as error:
        raise DataError(
            f"{path} line {number} is damaged: no JSON object. Restore a copy of it."
        ) from error


def _names(config: dict[str, Any]) -> dict[str, Any]:
    """World, trainer, policy and zone as the settings name them."""
    world, trainer, selector = (
        table if isinstance(table := config.get(name), dict) else {}
        for name in ("environment", "trainer", "selector")
    )
    zone = selector.get("alpha_low"), selector.get("alpha_high")
    name = str(trainer.get("name", "?"))
    return {
        "world": str(world.get("name", "?")),
        "trainer": name,
        "policy": str(trainer.get("model") or name),
        "zone": zone if all(isinstance(end, int | float) for end in zone) else None,
    }


def _scored(report: StepReport) -> int:
    return report.regions.hard + report.regions.boundary + report.regions.mastered


def _reward(report: StepReport) -> float | None:
    """None where an outage left no group with a mean: that is no zero."""
    return report.reward if _scored(report) and math.isfinite(report.reward) else None


def _groups(reports: Sequence[StepReport]) -> dict[str, list[int]]:
    names = (*REGIONS, "no_variance", "unscored")
    return {name: [getattr(report.regions, name) for report in reports] for name in names}


def _shares(reports: Sequence[StepReport], window: int) -> Shares:
    groups, scored = _groups(reports), [_scored(report) for report in reports]
    names = (*REGIONS, "no_variance")
    return Shares(**{name: moving_shares(groups[name], scored, window) for name in names})


def _synthesis(reports: Sequence[StepReport]) -> dict[str, list[int]]:
    """``admitted`` first, then the stages that rejected anything, in the order of the synthesis."""
    seen = {stage for report in reports for stage in report.funnel} - {"admitted"}
    known = [stage for stage in Stage if stage in seen]
    order = ["admitted", *known, *sorted(seen.difference(known))]
    return {
        stage: [sum(report.funnel.get(stage, {}).values()) for report in reports] for stage in order
    }


def _epochs(reports: Iterable[StepReport], plans: dict[int, EpochPlan]) -> list[EpochPool]:
    first: dict[int, int] = {}
    last: dict[int, StepReport] = {}
    for report in reports:
        first.setdefault(report.epoch, report.step)
        last[report.epoch] = report
    return [
        EpochPool(
            epoch=epoch,
            first_step=first[epoch],
            pool=report.pool,
            injected=plans[epoch].injected if epoch in plans else None,
            retired=plans[epoch].retired if epoch in plans else None,
        )
        for epoch, report in last.items()
    ]


def _plans(
    folder: Path, reports: Sequence[StepReport], note: Callable[[str], None]
) -> dict[int, EpochPlan]:
    """The plans of the epochs; none, and a note, where the run's pool cannot be read."""
    try:
        with open_existing(str(folder)) as pool:
            found = {epoch: pool.plan(epoch) for epoch in {report.epoch for report in reports}}
    except PoolError as error:
        note(f"Without what was injected: {error}")
        return {}
    return {epoch: plan for epoch, plan in found.items() if plan is not None}
