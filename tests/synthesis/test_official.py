"""BFCL's own checker accepts the variants' references."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "synthesis.py"


@pytest.mark.slow
def test_the_official_checker_accepts_the_references() -> None:
    pytest.importorskip("rods_bfcl")
    child = subprocess.run(
        [sys.executable, str(BENCHMARK), "--per-seed", "1", "--official-sample", "400", "--json"],
        capture_output=True,
        text=True,
        check=True,
        timeout=280,
    )
    result = json.loads(child.stdout)
    assert result["official"]["checked"] >= 250
    assert result["official"]["refused"] == []
    assert set(result["distances"]) == {"0.0"}
    assert result["seeds_with_variants"] >= 0.85 * result["seeds"]
