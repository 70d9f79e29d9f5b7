"""``rods eval --suite`` and named splits: what one policy is evaluated on."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from rods.testing import FakeTrainer

Rods = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    FakeTrainer(FakeTrainer.Config(skill=0.6)).save(tmp_path / "policy")
    return tmp_path / "policy"


def evaluate(
    here: Rods, suite: str, policy: Path, *more: object
) -> subprocess.CompletedProcess[str]:
    trainer = ("--plugins", "stockroom", "-o", "trainer.name=slow")
    return here("eval", "--suite", suite, *trainer, "--policy", policy, "-k", 2, *more)


def test_every_row_is_played_in_its_own_settings(here: Rods, policy: Path) -> None:
    report = json.loads(evaluate(here, "stock", policy, "--json").stdout)
    assert [(row["label"], row["n"]) for row in report["rows"]] == [
        ("small stockroom", 4),
        ("larger stockroom", 8),
    ]
    assert all(row["progress_ci"] for row in report["rows"])


def test_the_table_says_by_what_protocol(here: Rods, policy: Path) -> None:
    done = evaluate(here, "stock", policy)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("protocol") == 2
    assert "small stockroom" in done.stdout


def test_what_doing_nothing_solves_stands_apart_below_the_world(here: Rods, policy: Path) -> None:
    done = evaluate(here, "flagged", policy)
    lines = [line.split() for line in done.stdout.splitlines()]
    assert [line[:4] for line in lines if line[:2] == ["of", "these"]] == [
        ["of", "these", "idle", "1"]
    ]
    assert "doing nothing solves them" in done.stdout
    assert "doing nothing" not in evaluate(here, "stock", policy).stdout


@pytest.mark.parametrize(("suite", "why"), [("down", "no stockroom"), ("wrong", "odd stockroom")])
def test_a_row_that_cannot_be_played_is_said_and_the_others_stand(
    here: Rods, policy: Path, suite: str, why: str
) -> None:
    done = evaluate(here, suite, policy, "--json")
    assert done.returncode == 1
    played, missing = json.loads(done.stdout)["rows"]
    assert played["n"] == 4
    assert missing["label"] == why
    assert missing.get("error") or not missing["n"]


def test_each_row_keeps_its_rollouts_in_a_file_of_the_folder(
    here: Rods, policy: Path, tmp_path: Path
) -> None:
    assert evaluate(here, "stock", policy, "--out", "kept").returncode == 0
    assert sorted(path.name for path in (tmp_path / "kept").iterdir()) == [
        "larger-stockroom.jsonl.gz",
        "small-stockroom.jsonl.gz",
    ]


def test_a_setting_can_be_for_one_world_alone(here: Rods, policy: Path) -> None:
    for setting, sizes in (("environment:stockroom.tasks=5", [5, 5]), ("run.seed=4", [4, 8])):
        done = evaluate(here, "stock", policy, "--json", "-o", setting)
        assert [row["n"] for row in json.loads(done.stdout)["rows"]] == sizes
    nobody = evaluate(here, "stock", policy, "-o", "environment:stokroom.tasks=5")
    assert nobody.returncode == 2
    assert "Did you mean 'stockroom'?" in nobody.stderr


def test_bad_input_is_one_line(here: Rods, policy: Path, tmp_path: Path) -> None:
    unknown = evaluate(here, "stocks", policy)
    assert (unknown.returncode, unknown.stdout) == (2, "")
    assert "Did you mean 'stock'?" in unknown.stderr
    (tmp_path / "file").touch()
    assert "--out is a folder" in evaluate(here, "stock", policy, "--out", "file").stderr
    nobody = here("eval", "--suite", "stock", "--plugins", "stockroom")
    assert "--suite needs --policy" in nobody.stderr


def test_a_split_that_the_world_names_is_its_eval_split_set_otherwise(
    here: Rods, policy: Path
) -> None:
    play = ("eval", "--plugins", "stockroom", "-o", "trainer.name=slow", "--policy", policy)
    report = json.loads(here(*play, "-k", 1, "--split", "few", "--json").stdout)
    assert (report["split"], report["n"]) == ("few", 2)
    assert json.loads(here(*play, "-k", 1, "--json").stdout)["n"] == 8


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--split", "fwe"), "stockroom has no split 'fwe'. Did you mean 'few'?"),
        (
            ("--split", "few", "-o", "environment.tasks=4"),
            "-o environment.tasks=4: --split few sets environment.tasks itself; leave one of them "
            "out.",
        ),
    ],
)
def test_a_split_that_cannot_be_is_one_line(
    here: Rods, policy: Path, more: tuple[str, ...], said: str
) -> None:
    trainer = ("--plugins", "stockroom", "-o", "trainer.name=slow")
    done = here("eval", *trainer, "--policy", policy, *more)
    assert (done.returncode, done.stderr) == (2, f"Error: {said}\n")
