"""Files that a kill or a full disk cannot tear."""

from __future__ import annotations

import errno
import gzip
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rods.errors import DataError
from rods.files import (
    append_line,
    read_gzip_lines,
    read_lines,
    repair_lines,
    sync_tree,
    write_atomic,
    write_gzip_lines,
)

FULL = Path("/dev/full")  # every write to it fails with ENOSPC


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    write_atomic(path, "old")
    write_atomic(path, b"new")
    assert path.read_text() == "new"
    assert [p.name for p in tmp_path.iterdir()] == ["a.json"]


def test_a_write_that_fails_leaves_the_old_content_and_no_rest(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    write_atomic(path, "old")
    (tmp_path / ".a.json.part").symlink_to(FULL)
    with pytest.raises(OSError, match="No space left") as caught:
        write_atomic(path, "new")
    assert caught.value.errno == errno.ENOSPC
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["a.json"]


@settings(max_examples=30)  # every line waits for the disk
@given(
    st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\n\r")), max_size=4),
    st.binary(min_size=1),
)
def test_a_torn_last_line_is_cut_off_and_the_others_stay(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], torn: bytes
) -> None:
    path = tmp_path_factory.mktemp("lines") / "metrics.jsonl"
    for line in lines:
        append_line(path, line)
    whole = path.read_bytes() if lines else b""
    with path.open("ab") as file:
        file.write(torn.replace(b"\n", b"."))
    assert repair_lines(path)
    assert path.read_bytes() == whole
    assert not repair_lines(path)


def test_a_file_that_is_not_there_has_no_lines(tmp_path: Path) -> None:
    assert not repair_lines(tmp_path / "absent")
    assert read_lines(tmp_path / "absent") == []


def test_equal_records_give_equal_compressed_bytes(tmp_path: Path) -> None:
    records = [{"a": 1}, {"b": "ü"}]
    for name in ("one.gz", "two.gz"):
        write_gzip_lines(tmp_path / name, records)
    assert list(read_gzip_lines(tmp_path / "one.gz")) == records
    assert (tmp_path / "one.gz").read_bytes() == (tmp_path / "two.gz").read_bytes()


def test_every_file_and_folder_of_a_tree_is_put_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    for name in ("x", "a/y", "a/b/z"):
        (tmp_path / name).write_text(name)
    synced: list[str] = []

    def fsync(descriptor: int) -> None:
        synced.append(os.readlink(f"/proc/self/fd/{descriptor}"))

    monkeypatch.setattr(os, "fsync", fsync)
    sync_tree(tmp_path)
    assert sorted(synced) == sorted(map(str, [tmp_path, *tmp_path.rglob("*")]))
    assert synced[-1] == str(tmp_path)


@pytest.mark.parametrize("damaged", ["{", "[]", "3"])
def test_a_damaged_line_of_ours_is_named(tmp_path: Path, damaged: str) -> None:
    (tmp_path / "m.jsonl").write_text('{"a": "\u2028"}\n' + damaged + "\n")
    with pytest.raises(DataError, match=r"m.jsonl line 2 is damaged"):
        read_lines(tmp_path / "m.jsonl")


@pytest.mark.parametrize("content", [b"x\n", gzip.compress(b"{}\n" * 99, mtime=0)[:-9]])
def test_a_damaged_packed_file_of_ours_is_named(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "r.gz").write_bytes(content)
    with pytest.raises(DataError, match=r"r.gz is damaged"):
        list(read_gzip_lines(tmp_path / "r.gz"))
