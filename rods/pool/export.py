"""The pool's tasks as files for others: JSON lines, parquet, or a Hugging Face data set.

Everything is streamed in pages, so a pool of any size is exported in flat memory.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, get_args

from rods.errors import DataError, did_you_mean
from rods.pool.store import Pool
from rods.types import Kind, PoolState

Format = Literal["jsonl", "parquet", "datasets"]
FORMATS: tuple[Format, ...] = get_args(Format)
_BATCH = 500


def export(
    pool: Pool,
    path: Path,
    format: Format,
    state: PoolState | None = None,
    kind: Kind | None = None,
    limit: int | None = None,
) -> int:
    """The entries (of one state, of one kind, so many) are in ``path``; how many.

    ``path`` is a folder for ``datasets``. A row has the entry's columns, ``phi`` and ``task``: an
    object in JSON lines, its JSON text in the columnar formats (whose columns must have one type).
    An existing file is replaced only once the new one is whole; an existing folder with content is
    a DataError.
    """
    writers: Mapping[str, Callable[[Iterator[dict[str, Any]], Path], int]]
    writers = {"jsonl": _write_jsonl, "parquet": _write_parquet, "datasets": _write_dataset}
    if format not in writers:
        raise DataError(f"No export format {format!r}. {did_you_mean(format, writers)}")
    try:
        return writers[format](_rows(pool, state, kind, limit), path)
    except OSError as error:
        raise DataError(f"Cannot write {path}: {_why(error)}.") from error


# -------------------------------------------------------------------------------- inside
def _rows(
    pool: Pool, state: PoolState | None, kind: Kind | None, limit: int | None
) -> Iterator[dict[str, Any]]:
    entries = pool.entries(state, kind, limit)
    while page := list(islice(entries, _BATCH)):
        tasks = pool.tasks([entry.id for entry in page])
        for entry in page:
            task = tasks[entry.id].model_dump_json()
            yield {**entry.model_dump(mode="json"), "phi": entry.phi, "task": task}


def _write_jsonl(rows: Iterator[dict[str, Any]], path: Path) -> int:
    count = 0
    with _replacing(path) as partial, partial.open("w", encoding="utf-8") as lines:
        for row in rows:
            row["task"] = json.loads(row["task"])
            lines.write(json.dumps(row, ensure_ascii=False) + "\n")
            count += 1
    return count


def _write_parquet(rows: Iterator[dict[str, Any]], path: Path) -> int:
    pa, pq = _extra("pyarrow", "parquet"), _extra("pyarrow.parquet", "parquet")
    schema, count = _schema(pa), 0
    with _replacing(path) as partial, pq.ParquetWriter(partial, schema) as writer:
        while batch := list(islice(rows, _BATCH)):
            writer.write_table(pa.Table.from_pylist(batch, schema=schema))
            count += len(batch)
    return count


def _write_dataset(rows: Iterator[dict[str, Any]], path: Path) -> int:
    datasets = _extra("datasets", "datasets")
    if path.is_file() or (path.is_dir() and any(path.iterdir())):
        raise DataError(f"{path} exists and is not empty; give a new folder for the data set.")
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}-") as folder:
        table, saved = Path(folder) / "rows.parquet", Path(folder) / "saved"
        count = _write_parquet(rows, table)
        with _quiet(datasets):
            cache = str(Path(folder) / "cache")
            found = datasets.Dataset.from_parquet(str(table), cache_dir=cache)
            found.save_to_disk(str(saved))
        if path.is_dir():
            path.rmdir()
        shutil.move(saved, path)
    return count


def _why(error: OSError) -> str:
    """What the system said, in words."""
    if isinstance(error, IsADirectoryError):
        return "it is a folder; name a file in it"
    if isinstance(error, FileExistsError | NotADirectoryError):
        return f"{error.filename} is a file, not a folder"
    return error.strerror or " ".join(str(error).split())


def _schema(pa: ModuleType) -> Any:
    """The columns' types, fixed: a batch of nulls must not decide them."""
    texts = ("id", "kind", "origin", "state", "reason", "parent_id", "task")
    floats = ("distance", "mean", "variance", "first_mean", "phi")
    integers = ("generation", "created_step", "entered_step", "visits", "flat_visits", "last_step")
    fields = {name: pa.string() for name in texts}
    fields |= {name: pa.float64() for name in floats}
    fields |= {name: pa.int64() for name in integers}
    return pa.schema(sorted(fields.items()))


@contextmanager
def _replacing(path: Path) -> Iterator[Path]:
    """A file beside ``path`` that takes its place if all goes well, and is gone if not.

    What is no regular file (``/dev/stdout``, a pipe) is written itself, never replaced.
    """
    if path.exists() and not path.is_file():
        yield path
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield partial
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


@contextmanager
def _quiet(datasets: ModuleType) -> Iterator[None]:
    """No progress bars, which are a setting of the whole process."""
    shown = not datasets.are_progress_bars_disabled()
    datasets.disable_progress_bars()
    try:
        yield
    finally:
        if shown:
            datasets.enable_progress_bars()


def _extra(module: str, extra: str) -> ModuleType:
    """A module that only this format needs."""
    try:
        return import_module(module)
    except ImportError as error:
        raise DataError(
            f"This format needs {module.partition('.')[0]}: pip install 'rods[{extra}]'."
        ) from error
