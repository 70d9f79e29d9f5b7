"""``rods new``: what was written and how to try it, or one line."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from rods.cli.new import KINDS, TRY
from rods.scaffold import KINDS as TEMPLATES

Rods = Callable[..., subprocess.CompletedProcess[str]]


def test_the_command_offers_what_there_are_templates_of() -> None:
    assert tuple(TEMPLATES) == KINDS == tuple(TRY)


def test_the_files_and_the_next_steps_are_shown(here: Rods, tmp_path: Path) -> None:
    (tmp_path / "my plugins").mkdir()
    done = here("new", "environment", "tea-house", "--dir", "my plugins")
    assert (done.returncode, done.stderr) == (0, "")
    assert "my plugins/tea-house is a complete environment with 7 files:" in done.stdout
    assert "  tea_house/world.py\n" in done.stdout
    assert "pip install -e 'my plugins/tea-house[dev]'" in done.stdout
    assert "rods check tea-house" in done.stdout
    assert (tmp_path / "my plugins" / "tea-house" / "tea_house" / "world.py").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("environment", "Tea"), "cannot be a plugin's name"),
        (("environment", "stockroom"), "A plugin 'stockroom' is installed already"),
        (("world", "tea"), "'world' is not one of"),
        (("environment",), "Missing argument 'NAME'"),
        (("environment", "tea", "--dir", "nowhere"), "nowhere is no folder"),
    ],
)
def test_bad_input_is_one_line_and_writes_nothing(
    here: Rods, tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    done = here("new", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []
