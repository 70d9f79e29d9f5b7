"""JSON Lines in and out: faults name file and line, and no finished file is ever torn."""

from __future__ import annotations

import errno
import fcntl
import gzip
import json
import os
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from io import BufferedReader, FileIO
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from rods.errors import DataError, RodsError
from rods.types import JsonObject

_GZIP_MAGIC = b"\x1f\x8b"
_GZIP_LINES = 512  # lines of one gzip member of the output


class JsonlReader:
    """The lines of a file, gzip or plain, with their numbers; memory stays flat."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: BufferedReader | None = None
        try:
            self.size = path.stat().st_size
            if path.is_dir() or not os.access(path, os.R_OK):
                code = errno.EISDIR if path.is_dir() else errno.EACCES
                raise OSError(code, os.strerror(code))
        except OSError as error:
            raise DataError(f"Cannot read {path}: {error.strerror}.") from error

    @property
    def position(self) -> int:
        """Bytes of the file read so far, of ``size``."""
        return self._file.tell() if self._file and not self._file.closed else 0

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        """Number (1-based) and bytes of every line that is not blank."""
        number = 0
        try:
            with self._open() as file:
                for line in file:
                    number += 1
                    if line.strip():
                        yield number, line
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise DataError(
                f"{self.path} is a damaged gzip file after line {number}: {error}"
            ) from error

    @contextmanager
    def _open(self) -> Iterator[Iterable[bytes]]:
        """The lines; a pipe can be read too, so nothing is read twice."""
        try:
            opened = self.path.open("rb")
        except OSError as error:
            raise DataError(f"Cannot read {self.path}: {error.strerror}.") from error
        with opened as self._file:
            packed = self._file.peek(2).startswith(_GZIP_MAGIC)
            yield gzip.GzipFile(fileobj=self._file) if packed else self._file

    def parse(self, number: int, line: bytes) -> JsonObject:
        """The object on a line; a DataError that names the line otherwise."""
        try:
            value = json.loads(line.rstrip())  # a newline would be counted as a line of its own
        except RecursionError as error:
            raise DataError(f"{self.path} line {number} is nested too deeply.") from error
        except (json.JSONDecodeError, UnicodeDecodeError) as error:
            what = json_fault(error)
            raise DataError(f"{self.path} line {number} is no JSON: {what}.") from error
        except ValueError as error:  # more digits than Python converts
            raise DataError(f"{self.path} line {number} holds too long a number.") from error
        if not isinstance(value, dict):
            raise DataError(
                f"{self.path} line {number} is a JSON {type(value).__name__}, not an object."
            )
        return value


class JsonlWriter:
    """Writes ``PATH.partial`` line by line and renames it when all is done.

    After a fault the partial file holds whole lines, and a note on the error says where. A path
    that is no regular file (``/dev/stdout``, a pipe) is written directly. ``.gz`` is compressed.
    """

    def __init__(self, path: Path) -> None:
        self.path, self.lines = path, 0
        self._regular = path.is_file() or not path.exists()
        self.target = path.with_name(path.name + ".partial") if self._regular else path
        self._block_lines = _GZIP_LINES if path.suffix == ".gz" else 1
        self._waiting: list[bytes] = []
        self._whole = 0  # bytes of complete blocks in the file
        try:
            self._file: FileIO = self._opened()
        except BlockingIOError as error:
            raise DataError(f"{self.target} is being written by another process.") from error
        except OSError as error:
            raise DataError(f"Cannot write {path}: {error.strerror}.") from error

    def _opened(self) -> FileIO:
        """The target, empty and this process's alone: two at once would mix their lines."""
        if not self._regular:
            return self.target.open("wb", buffering=0)
        file = self.target.open("ab", buffering=0)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            file.truncate(0)
        except OSError:
            file.close()
            raise
        return file

    def write(self, line: str) -> None:
        """Append one line; a plain file has it when this returns."""
        self._waiting.append(line.encode() + b"\n")
        if len(self._waiting) >= self._block_lines:
            self._flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Finish the file; or keep what is there, and note on the error where it is."""
        with self._file:
            try:
                self._flush()
                if self._regular:
                    os.fsync(self._file.fileno())
            except (RodsError, OSError) as fault:
                if error is None:
                    self._keep(fault)
                    raise
        if error is not None:
            self._keep(error)
        elif self._regular:
            os.replace(self.target, self.path)

    def _keep(self, error: BaseException) -> None:
        """Note where the lines done are; an empty file is not kept."""
        if self.lines:
            what = "The line done is" if self.lines == 1 else f"The {self.lines} lines done are"
            error.add_note(f"{what} in {self.target}.")
        elif self._regular:
            self.target.unlink(missing_ok=True)

    def _flush(self) -> None:
        """Append the waiting lines as one block, or take all of it back."""
        lines, self._waiting = self._waiting, []
        if not lines:
            return
        block = b"".join(lines)
        rest = memoryview(gzip.compress(block, mtime=0) if self._block_lines > 1 else block)
        size = len(rest)
        try:
            while rest:
                rest = rest[self._file.write(rest) or 0 :]
        except OSError as error:
            if self._regular:
                self._file.truncate(self._whole)
            what = "No space left for" if error.errno == errno.ENOSPC else "Cannot write"
            raise RodsError(f"{what} {self.path}: {error.strerror}.") from error
        self._whole += size
        self.lines += len(lines)


def json_fault(error: ValueError) -> str:
    """What is wrong with one line of JSON, without a second count of lines."""
    if isinstance(error, json.JSONDecodeError):
        if error.pos >= len(error.doc.rstrip()):
            return f"it ends in the middle, after character {error.pos}"
        return f"{error.msg} at character {error.pos + 1}"
    if isinstance(error, UnicodeDecodeError):
        return f"byte {error.start + 1} is no {error.encoding.upper()}"
    return str(error)


def dump_line(value: Any) -> str:
    """Compact JSON on one line, keys in their order; escaped only where UTF-8 cannot hold it."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    try:
        text.encode()
    except UnicodeEncodeError:  # a lone surrogate, which JSON allows
        return json.dumps(value, separators=(",", ":"))
    return text
