"""The pages say what is so: snippets run, commands and hooks exist, links lead somewhere."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest

from rods import hookspecs
from rods.cli import rods as cli

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FENCE = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:)([^)#]+)")


def blocks(page: Path, language: str) -> list[str]:
    return [body for name, body in FENCE.findall(page.read_text()) if name == language]


def commands() -> list[str]:
    lines = (line for page in PAGES for block in blocks(page, "sh") for line in block.splitlines())
    return [line for line in lines if line.startswith("rods ")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_python_of_a_page_runs_from_top_to_bottom(page: Path) -> None:
    names: dict[str, object] = {"__name__": page.stem}
    for body in blocks(page, "python"):
        exec(compile(body, str(page), "exec"), names)


@pytest.mark.parametrize("line", commands())
def test_a_command_of_a_page_is_understood(line: str) -> None:
    words = shlex.split(line, comments=True)[1:]
    group: click.Command = cli
    with click.Context(group) as context:
        while isinstance(group, click.Group) and words and not words[0].startswith("-"):
            found = group.get_command(context, words.pop(0))
            assert found is not None, line
            group = found
        group.make_context(group.name, words)  # parses the options, runs nothing


def test_the_table_of_hooks_is_complete() -> None:
    page = (ROOT / "docs" / "plugins.md").read_text()
    listed = set(re.findall(r"^\| `(rods_\w+)` \|", page, re.MULTILINE))
    assert listed == {name for name in vars(hookspecs) if name.startswith("rods_")}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    broken = [t for t in LINK.findall(page.read_text()) if not (page.parent / t).exists()]
    assert not broken


@pytest.mark.parametrize("name", ["readme_tree.py", "option_tables.py"])
def test_what_a_script_writes_is_what_stands_there(name: str) -> None:
    script = [sys.executable, str(ROOT / "scripts" / name), "--check"]
    done = subprocess.run(script, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-d", str(tmp_path)]
    done = subprocess.run(build, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "options" / "index.html").exists()


def test_every_page_can_be_reached() -> None:
    listed = set(re.findall(r": (\w+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE))
    assert listed == {page.name for page in (ROOT / "docs").glob("*.md")}
