"""The command line as a whole: help, names, errors, and what is loaded."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from rods import __version__
from rods.cli import COMMANDS
from rods.testing import write_distribution

Rods = Callable[..., subprocess.CompletedProcess[str]]
LIGHT = ("dspy", "sqlmodel", "sqlalchemy", "torch", "pydantic", "numpy", "rich", "acme_tidy")


def test_help_names_every_command_and_shows_an_example(rods: Rods) -> None:
    done = rods("--help")
    assert done.returncode == 0
    assert all(f"  {name} " in done.stdout for name in COMMANDS)
    assert "tidy     (from acme-stockroom)" in done.stdout
    assert "rods run --plugins office,grpo-trl" in done.stdout


def test_the_version_is_printed(rods: Rods) -> None:
    assert rods("--version").stdout == f"rods {__version__}\n"


@pytest.mark.parametrize("code", ["import rods", "import rods.cli; rods.cli._extra_commands()"])
def test_nothing_heavy_is_loaded_before_a_command_runs(
    code: str, environment: dict[str, str]
) -> None:
    check = f"{code}\nimport sys\nprint([m for m in {LIGHT} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", check], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


def test_every_command_of_the_table_exists_and_explains_itself(rods: Rods) -> None:
    for name in COMMANDS:
        done = rods(name, "--help")
        assert done.returncode == 0, done.stderr
        assert f"Usage: rods {name}" in done.stdout
        assert "  rods " in done.stdout, f"`rods {name} --help` shows no example"


def test_an_unknown_command_comes_with_the_nearest_one(rods: Rods) -> None:
    done = rods("evla")
    assert done.returncode == 2
    assert "Error: No command 'evla'. Did you mean 'eval'?" in done.stderr


def test_a_plugin_adds_a_command(rods: Rods) -> None:
    assert rods("tidy").stdout == "tidied\n"


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("import nowhere", "cannot be imported: ModuleNotFoundError: No module named 'nowhere'"),
        ("break_it = 3", "is a int, expected a click command."),
    ],
)
def test_a_broken_command_of_a_plugin_is_one_line(
    rods: Rods, stockroom_path: Path, tmp_path: Path, source: str, reason: str
) -> None:
    points = {"rods.commands": {"break": "broken_command:break_it"}}
    path = write_distribution(
        tmp_path / "b", "acme-broken", points, modules={"broken_command.py": source}
    )
    done = rods("break", PYTHONPATH=f"{path}:{stockroom_path}")
    assert done.returncode == 2
    assert done.stderr == f"Error: Command 'break' (from acme-broken) {reason}\n"


def test_a_command_in_two_distributions_is_refused(
    rods: Rods, stockroom_path: Path, tmp_path: Path
) -> None:
    points = {"rods.commands": {"tidy": "other:tidy"}}
    path = write_distribution(tmp_path / "b", "other-tidy", points)
    done = rods("tidy", PYTHONPATH=f"{stockroom_path}:{path}")
    assert done.returncode == 2
    assert "(from acme-stockroom and other-tidy) is in several distributions" in done.stderr


def test_a_defect_is_one_line_and_a_traceback_only_with_debug(
    rods: Rods, stockroom_path: Path, tmp_path: Path
) -> None:
    source = "import click\n@click.command()\ndef fail(): raise KeyError('x\\ny')\n"
    points = {"rods.commands": {"fail": "failing:fail"}}
    path = write_distribution(tmp_path / "f", "acme-fail", points, modules={"failing.py": source})
    done = rods("fail", PYTHONPATH=str(path))
    assert done.returncode == 1
    assert done.stderr.startswith("Error: KeyError: ")
    assert len(done.stderr.splitlines()) == 1
    debug = rods("fail", "--debug", PYTHONPATH=str(path))
    assert debug.returncode == 1
    assert "Traceback (most recent call last)" in debug.stderr


@pytest.mark.parametrize("error", ["OSError(28, 'No space left on device')", "KeyboardInterrupt()"])
def test_a_full_disk_and_an_interruption_have_their_own_words(
    rods: Rods, tmp_path: Path, error: str
) -> None:
    source = f"import click\n@click.command()\ndef fail():\n    try: raise {error}\n"
    source += "    except OSError as e: raise ValueError('wrapped') from e\n"
    points = {"rods.commands": {"fail": "failing:fail"}}
    path = write_distribution(tmp_path / "f", "acme-fail", points, modules={"failing.py": source})
    done = rods("fail", PYTHONPATH=str(path))
    full = "Error: No space is left on the disk; make room, what was done is kept.\n"
    expected = (1, full) if "OSError" in error else (130, "\nInterrupted.\n")
    assert (done.returncode, done.stderr) == expected


@pytest.mark.parametrize(
    "arguments",
    [("run", "--plugins", "stockroom", "--out"), ("run", "--resume"), ("pool", "stats")],
)
def test_a_name_that_no_file_system_takes_is_one_line_and_status_two(
    here: Rods, arguments: tuple[str, ...]
) -> None:
    done = here(*arguments, "x" * 300)
    assert done.returncode == 2
    assert done.stderr.endswith("x...; give a shorter path.\n")
    assert done.stderr.count("\n") == 1
