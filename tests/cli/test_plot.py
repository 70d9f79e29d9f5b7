"""``rods plot``: a run's folder alone gives the figure and its series, finished or not."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rods.plots.averages import moving_mean, moving_shares
from tests.cli.conftest import one_line

Rods = Callable[..., subprocess.CompletedProcess[str]]
PNG = b"\x89PNG"


@pytest.fixture(scope="module")
def played(stockroom_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run that has ended."""
    folder = tmp_path_factory.mktemp("plots") / "first"
    command = [sys.executable, "-m", "rods", "run", "--plugins", "stockroom", "--out", folder]
    settings = ["-o", "environment.tasks=8", "-o", "trainer.prompts_per_step=4"]
    subprocess.run(
        [*map(str, command), *settings],
        env={**os.environ, "PYTHONPATH": str(stockroom_path)},
        check=True,
        capture_output=True,
        timeout=120,
    )
    return folder


@pytest.fixture
def run(played: Path, tmp_path: Path) -> Path:
    """A copy of the run to do things to."""
    return shutil.copytree(played, tmp_path / "first")


def series(here: Rods, *arguments: object) -> Any:
    done = here("plot", *arguments, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)["runs"]


def metrics(run: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]


def edit(run: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Every step of the run changed."""
    steps = metrics(run)
    for step in steps:
        change(step)
    (run / "metrics.jsonl").write_text("".join(json.dumps(step) + "\n" for step in steps))


def drawn(here: Rods, *arguments: object) -> str:
    """The texts of the figure; its SVG repeats each one in a comment."""
    done = here("plot", *arguments, "--out", "figure.svg", "--force")
    assert done.returncode == 0, done.stderr
    return Path("figure.svg").read_text()


# ------------------------------------------------------------------------------- what is shown
def test_the_series_are_those_of_the_run(here: Rods, run: Path) -> None:
    (shown,) = series(here, run)
    steps, summary = metrics(run), json.loads((run / "summary.json").read_text())
    assert (shown["label"], shown["world"], shown["policy"]) == ("first", "stockroom", "slow")
    assert shown["reward"] == [step["reward"] for step in steps]
    assert shown["epoch"] == [step["epoch"] for step in steps]
    assert shown["groups"]["hard"] == [step["regions"]["hard"] for step in steps]
    assert [epoch["epoch"] for epoch in shown["epochs"]] == list(range(summary["epochs"]))
    assert sum(epoch["injected"] for epoch in shown["epochs"]) == summary["injected"] > 0
    assert sum(epoch["retired"] for epoch in shown["epochs"]) == summary["retired"]
    assert shown["epochs"][-1]["pool"] == steps[-1]["pool"]
    assert shown["synthesis"]["admitted"][-1] == steps[-1]["funnel"]["admitted"]["total"] > 0
    expected = {key: summary["eval"][key] for key in shown["held_out"]}
    assert shown["held_out"] == expected


def test_the_shares_of_the_regions_add_up_to_one(here: Rods, run: Path) -> None:
    (shown,) = series(here, run, "--window", 2)
    parts = zip(*(shown["shares"][name] for name in ("hard", "boundary", "mastered")), strict=True)
    assert [sum(part) for part in parts] == pytest.approx([1.0] * len(shown["step"]))


def test_equal_runs_give_equal_files(here: Rods, run: Path) -> None:
    assert drawn(here, run) == drawn(here, run)


def test_the_ending_of_the_file_chooses_its_form(here: Rods, run: Path) -> None:
    done = here("plot", run, "--out", "figure.PDF")
    assert (done.returncode, done.stdout) == (0, "The figure is in figure.PDF.\n")
    figure = Path("figure.PDF").read_bytes()
    assert figure.startswith(b"%PDF")
    assert b"CreationDate" not in figure  # equal runs give equal files


def test_a_figure_names_world_policy_and_what_its_axes_count(here: Rods, run: Path) -> None:
    texts = drawn(here, run)
    steps = len(metrics(run))
    assert f"<!-- first: world stockroom, policy slow, step {steps} of {steps} -->" in texts
    for text in (
        "training step",
        "training reward (0 to 1)",
        "epoch 1",
        "share of groups",
        "without variance",
        "tasks",
        "attempts so far",
        "rejected: critique",
        "held-out progress (0 to 1)",
        "before + 95 % interval of gain",
        "all, 8 tasks: gain ",
        "miss_func, 2 tasks: gain ",
    ):
        assert f"<!-- {text}" in texts


# ------------------------------------------------------------------------------- unfinished runs
def test_a_run_that_is_still_training_is_shown_as_far_as_it_came(here: Rods, run: Path) -> None:
    (run / "summary.json").unlink()
    (run / "evaluation" / "after.jsonl.gz").unlink()
    lines = (run / "metrics.jsonl").read_bytes().splitlines(keepends=True)
    (run / "metrics.jsonl").write_bytes(b"".join(lines[:3]) + lines[3][:40])
    (shown,) = series(here, run)
    assert shown["step"] == [1, 2, 3]
    assert shown["steps_planned"] == len(lines)
    assert (shown["held_out"]["n"], shown["held_out"]["after"]) == (8, None)
    assert f"step 3 of {len(lines)}" in drawn(here, run)


def test_the_evaluations_of_an_interrupted_run_are_paired(here: Rods, run: Path) -> None:
    (finished,) = series(here, run)
    (run / "summary.json").unlink()
    (interrupted,) = series(here, run)
    assert interrupted["held_out"] == finished["held_out"]
    assert interrupted["kinds"] == finished["kinds"]


def test_a_run_of_one_step_without_evaluation_is_drawn(here: Rods, run: Path) -> None:
    (run / "summary.json").unlink()
    shutil.rmtree(run / "evaluation")
    first = (run / "metrics.jsonl").read_bytes().splitlines(keepends=True)[0]
    (run / "metrics.jsonl").write_bytes(first)
    assert "<!-- not measured yet -->" in drawn(here, run)


def test_a_step_that_an_outage_ended_is_a_gap_and_no_zero(here: Rods, run: Path) -> None:
    def outage(step: dict[str, Any]) -> None:
        if step["step"] == 2:
            step["reward"] = 0.0
            step["regions"] = {"unscored": 4}

    edit(run, outage)
    (shown,) = series(here, run, "--window", 1)
    assert [reward is None for reward in shown["reward"][:3]] == [False, True, False]
    assert shown["reward_mean"][1] is None
    assert shown["shares"]["hard"][1] is None
    assert drawn(here, run)


def test_a_run_whose_pool_is_gone_is_shown_without_what_was_injected(here: Rods, run: Path) -> None:
    (run / "pool.sqlite").unlink()
    done = here("plot", run, "--json")
    assert done.returncode == 0
    assert one_line(done).startswith("Without what was injected: ")
    (shown,) = json.loads(done.stdout)["runs"]
    assert {epoch["injected"] for epoch in shown["epochs"]} == {None}
    assert "injected so far" not in drawn(here, run)


def test_a_moving_mean_passes_over_what_has_no_value() -> None:
    assert moving_mean([1.0, None, 0.0, None, None], 2) == [1.0, 1.0, 0.0, 0.0, None]
    assert moving_shares([1, 0, 3], [4, 0, 4], 2) == [0.25, 0.25, 0.75]


# ------------------------------------------------------------------------------- several runs
def test_runs_over_each_other_are_named_by_what_tells_their_folders_apart(
    here: Rods, run: Path, tmp_path: Path
) -> None:
    for name in ("a/same", "b/same", "_hidden", "a$^$b"):
        shutil.copytree(run, tmp_path / name)
    folders = ("a/same", "b/same", "_hidden", "a$^$b")
    assert [one["label"] for one in series(here, *folders)] == list(folders)
    texts = drawn(here, *folders)
    for name in folders:
        assert f"<!-- {name} -->" in texts
        assert f"<!-- {name}, 8 tasks: " in texts


def test_runs_of_several_policies_are_named_by_them(here: Rods, run: Path, tmp_path: Path) -> None:
    other = shutil.copytree(run, tmp_path / "other")
    config = (other / "config.toml").read_text()
    assert '[trainer]\nname = "slow"\n' in config
    config = config.replace("[trainer]\n", '[trainer]\nmodel = "/models/Large-4B"\n', 1)
    (other / "config.toml").write_text(config)
    texts = drawn(here, run, other)
    assert "<!-- world stockroom, 2 policies -->" in texts
    assert "<!-- first: slow -->" in texts
    assert "<!-- other: Large-4B (slow) -->" in texts


# ------------------------------------------------------------------------------- files
def test_the_figure_of_a_run_lies_in_its_folder_and_is_made_anew(here: Rods, run: Path) -> None:
    (run / "plots.png").write_text("of an earlier step")
    done = here("plot", run)
    assert (done.returncode, done.stdout) == (0, f"The figure is in {run / 'plots.png'}.\n")
    assert (run / "plots.png").read_bytes().startswith(PNG)


def test_another_file_is_replaced_only_with_force(here: Rods, run: Path) -> None:
    Path("mine.png").write_text("mine")
    done = here("plot", run, "--out", "mine.png")
    assert (done.returncode, Path("mine.png").read_text()) == (2, "mine")
    assert "--force" in one_line(done)
    assert here("plot", run, "--out", "mine.png", "--force").returncode == 0
    assert Path("mine.png").read_bytes().startswith(PNG)


def test_without_matplotlib_the_series_are_there_and_the_figure_says_what_it_needs(
    here: Rods, run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert series(here, run)
    done = here("plot", run)
    assert done.returncode == 2
    assert one_line(done) == "Error: Figures need matplotlib: pip install 'rods[plots]'."


# ------------------------------------------------------------------------------- faults
def damaged(line: str) -> Callable[[Path], object]:
    """Writes the line as the run's second one."""
    return lambda run: (run / "metrics.jsonl").write_text(
        (run / "metrics.jsonl").read_text().partition("\n")[0] + f"\n{line}\n"
    )


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (shutil.rmtree, "no run's folder"),
        (lambda run: (run / "config.toml").unlink(), "no run's folder"),
        (lambda run: (run / "metrics.jsonl").unlink(), "has no training step yet"),
        (lambda run: (run / "metrics.jsonl").write_text('{"st'), "has no training step yet"),
        (damaged("[1]"), "line 2 is no training step"),
        (damaged("{{"), "line 2 is damaged"),
        (damaged('{"step": "often"}'), "is no training step (step: "),
        (lambda run: (run / "summary.json").write_text("{}"), "summary.json"),
        (lambda run: (run / "summary.json").write_text('{"eval": {"n": 1}}'), "is damaged"),
    ],
)
def test_a_fault_of_the_folder_is_one_line(
    here: Rods, run: Path, damage: Callable[[Path], object], said: str
) -> None:
    damage(run)
    done = here("plot", run, "--out", "figure.png")
    assert done.returncode == 2
    assert said in one_line(done)
    assert not Path("figure.png").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("first", "--out", "figure.jpg"), ".png, .svg, .pdf"),
        (("first", "--out", "figure"), ".png, .svg, .pdf"),
        (("first", "--out", "nowhere/figure.png"), "nowhere is no folder"),
        (("first", "--out", "figure.png", "--json"), "leave out --out"),
        (("first", "first"), "--out"),
        (("first",) * 9, "8 can"),
        (("first", "--window", "0"), "--window"),
        (("",), "path is empty"),
        ((), "RUN"),
    ],
)
def test_a_fault_of_usage_is_one_line(
    here: Rods, run: Path, arguments: tuple[str, ...], said: str
) -> None:
    done = here("plot", *arguments)
    assert done.returncode == 2
    assert said in one_line(done)
