"""Files of a pinned wheel, each checked by its SHA-256, from a path, a copy or the cache.

A world whose upstream package cannot be installed beside a trainer reads its data, and loads its
modules (``rods.upstream``), from the wheel as an archive: never installed, never on ``sys.path``.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from rods.errors import DataError
from rods.wheels import WheelPin, cached_wheel

OPTION = "environment.asset"  # what users set to a path of their own


@dataclass(frozen=True, slots=True)
class AssetPin:
    """A release, and the SHA-256 of every member of its wheel that is used."""

    name: str  # as in "The BFCL data"
    folder: str  # below the cache
    distribution: str
    version: str
    wheel: str
    sha256: str
    members: Mapping[str, str]

    @classmethod
    def read(cls, text: str, *, name: str, folder: str) -> AssetPin:
        """The pin in a package's ``asset.json``."""
        pin = json.loads(text)
        keys = ("distribution", "version", "wheel", "sha256", "members")
        return cls(name=name, folder=folder, **{key: pin[key] for key in keys})

    @property
    def release(self) -> str:
        """Distribution and version, for people."""
        return f"{self.distribution} {self.version}"

    @property
    def remedy(self) -> str:
        """What to do about a file that is not what it should be."""
        return (
            f"Remove it to have it fetched again, or set the option {OPTION} to the pinned wheel."
        )


class Source(Protocol):
    """Where the files of an asset lie."""

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
    """The files of a pinned release, each checked when it is read."""

    def __init__(self, pin: AssetPin, source: Source, origin: str) -> None:
        self.pin, self.origin = pin, origin
        self._source = source

    def read(self, member: str) -> bytes:
        """The bytes of ``member``, which have the pinned hash; DataError otherwise."""
        try:
            content = self._source.read(member)
        except (OSError, zipfile.BadZipFile) as error:
            raise DataError(
                f"The {self.pin.name} data at {self.origin} lack {member}: {error}."
            ) from error
        if hashlib.sha256(content).hexdigest() != self.pin.members[member]:
            raise DataError(
                f"The {self.pin.name} data at {self.origin} are not those of {self.pin.release}: "
                f"{member} has another SHA-256 than the pinned one. {self.pin.remedy}"
            )
        return content

    def text(self, member: str) -> str:
        """The text of ``member``."""
        return self.read(member).decode("utf-8")

    def lines(self, member: str) -> list[dict[str, object]]:
        """The records of a JSON-lines member."""
        return [json.loads(line) for line in self.text(member).splitlines() if line.strip()]


def open_asset(pin: AssetPin, path: Path | None = None, *, fetch: bool = True) -> Asset:
    """The asset: the path given, an installed copy, the cache, or fetched into the cache."""
    if path is not None:
        return _given(pin, path)
    return _installed(pin) or _cached(pin, fetch=fetch)


def _given(pin: AssetPin, path: Path) -> Asset:
    if path.is_dir():
        return Asset(pin, FolderSource(path), str(path))
    if not path.is_file():
        raise DataError(
            f"The {pin.name} asset {str(path)!r} does not exist; expected the wheel of "
            f"{pin.release} or the folder it is unpacked in. Leave the option {OPTION} out to "
            "have it fetched."
        )
    return _open_wheel(pin, path)


def _installed(pin: AssetPin) -> Asset | None:
    try:
        distribution = importlib.metadata.distribution(pin.distribution)
    except importlib.metadata.PackageNotFoundError:
        return None
    if distribution.version != pin.version:
        return None
    folder = Path(str(distribution.locate_file("")))
    return Asset(pin, FolderSource(folder), str(folder)) if folder.is_dir() else None


def _cached(pin: AssetPin, *, fetch: bool) -> Asset:
    wheel = WheelPin(
        what=f"The {pin.name} data",
        distribution=pin.distribution,
        version=pin.version,
        wheel=pin.wheel,
        sha256=pin.sha256,
        folder=pin.folder,
        remedy=f"set the option {OPTION} to the file",
    )
    return _open_wheel(pin, cached_wheel(wheel, fetch=fetch))


def _open_wheel(pin: AssetPin, wheel: Path) -> Asset:
    content = wheel.read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    if digest != pin.sha256:
        raise DataError(
            f"The {pin.name} asset {wheel} is damaged or of another release: its SHA-256 is "
            f"{digest[:12]}..., that of {pin.release} is {pin.sha256[:12]}.... {pin.remedy}"
        )
    return Asset(pin, ArchiveSource(content), str(wheel))
