"""``rods plugins``: the list from metadata, the options from the classes."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

from rods.testing import write_distribution

Rods = Callable[..., subprocess.CompletedProcess[str]]


def test_the_list_names_distribution_and_version_and_imports_nothing(
    rods: Rods, stockroom_path: Path, tmp_path: Path
) -> None:
    points = {"rods": {"bomb": "bomb"}}
    path = write_distribution(
        tmp_path / "b", "acme-bomb", points, modules={"bomb.py": "raise SystemExit(9)"}
    )
    done = rods("plugins", "--json", PYTHONPATH=f"{stockroom_path}:{path}")
    listed = {entry["name"]: entry for entry in json.loads(done.stdout)}
    assert listed["bomb"]["distribution"] == "acme-bomb"
    assert listed["stockroom"]["version"] == "1.0"
    assert listed["builtin"]["distribution"] == "rods"
    assert "acme-stockroom" in rods("plugins").stdout


def test_show_prints_every_option_with_default_and_meaning(rods: Rods) -> None:
    done = rods("plugins", "show", "stockroom")
    assert done.returncode == 0
    assert "environment stockroom, snapshots native, determinism probed: The fake" in done.stdout
    assert "trainer slow: The trainer without a model" in done.stdout
    row = next(line for line in done.stdout.splitlines() if "trainer.group_size" in line)
    assert row.split()[:3] == ["trainer.group_size", "4", "int"]
    assert "Rollouts of one prompt (K)." in row


def test_show_as_json_is_complete(rods: Rods) -> None:
    parts = json.loads(rods("plugins", "show", "builtin", "--json").stdout)
    by_name = {(part["kind"], part["name"]): part for part in parts}
    options = {o["key"]: o for o in by_name["selector", "boundary"]["options"]}
    assert options["alpha_low"]["default"] == 0.2
    assert all(o["description"] for part in parts for o in part["options"])


def test_an_unknown_plugin_is_one_line(rods: Rods) -> None:
    done = rods("plugins", "show", "stokroom")
    assert done.returncode == 2
    assert done.stderr == ("Error: No plugin 'stokroom' is installed. Did you mean 'stockroom'?\n")
