"""Trained policies are kept under a hash of what they were made from."""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from filelock import FileLock
from platformdirs import user_cache_path

from rods.digests import digest
from rods.errors import DataError
from rods.files import sync_folder, sync_tree
from rods_grpo_trl.tiny.policy import TinyPolicy

log = logging.getLogger(__name__)


def cache_folder() -> Path:
    """Where policies are kept: ``$RODS_CACHE`` or the user's cache folder."""
    override = os.environ.get("RODS_CACHE")
    return (Path(override) if override else user_cache_path("rods")) / "warm-start"


def kept(
    inputs: Mapping[str, object],
    make: Callable[[], TinyPolicy],
    load: Callable[[Path], TinyPolicy],
    cache: Path | None = None,
) -> TinyPolicy:
    """The policy made from ``inputs``, loaded if it is there, else made and kept.

    A second process that wants the same one waits for the first. A policy appears whole or not at
    all: an interrupted ``make`` leaves nothing behind. One that was damaged since is made again.
    """
    root = cache if cache is not None else cache_folder()
    folder = root / digest(inputs, digits=16)
    try:
        root.mkdir(parents=True, exist_ok=True)
        lock = FileLock(f"{folder}.lock")
        with lock:
            if (found := _found(load, folder)) is not None:
                return found
            _write(make(), folder)
            return load(folder)
    except OSError as error:
        raise DataError(
            f"The warm start cannot be kept in {root}: {error}. Set RODS_CACHE to a folder that "
            "can be written."
        ) from error


def _found(load: Callable[[Path], TinyPolicy], folder: Path) -> TinyPolicy | None:
    if not folder.is_dir():
        return None
    try:
        return load(folder)
    except DataError as error:
        log.warning("The kept warm start is damaged and is made again: %s", error)
        shutil.rmtree(folder)
        return None


def _write(policy: TinyPolicy, folder: Path) -> None:
    """Write beside the place and move: a rename within a folder is atomic."""
    draft = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        policy.save(draft)
        sync_tree(draft)
        draft.rename(folder)
        sync_folder(folder.parent)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise
