"""Folders in which servers live: filled for a session, copied, emptied."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath

from rods.errors import DataError, WorldError
from rods.types import JsonObject

Files = Mapping[str, bytes]
_PREPARE_S = 60.0


def files_of(initial_state: JsonObject) -> dict[str, bytes]:
    """The files of an initial state; a DataError names a path that leaves the folder."""
    files = initial_state.get("files", {})
    if not isinstance(files, dict):
        raise DataError("initial_state.files is no object of path and text.")
    made = {}
    for name, text in files.items():
        parts = PurePosixPath(name).parts
        if not parts or ".." in parts or name.startswith("/") or not isinstance(text, str):
            raise DataError(
                f"initial_state.files[{name!r}] is no text under a relative path without '..'."
            )
        made[name] = text.encode()
    return made


def write(folder: Path, files: Files) -> None:
    """The files stand in the folder beside what is there."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def read(folder: Path) -> tuple[dict[str, bytes], tuple[str, ...]]:
    """All files with their contents, and the folders."""
    paths = sorted(folder.rglob("*"))
    files = {
        str(p.relative_to(folder)): p.read_bytes()
        for p in paths
        if p.is_file() and not p.is_symlink()
    }
    return files, tuple(str(p.relative_to(folder)) for p in paths if p.is_dir())


def empty(folder: Path) -> None:
    """Nothing is left in the folder, which stays: a server may have it open."""
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def refill(folder: Path, files: Files, folders: Sequence[str]) -> None:
    """The folder holds exactly this."""
    empty(folder)
    for name in folders:
        (folder / name).mkdir(parents=True, exist_ok=True)
    write(folder, files)


def texts(folder: Path, patterns: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The matching files with their texts, and ``path/`` for an empty folder, sorted."""
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if not any(matches(name, pattern) for pattern in patterns):
            continue
        if path.is_dir() and not any(path.iterdir()):
            yield f"{name}/", ""
        elif path.is_file():
            yield name, path.read_bytes().decode(errors="backslashreplace")


def matches(name: str, pattern: str) -> bool:
    """``**/`` matches any number of folders, none too; ``*`` no slash."""
    if pattern.startswith("**/"):
        parts = name.split("/")
        return any(matches("/".join(parts[i:]), pattern[3:]) for i in range(len(parts)))
    head, _, rest = pattern.partition("/")
    first, _, below = name.partition("/")
    if not rest:
        return not below and fnmatch(first, head)
    return bool(below) and fnmatch(first, head) and matches(below, rest)


def run_command(command: str, folder: Path, env: Mapping[str, str], what: str) -> None:
    """The user's command has run in the folder; a WorldError tells what it wrote."""
    try:
        done = subprocess.run(
            ["sh", "-c", command],
            cwd=folder,
            env=dict(env),
            capture_output=True,
            text=True,
            timeout=_PREPARE_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise WorldError(f"{what} ({command!r}) took more than {_PREPARE_S:g} s.") from error
    if done.returncode:
        said = " ".join((done.stderr or done.stdout).split())[-300:]
        raise WorldError(f"{what} ({command!r}) ended with {done.returncode}: {said}")
