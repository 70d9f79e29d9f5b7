"""``rods tasks``: every id that the other commands know, and no others."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable

import pytest

from rods.testing import FakeEnvironment

Rods = Callable[..., subprocess.CompletedProcess[str]]
WORLD = FakeEnvironment()


def test_both_splits_are_listed_with_what_the_tasks_hold(here: Rods) -> None:
    done = here("tasks", "--plugins", "stockroom")
    assert (done.returncode, done.stderr) == (0, "")
    for task in (*WORLD.tasks("train"), *WORLD.tasks("eval")):
        assert task.id in done.stdout


def test_scripts_get_all_tasks_of_a_split_and_a_kind(here: Rods) -> None:
    words = ("tasks", "--plugins", "stockroom", "-o", "environment.tasks=240", "--json")
    everything = json.loads(here(*words).stdout)
    assert len(everything) == 480
    found = json.loads(here(*words, "--split", "eval", "--kind", "miss_func").stdout)
    assert {(row["split"], row["kind"]) for row in found} == {("eval", "miss_func")}
    task = next(t for t in WORLD.tasks("train") if t.kind == "miss_func")
    row = next(row for row in everything if row["id"] == task.id)
    handed_over = {name for turn in task.turns for name in turn.reveals}
    assert handed_over
    assert row == {
        "id": task.id,
        "split": "train",
        "kind": "miss_func",
        "turns": len(task.turns),
        "calls": task.reference_calls,
        "tools": len(handed_over.union(task.tools)),
    }


def test_a_long_list_is_cut_and_says_so(here: Rods) -> None:
    done = here("tasks", "--plugins", "stockroom", "--limit", 3)
    assert done.stderr == "The first 3 of 16; --limit 0 lists all.\n"
    assert here("tasks", "--plugins", "stockroom", "--limit", 0).stderr == ""


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "No plugin is named"),
        (("--plugins", "stokroom"), "Did you mean 'stockroom'?"),
        (("--plugins", "grpo-trl"), "environment"),
        (("--plugins", "stockroom", "--split", "test"), "Invalid value for '--split'"),
        (("--plugins", "stockroom", "--kind", "miss"), "Invalid value for '--kind'"),
        (("--config", "no.toml"), "Cannot read no.toml"),
        (("--plugins", "stockroom", "--limit", "-1"), "-1 is not in the range"),
    ],
)
def test_bad_input_is_one_line(here: Rods, arguments: tuple[str, ...], said: str) -> None:
    done = here("tasks", *arguments)
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)
    assert said in done.stderr


def test_a_kind_that_a_world_has_not_is_no_empty_list(here: Rods) -> None:
    few = ("--plugins", "stockroom", "-o", "environment.tasks=1")
    done = here("tasks", *few, "--kind", "miss_func")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "Error: stockroom has no such task; the kinds there are: base.\n"
