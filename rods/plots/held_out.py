"""What a run measured on held-out tasks, finished or not."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rods.errors import DataError
from rods.evaluation import AFTER, BEFORE, compare, overview, read_scores
from rods.plots.records import HeldOut
from rods.run_dir import SUMMARY, RunDir

KEYS = ("n", "before", "after", "gain", "ci_low", "ci_high")


def held_out_of(folder: Path) -> tuple[HeldOut | None, dict[str, HeldOut]]:
    """The whole and its kinds; None where nothing was measured yet.

    The summary says it of a run that has ended, else the kept evaluations do.
    """
    summary = RunDir.read(folder, SUMMARY)
    try:
        found = summary["eval"] if summary is not None else _measured(folder)
        kinds = {kind: _held_out(part) for kind, part in found.get("kinds", {}).items()}
        return _held_out(found), {kind: part for kind, part in kinds.items() if part}
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        where = f"{SUMMARY} of {folder}" if summary is not None else f"The evaluation in {folder}"
        raise DataError(f"{where} is damaged: it does not hold what rods writes.") from error


def _held_out(part: Mapping[str, Any]) -> HeldOut | None:
    if not part["n"]:
        return None
    return HeldOut(**{key: part[key] for key in KEYS if key in part})


def _measured(folder: Path) -> dict[str, Any]:
    if not (folder / BEFORE).exists():
        return {"n": 0}
    before = read_scores(folder / BEFORE)
    if (folder / AFTER).exists():
        return compare(before, read_scores(folder / AFTER))
    levels = overview(before)
    kinds = {kind: _level(level) for kind, level in levels["kinds"].items()}
    return {**_level(levels), "kinds": kinds}


def _level(level: Mapping[str, Any]) -> dict[str, Any]:
    return {"n": level["n"], "before": level["progress"]}
