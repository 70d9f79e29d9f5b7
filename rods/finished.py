"""A run that has ended, asked for again: its summary, if what it speaks of is still whole."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rods.assembly import assemble
from rods.errors import RunDirError
from rods.pool.probing import read_whole
from rods.pool_access import pool_url
from rods.run_dir import SUMMARY, RunDir, config_of, whole_config_of
from rods.types import PoolState

KEYS = {"eval", "pool", "retired_because", "funnel", "epochs", "steps", "injected", "retired"}


def finished(path: Path) -> dict[str, Any] | None:
    """The summary of a run that has ended, None while there is something left to do.

    Settings or a pool that are damaged, or not those of the summary, are a UserError.
    """
    config_of(path)
    summary = RunDir.read(path, SUMMARY)
    if summary is None:
        return None
    if lost := sorted(KEYS - summary.keys()):
        raise RunDirError(
            f"{path / SUMMARY} lacks {lost[0]!r}: it is damaged. Delete it and resume the run, "
            "which makes it again."
        )
    assemble(config=whole_config_of(path)).resolved()
    states = read_whole(pool_url(str(path))).states
    if any(states.get(PoolState(state), 0) != n for state, n in summary["pool"].items()):
        raise RunDirError(f"The pool of {path} is not the one that its summary counts.")
    return summary
