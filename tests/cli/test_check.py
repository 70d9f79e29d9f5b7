"""``rods check``: a table, a status, and one line for bad input."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from rods.testing import write_distribution
from rods.testing.conformance import CHECKS

Rods = Callable[..., subprocess.CompletedProcess[str]]


def test_a_sound_world_passes_with_one_row_a_check(here: Rods) -> None:
    done = here("check", "stockroom", "--limit", 8, "--sessions", 4)
    assert (done.returncode, done.stderr) == (0, "")
    count = len(CHECKS) + 1  # and in another process
    assert sum(line.startswith("ok  ") for line in done.stdout.splitlines()) == count
    assert f"stockroom: {count} of {count} hold" in done.stdout
    assert "snapshots native, determinism probed" in done.stdout


def test_json_holds_every_check_and_nothing_else_is_printed(here: Rods) -> None:
    done = here("check", "stockroom", "--limit", 8, "--sessions", 4, "--json")
    report = json.loads(done.stdout)
    assert report["ok"] is True
    assert len(report["checks"]) == len(CHECKS) + 1
    assert (report["snapshots"], report["determinism"]) == ("native", "probed")
    assert set(report["checks"][0]) == {"name", "ok", "skipped", "detail", "fix", "blocked_by"}


SLIPPING = """
import rods
from rods.testing import FakeEnvironment
from rods.testing.world import FakeSession

class Session(FakeSession):
    def call(self, call):
        self._state["stok"]
        return super().call(call)

class Slipping(FakeEnvironment):
    name = "slipping"
    def open(self, task):
        return Session(task.initial_state)

@rods.hookimpl
def rods_register_environments():
    return [Slipping]
"""


@pytest.fixture
def slipping(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A world with a slip in line 8 of its module."""
    points = {"rods": {"slipping": "slipping_world"}}
    modules = {"slipping_world.py": SLIPPING}
    monkeypatch.syspath_prepend(write_distribution(tmp_path / "s", "s", points, modules=modules))
    return "slipping"


def test_an_exception_of_a_world_is_told_once_and_counted_so(here: Rods, slipping: str) -> None:
    done = here("check", slipping, "--limit", 8, "--sessions", 4)
    (row,) = [line for line in done.stdout.splitlines() if line.startswith("FAIL")]
    assert "KeyError: 'stok' (slipping_world.py, line 8, in call); 8 of 8 tasks" in row
    skipped = [line for line in done.stdout.splitlines() if line.startswith("skip")]
    assert all("not checked: see 'reference runs without errors' above" in s for s in skipped)
    holds = len(CHECKS) - len(skipped)
    count = f"{holds} of {len(CHECKS) + 1} hold, 1 failed, {len(skipped)} not checked"
    assert f"slipping: {count}" in done.stdout
    assert (done.returncode, done.stderr) == (1, "")


def test_debug_shows_the_traceback_of_what_was_told(here: Rods, slipping: str) -> None:
    done = here("--debug", "check", slipping, "--limit", 4, "--json")
    assert "Traceback" in done.stderr
    assert 'slipping_world.py", line 8, in call' in done.stderr
    assert json.loads(done.stdout)["ok"] is False


def test_synthesis_in_a_world_that_slips_says_what_was_raised(here: Rods, slipping: str) -> None:
    done = here("synth", "--plugins", slipping, "-n", 2, "--out", "variants.jsonl")
    assert "in an exception: KeyError: 'stok' (slipping_world.py, line 8, in call)" in done.stderr


def test_a_world_that_fails_has_status_1_and_says_what_mends_it(
    here: Rods, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = """
import rods
from rods.testing import FakeEnvironment

class Leaky(FakeEnvironment):
    name = "leaky"
    def open(self, task):
        session = super().open(task)
        session._state = task.initial_state
        return session

@rods.hookimpl
def rods_register_environments():
    return [Leaky]
"""
    points = {"rods": {"leaky": "leaky_world"}}
    modules = {"leaky_world.py": source}
    monkeypatch.syspath_prepend(write_distribution(tmp_path / "d", "l", points, modules=modules))
    done = here("check", "leaky", "--limit", 8)
    assert done.returncode == 1
    assert "FAIL opening resets" in done.stdout
    assert "To do: deep-copy initial_state in open()" in done.stdout


@pytest.mark.parametrize(
    ("kind", "part", "count"),
    [
        ("trainers", "rods.testing.FakeTrainer", 5),
        ("selectors", "selectors.UniformSelector", 4),
        ("buffers", "buffers.StaticBuffer", 3),
    ],
)
def test_a_plugin_without_a_world_is_tested_by_what_it_brings(
    here: Rods, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, part: str, count: int
) -> None:
    source = f"""
import rods, rods.buffers as buffers, rods.selectors as selectors, rods.testing

class Mine({part}):
    name = "mine-{kind}"

@rods.hookimpl
def rods_register_{kind}():
    return [Mine]
"""
    points = {"rods": {f"only-{kind}": f"only_{kind}"}}
    modules = {f"only_{kind}.py": source}
    monkeypatch.syspath_prepend(write_distribution(tmp_path / "d", "o", points, modules=modules))
    done = here("check", f"only-{kind}")
    assert (done.returncode, done.stderr) == (0, "")
    assert f"mine-{kind}: {count} of {count} hold" in done.stdout


def test_options_reach_the_environment(here: Rods) -> None:
    done = here("check", "stockroom", "-o", "environment.outage_every=2", "--json", "--limit", 8)
    assert done.returncode == 1
    assert not json.loads(done.stdout)["ok"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("stockrom",), "No plugin 'stockrom' is installed. Did you mean 'stockroom'?"),
        (("stockroom", "-o", "environment.task=3"), "Did you mean 'tasks'?"),
        (("stockroom", "-o", "environment.tasks=0"), "environment.tasks = 0"),
        (("builtin",), "No environment is loaded"),
    ],
)
def test_bad_input_is_one_line_and_status_2(
    here: Rods, arguments: tuple[str, ...], said: str
) -> None:
    done = here("check", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1
