"""``rods run --resume`` of a folder that is no longer what the run left: it says so, and stops."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path

import pytest

from rods.assembly import assemble
from rods.config import to_toml
from rods.manifest import record_start
from rods.pool import Pool
from rods.run_dir import RunDir
from rods.runner import new_run

Rods = Callable[..., subprocess.CompletedProcess[str]]
RUN = ("run", "--plugins", "stockroom", "--out", "r")


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def lose_a_setting(path: Path) -> None:
    """The last one, so that what is left is valid TOML."""
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:-3]))


def garble(path: Path) -> None:
    path.write_text(path.read_text().replace("=", "@"))


def rename_a_table(path: Path) -> None:
    path.write_text(path.read_text().replace("[run]", "[rn]"))


def newer(path: Path) -> None:
    with closing(sqlite3.connect(path)) as pool, pool:
        pool.execute("UPDATE rods_schema SET version_num = '9999'")


def emptied(path: Path) -> None:
    path.unlink()
    Pool.open(f"sqlite:///{path}").close()


DAMAGES: Mapping[str, tuple[str, Callable[[Path], object], str]] = {
    "settings gone": ("config.toml", Path.unlink, "is no run's folder"),
    "settings cut": ("config.toml", cut, "it is cut short"),
    "a setting lost": ("config.toml", lose_a_setting, "it is cut short"),
    "settings garbled": ("config.toml", garble, "is not valid TOML"),
    "settings of others": ("config.toml", rename_a_table, "Unknown table 'rn'"),
    "pool gone": ("pool.sqlite", Path.unlink, "There is no pool at"),
    "pool cut": ("pool.sqlite", cut, "damaged"),
    "pool newer": ("pool.sqlite", newer, "has schema '9999', newer than"),
}
ENDED = {
    **DAMAGES,
    "pool of others": ("pool.sqlite", emptied, "is not the one that its summary counts."),
    "summary cut": ("summary.json", cut, "is not JSON"),
    "summary empty": ("summary.json", lambda p: p.write_text("{}"), "lacks 'epochs'"),
}


@pytest.fixture(scope="module")
def ended(stockroom_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of the command line."""
    folder = tmp_path_factory.mktemp("ended") / "r"
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(stockroom_path)
        new_run(assemble("stockroom"), folder).train()
    return folder


@pytest.fixture
def folder(ended: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(ended, tmp_path / "r"))


def refused(done: subprocess.CompletedProcess[str], said: str) -> None:
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert "--resume" not in done.stderr  # which would end the same way again


@pytest.mark.parametrize("damage", ENDED)
def test_a_finished_run_that_is_damaged_is_no_success(
    here: Rods, folder: Path, damage: str
) -> None:
    name, spoil, said = ENDED[damage]
    spoil(folder / name)
    refused(here("run", "--resume", "r"), said)


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_run_does_not_go_on_and_is_not_sent_round_in_a_circle(
    here: Rods, folder: Path, damage: str
) -> None:
    (folder / "summary.json").unlink()
    name, spoil, said = DAMAGES[damage]
    spoil(folder / name)
    refused(here("run", "--resume", "r"), said)


def test_a_whole_one_is_shown_and_one_without_a_summary_makes_it_again(
    here: Rods, folder: Path
) -> None:
    summary = json.loads((folder / "summary.json").read_text())
    assert json.loads(here("run", "--resume", "r", "--json").stdout) == summary
    (folder / "summary.json").unlink()
    done = here("run", "--resume", "r", "--json")
    assert {**json.loads(done.stdout), "seconds": 0, "folder": ""} == {
        **summary,
        "seconds": 0,
        "folder": "",
    }


def test_the_settings_that_are_kept_have_no_password(
    stockroom_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(stockroom_path)
    url = "postgresql+psycopg://me:secret@127.0.0.1:9/rods"
    assembly = assemble("stockroom", overrides=[f"pool.url={url}"])
    assert assembly.pool.url == url
    text = to_toml(assembly.resolved())
    assert "secret" not in text
    assert "postgresql+psycopg://me:***@127.0.0.1:9/rods" in text


def test_a_pool_that_cannot_be_reached_fails_the_preflight(here: Rods, tmp_path: Path) -> None:
    url = "pool.url=postgresql+psycopg://me:secret@127.0.0.1:9/rods"
    dry = here(*RUN, "-o", url, "--dry-run", "--json")
    assert dry.returncode == 1
    assert [c["name"] for c in json.loads(dry.stdout) if not c["ok"]] == ["pool"]
    done = here(*RUN, "-o", url)
    assert done.returncode == 2
    assert "pool: The pool postgresql+psycopg://me:***@127.0.0.1:9/rods cannot be used" in (
        done.stderr
    )
    assert not list(tmp_path.iterdir())


def test_the_command_that_is_kept_has_no_password(
    stockroom_path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.syspath_prepend(stockroom_path)
    run = RunDir.create(tmp_path / "r", "", seed=0)
    words = ("rods", "run", "-o", "pool.url=postgresql://me:secret@host/rods")
    record_start(run, assemble("stockroom").plugins, {}, words)
    run.close()
    kept = json.loads((tmp_path / "r" / "manifest.json").read_text())["starts"][0]["command"]
    assert kept == ["rods", "run", "-o", "pool.url=postgresql://me:***@host/rods"]
