"""Files that are complete or absent, and JSON lines that survive a kill."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from rods.errors import DataError


def write_atomic(path: Path, content: str | bytes) -> None:
    """``path`` holds ``content`` on the disk, or what it held before; never a part."""
    payload = content.encode() if isinstance(content, str) else content
    part = path.with_name(f".{path.name}.part")
    try:
        with part.open("wb") as file:
            file.write(payload)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError:
        with contextlib.suppress(OSError):  # the first error is the one to report
            part.unlink()
        raise
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """The folder's entries are on the disk, so that a rename survives a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_tree(folder: Path) -> None:
    """All files and folders below ``folder`` are on the disk: what others wrote there."""
    for path in folder.rglob("*"):
        if path.is_file():
            with path.open("rb") as file:
                os.fsync(file.fileno())
        elif path.is_dir():
            sync_folder(path)
    sync_folder(folder)


def append_line(path: Path, line: str) -> None:
    """``line`` stands at the end of ``path``, on the disk; or the file is as it was before."""
    with path.open("ab") as file:
        end = file.tell()
        try:
            file.write(line.encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
        except OSError:  # a full disk: take the half line back
            with contextlib.suppress(OSError):
                os.truncate(path, end)
            raise


def repair_lines(path: Path) -> bool:
    """Cut off a last line that a kill left without its newline; whether there was one.

    The file's time stays that of its last writing.
    """
    if not path.exists():
        return False
    written = path.stat()
    content = path.read_bytes()
    whole = content.rfind(b"\n") + 1
    if whole == len(content):
        return False
    os.truncate(path, whole)
    os.utime(path, ns=(written.st_atime_ns, written.st_mtime_ns))
    return True


def read_lines(path: Path) -> list[dict[str, Any]]:
    """The records of a JSON-lines file; none where it does not exist."""
    if not path.exists():
        return []
    return [_record(path, n, line) for n, line in enumerate(path.read_bytes().splitlines(), 1)]


def _record(path: Path, number: int, line: bytes | str) -> dict[str, Any]:
    """The object on a line that rods wrote; a DataError that names it where it is damaged."""
    try:
        record = json.loads(line)
    except ValueError:
        record = None
    if not isinstance(record, dict):
        raise DataError(f"{path} line {number} is damaged: no JSON object. Restore a copy of it.")
    return record


def write_gzip_lines(path: Path, records: Iterable[Any]) -> None:
    """One compact JSON line a record, compressed; equal records give equal bytes."""
    text = "".join(json.dumps(r, separators=(",", ":"), ensure_ascii=False) + "\n" for r in records)
    write_atomic(path, gzip.compress(text.encode(), compresslevel=6, mtime=0))


def read_gzip_lines(path: Path) -> Iterator[dict[str, Any]]:
    """The records that ``write_gzip_lines`` wrote."""
    try:
        with gzip.open(path, "rb") as file:
            for number, line in enumerate(file, 1):
                yield _record(path, number, line)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DataError(f"{path} is damaged ({error}). Restore a copy of it.") from error
