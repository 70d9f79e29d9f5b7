"""JSON Lines: faults name their line, and a file under its own name is always whole."""

from __future__ import annotations

import gzip
import json
import resource
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rods.errors import DataError, RodsError
from rods.jsonl import JsonlReader, JsonlWriter, dump_line

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(), lambda v: st.lists(v, max_size=3)
)


def write(path: Path, *lines: str, fault: BaseException | None = None) -> None:
    with JsonlWriter(path) as writer:
        for line in lines:
            writer.write(line)
        if fault is not None:
            raise fault


@settings(max_examples=30)  # each example waits for the disk
@given(st.lists(st.dictionaries(st.text(), VALUES), max_size=5), st.sampled_from(["a", "a.gz"]))
def test_what_is_written_is_read_again(records: list[dict[str, object]], name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        write(path, *map(dump_line, records))
        reader = JsonlReader(path)
        assert [reader.parse(number, line) for number, line in reader] == records


def test_a_lone_surrogate_survives(tmp_path: Path) -> None:
    record = json.loads('{"text": "\\ud800"}')
    write(tmp_path / "a", dump_line(record))
    reader = JsonlReader(tmp_path / "a")
    assert [reader.parse(n, line) for n, line in reader] == [record]


def test_blank_lines_are_skipped_and_counted(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("\n{}\n  \n{}\n")
    assert [number for number, _ in JsonlReader(tmp_path / "a")] == [2, 4]


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        (b'{"a": ', "is no JSON"),
        (b"\xff\xfe{}", "is no JSON"),
        (b"[1]", "is a JSON list, not an object"),
        (b"[" * 100_000, "is nested too deeply"),
        (b'{"a": ' + b"9" * 5000 + b"}", "holds too long a number"),
    ],
)
def test_a_corrupt_line_is_named(tmp_path: Path, line: bytes, fault: str) -> None:
    (tmp_path / "a").write_bytes(b"{}\n" + line + b"\n")
    reader = JsonlReader(tmp_path / "a")
    with pytest.raises(DataError, match=f"a line 2 {fault}"):
        [reader.parse(number, text) for number, text in reader]


def test_a_cut_gzip_file_gives_its_lines_and_then_says_after_which_it_is_damaged(
    tmp_path: Path,
) -> None:
    packed = gzip.compress(b"{}\n" * 100_000)
    (tmp_path / "a.gz").write_bytes(packed[: len(packed) // 2])
    seen = []
    with pytest.raises(DataError, match=r"damaged gzip file after line \d+"):
        seen += [number for number, _ in JsonlReader(tmp_path / "a.gz")]


def test_a_missing_file_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"Cannot read .*: No such file or directory"):
        JsonlReader(tmp_path / "a")


def test_a_folder_that_is_missing_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"Cannot write .*: No such file or directory"):
        JsonlWriter(tmp_path / "b" / "a")


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
def test_a_fault_keeps_the_old_file_and_the_new_lines_apart(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text("old")
    with pytest.raises(DataError) as caught:
        write(path, "1", "2", fault=DataError("broken."))
    assert caught.value.__notes__ == [f"The 2 lines done are in {path}.partial."]
    assert path.read_text() == "old"
    assert [line for _, line in JsonlReader(tmp_path / f"{name}.partial")] == [b"1\n", b"2\n"]


def test_a_fault_before_the_first_line_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        write(tmp_path / "a", fault=DataError("broken."))
    assert not hasattr(caught.value, "__notes__")
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_keeps_the_lines_and_stays_an_interrupt(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        write(tmp_path / "a.gz", "1", fault=KeyboardInterrupt())
    assert gzip.decompress((tmp_path / "a.gz.partial").read_bytes()) == b"1\n"


@pytest.fixture
def small_files() -> Iterator[None]:
    """No file of this process grows over 100 bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.usefixtures("small_files")
def test_a_disk_that_fills_up_leaves_whole_lines(tmp_path: Path) -> None:
    with pytest.raises(RodsError, match=r"Cannot write .*: File too large") as caught:
        write(tmp_path / "a", *["x" * 29] * 9)
    assert caught.value.__notes__ == [f"The 3 lines done are in {tmp_path / 'a'}.partial."]
    assert (tmp_path / "a.partial").read_text() == ("x" * 29 + "\n") * 3


def test_a_device_that_is_full_is_one_clear_error() -> None:
    with pytest.raises(RodsError, match="No space left for /dev/full"):
        write(Path("/dev/full"), "1")


def test_two_at_once_do_not_mix_their_lines(tmp_path: Path) -> None:
    with JsonlWriter(tmp_path / "v") as first:
        first.write("1")
        with pytest.raises(DataError, match="is being written by another process"):
            JsonlWriter(tmp_path / "v")
    assert (tmp_path / "v").read_text() == "1\n"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b'{"a": 1', "line 2 is no JSON: it ends in the middle, after character 7."),
        (b'{"a" 1}', "line 2 is no JSON: Expecting ':' delimiter at character 6."),
        (b'{"a": "\xff"}', "line 2 is no JSON: byte 8 is no UTF-8."),
    ],
)
def test_a_fault_has_one_number_of_a_line(tmp_path: Path, line: bytes, said: str) -> None:
    (tmp_path / "r").write_bytes(b"{}\n" + line + b"\n{}\n")
    reader = JsonlReader(tmp_path / "r")
    with pytest.raises(DataError) as caught:
        _ = [reader.parse(number, found) for number, found in reader]
    assert str(caught.value) == f"{tmp_path / 'r'} {said}"
