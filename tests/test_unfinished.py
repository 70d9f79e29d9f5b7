"""What an interrupted evaluation left is taken up whole, or not at all."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from rods.errors import DataError
from rods.jsonl import dump_line
from rods.run_dir import group_record
from rods.testing import FakeEnvironment, play, reference
from rods.types import RolloutGroup
from rods.unfinished import Unfinished, policy_stamp, unfinished

WORLD = FakeEnvironment()
TASKS = WORLD.tasks("eval")
TERMS = {"samples": 1, "seed": 0}


def groups(count: int) -> list[RolloutGroup]:
    return [
        RolloutGroup(entry_id=t.id, task=t, rollouts=(play(WORLD, t, reference),))
        for t in TASKS[:count]
    ]


def left(folder: Path, lines: list[str], name: str = "r.jsonl") -> Unfinished:
    """What a call under TERMS leaves when it is killed after these lines."""
    out = folder / name
    text = "".join(lines).encode()
    unfinished(out, TERMS).begin()
    (folder / f"{name}.partial").write_bytes(gzip.compress(text) if name[-1] == "z" else text)
    return unfinished(out, TERMS)


@pytest.fixture
def lines() -> list[str]:
    return [dump_line(group_record(group, step=0)) + "\n" for group in groups(5)]


@pytest.mark.parametrize("name", ["r.jsonl", "r.jsonl.gz"])
def test_whole_parts_come_back_as_they_were_played(
    tmp_path: Path, lines: list[str], name: str
) -> None:
    found = left(tmp_path, [*lines[:-1], lines[-1][:40]], name)
    assert found.groups(TASKS, part=3) == groups(3)
    assert len(found.lines) == 3  # the rest of a part is played again, with the part's seed


def test_a_packed_file_that_a_kill_cut_gives_what_is_whole(
    tmp_path: Path, lines: list[str]
) -> None:
    left(tmp_path, lines, "r.gz")
    partial = tmp_path / "r.gz.partial"
    sixth = dump_line(group_record(groups(6)[-1], step=0)).encode()
    block = gzip.compress(sixth)
    partial.write_bytes(partial.read_bytes() + block[: len(block) // 2])
    assert unfinished(tmp_path / "r.gz", TERMS).groups(TASKS, part=1) == groups(5)


def test_rollouts_of_other_terms_are_neither_taken_nor_lost(
    tmp_path: Path, lines: list[str]
) -> None:
    found = left(tmp_path, lines)
    before = found.partial.read_bytes()
    with pytest.raises(DataError, match="with other settings"):
        unfinished(found.out, {**TERMS, "seed": 1})
    found.card.write_text("[]")
    with pytest.raises(DataError, match="with other settings"):
        unfinished(found.out, TERMS)
    assert found.partial.read_bytes() == before
    assert unfinished(found.out, TERMS, anew=True).lines == []


def test_lines_of_other_tasks_are_named(tmp_path: Path, lines: list[str]) -> None:
    with pytest.raises(DataError, match="was expected"):
        left(tmp_path, lines[1:]).groups(TASKS, part=1)
    broken = json.dumps({**json.loads(lines[0]), "rollouts": 3}) + "\n"
    with pytest.raises(DataError, match="is damaged"):
        left(tmp_path, [broken]).groups(TASKS, part=1)


def test_a_policy_that_was_trained_on_is_another_one(tmp_path: Path) -> None:
    (tmp_path / "weights").write_text("1")
    before = policy_stamp(tmp_path)
    assert policy_stamp(tmp_path) == before
    (tmp_path / "weights").write_text("12")
    assert policy_stamp(tmp_path) != before
