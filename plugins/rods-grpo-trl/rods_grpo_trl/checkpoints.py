"""Which checkpoint a run resumes at. A process may have been killed while it wrote one."""

from __future__ import annotations

import json
import logging
import re
import shutil
from pathlib import Path

log = logging.getLogger(__name__)

_NAME = re.compile(r"checkpoint-(\d+)")
STATE = "trainer_state.json"  # transformers writes it last


def newest_complete(folder: Path, ranks: int = 1) -> Path | None:
    """The checkpoint of the highest step that was written to its end; None if there is none."""
    for path in sorted(_all(folder), key=step_of, reverse=True):
        if is_complete(path, ranks):
            return path
    return None


def step_of(checkpoint: Path) -> int:
    """The optimizer step that the checkpoint was written after."""
    match = _NAME.fullmatch(checkpoint.name)
    if match is None:
        raise ValueError(f"{checkpoint.name!r} is no checkpoint's name, such as 'checkpoint-8'.")
    return int(match[1])


def is_complete(checkpoint: Path, ranks: int = 1) -> bool:
    """Its last file holds JSON of the right step, and every rank has written its random state.

    Rank 0 writes the last file without waiting for the others.
    """
    try:
        state = json.loads((checkpoint / STATE).read_text())
    except (OSError, ValueError):
        return False
    names = ["rng_state.pth"] if ranks == 1 else [f"rng_state_{i}.pth" for i in range(ranks)]
    whole = all((checkpoint / name).is_file() for name in names)
    return whole and isinstance(state, dict) and state.get("global_step") == step_of(checkpoint)


def discard_after(folder: Path, step: int) -> None:
    """Delete the checkpoints of later steps: halves, which would be taken for whole ones later."""
    for path in _all(folder):
        if step_of(path) > step:
            log.warning("%s was not written to its end: deleted.", path.name)
            shutil.rmtree(path)


def _all(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    return [path for path in folder.iterdir() if path.is_dir() and _NAME.fullmatch(path.name)]
