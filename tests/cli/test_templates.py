"""What ``rods new`` writes is whole: installed for real, it passes its tests, the kit and a run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from rods.errors import ConfigError
from rods.scaffold import KINDS, TEMPLATES, Spelling, write_plugin

ROOT = Path(__file__).parents[2]
NAMES = {
    "environment": "ox",
    "trainer": "long-name-of-a-trainer",
    "selector": "pick-2",
    "stage": "words",
}
INSTALLED = ("environment", "trainer")  # by pip; the others are only on the path
Rods = Callable[..., subprocess.CompletedProcess[str]]


def run(*command: object, cwd: Path, **variables: str) -> str:
    """What a module prints as a program, once it has succeeded."""
    words = [sys.executable, "-m", *map(str, command)]
    done = subprocess.run(
        words, cwd=cwd, env={**os.environ, **variables}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{words}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a plugin of each kind."""
    folder = tmp_path_factory.mktemp("written")
    for kind, name in NAMES.items():
        write_plugin(kind, name, folder)
    return folder


@pytest.fixture(scope="module")
def installed(written: Path) -> Path:
    """A folder into which pip has built two of them, without the network."""
    target = written.parent / f"{written.name}-installed"
    options = ("--quiet", "--no-deps", "--no-build-isolation", "--no-compile", "--target", target)
    run("pip", "install", *options, *(f"./{NAMES[kind]}" for kind in INSTALLED), cwd=written)
    return target


@pytest.mark.slow
@pytest.mark.timeout(900)  # builds packages, which a busy machine does slowly
def test_every_new_plugin_passes_its_tests(written: Path, installed: Path) -> None:
    others = [written / name for kind, name in NAMES.items() if kind not in INSTALLED]
    path = os.pathsep.join(map(str, [installed, *others]))
    tests = [f"{name}/tests" for name in NAMES.values()]
    options = ("-q", "-p", "no:cacheprovider", "-W", "error", "--rootdir", ".")
    assert " passed" in run("pytest", *options, *tests, cwd=written, PYTHONPATH=path)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_an_installed_world_and_trainer_pass_the_check_and_run_together(
    here: Rods, installed: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.syspath_prepend(installed)
    monkeypatch.setenv("PYTHONPATH", str(installed))
    for name in (NAMES[kind] for kind in INSTALLED):
        done = here("check", name)
        assert done.returncode == 0, done.stdout
    names = ",".join(NAMES[kind] for kind in INSTALLED)
    options = ("--out", "run", "--epochs", 2, "-o", "curriculum.epoch_size=8")
    done = here("run", "--plugins", names, *options)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "run" / "summary.json").exists()


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_what_is_written_is_strictly_typed(written: Path) -> None:
    path = os.pathsep.join([str(ROOT), *(str(written / name) for name in NAMES.values())])
    options = ("--strict", "--exclude", "build/", "--follow-imports", "silent")
    options += (
        "--config-file",
        str(ROOT / "pyproject.toml"),
        "--cache-dir",
        str(written / "cache"),
    )
    run("mypy", *options, *NAMES.values(), cwd=written, MYPYPATH=path)


@pytest.mark.parametrize("name", ["yk", "a-name-of-thirty-two-letters-abc"])
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_written_has_the_form_that_ruff_wants(kind: str, name: str, tmp_path: Path) -> None:
    write_plugin(kind, name, tmp_path)
    run("ruff", "check", ".", cwd=tmp_path / name)
    run("ruff", "format", "--check", ".", cwd=tmp_path / name)


# ------------------------------------------------------------------------------- writing
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_of_the_template_name_is_left(kind: str, tmp_path: Path) -> None:
    files = write_plugin(kind, "house-of-cards", tmp_path)
    old = Spelling(KINDS[kind])
    for path in files:
        text = f"{path.relative_to(tmp_path)}\n{path.read_text()}"
        assert not any(word in text for word in (old.name, old.module, old.title)), path
    assert {path.name for path in files} >= {"pyproject.toml", "README.md", "py.typed"}


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("My World", "cannot be a plugin's name"),
        ("my_world", "cannot be a plugin's name"),
        ("-x", "cannot be a plugin's name"),
        ("x" * 33, "cannot be a plugin's name"),
        ("../up", "cannot be a plugin's name"),
        ("class", "a word of Python itself"),
        ("calendar", "a word of Python itself"),
        ("builtin", "installed already"),
        ("numpy", "A module 'numpy' is installed already"),
    ],
)
def test_a_name_that_cannot_be_is_one_line_and_writes_nothing(
    name: str, said: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match=re.escape(said)) as refused:
        write_plugin("environment", name, tmp_path)
    assert "\n" not in str(refused.value)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_there_is_never_touched(tmp_path: Path) -> None:
    (tmp_path / "garden").mkdir()
    with pytest.raises(ConfigError, match="exists already"):
        write_plugin("environment", "garden", tmp_path)
    with pytest.raises(ConfigError, match="is no folder"):
        write_plugin("environment", "garden", tmp_path / "nowhere")
    assert [path.name for path in tmp_path.rglob("*")] == ["garden"]


# ------------------------------------------------------------------------------- the pages
SHOWN = re.compile(r"^`([\w./]+)`\n\n```\w+\n(.*?)^```", re.MULTILINE | re.DOTALL)


def shown(page: str) -> dict[str, str]:
    """File name -> what the page shows of it."""
    return dict(SHOWN.findall((ROOT / "docs" / page).read_text()))


def test_the_page_on_worlds_shows_the_files_that_are_written() -> None:
    files = shown("environments.md")
    code = {str(p.relative_to(TEMPLATES / "environment")): p for p in _files("environment")}
    assert files == {name: code[name].read_text() for name in files}
    assert set(files) == {n for n in code if not n.endswith(("README.md", "py.typed"))}


def test_the_page_on_plugins_shows_parts_of_the_files_that_are_written() -> None:
    page = (ROOT / "docs" / "plugins.md").read_text()
    known = {str(p.relative_to(TEMPLATES / kind)): p for kind in KINDS for p in _files(kind)}
    assert {n: known[n].read_text() for n in shown("plugins.md")} == shown("plugins.md")
    loop = re.search(r"^```py\n(    def train.*?)```", page, re.MULTILINE | re.DOTALL)
    assert loop is not None
    assert loop[1] in (TEMPLATES / "trainer" / "my_trainer" / "trainer.py").read_text()


def _files(kind: str) -> list[Path]:
    files = [path for path in (TEMPLATES / kind).rglob("*") if path.is_file()]
    made = ("__pycache__", ".ruff_cache", ".mypy_cache", ".pytest_cache")
    return [path for path in files if not set(made) & set(path.parts)]
