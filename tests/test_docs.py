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
from rods.assembly import assemble
from rods.cli import rods as cli
from rods.types import Stage

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


def synthesis_files() -> list[str]:
    files = (block for page in PAGES for block in blocks(page, "toml"))
    return [text for text in files if "[synthesis" in text]


@pytest.mark.parametrize("text", synthesis_files())
def test_a_file_of_a_page_sets_the_synthesis(text: str, tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text(text)
    parts = assemble(config=path)  # refuses tables and keys that there are not
    parts.config("synthesizer")
    assert parts.synthesis.lm.used


def test_the_example_with_all_kinds_of_tables_means_what_it_says(tmp_path: Path) -> None:
    path = tmp_path / "models.toml"
    path.write_text(blocks(ROOT / "docs" / "models.md", "toml")[0])
    parts = assemble(config=path)
    lm = parts.synthesis.lm
    said = {
        stage: [(m.model[0], m.url.split("/")[2], m.temperature, m.price_in) for m in lm.of(stage)]
        for stage in (Stage.PLAN, Stage.REWRITE, Stage.CRITIQUE)
    }
    writer = ("openai/writer-32b", "localhost:8000", 0.8, 0.2)
    judges = [(f"openai/judge-{one}", "models.example", 0.0, 1.0) for one in "abc"]
    assert said == {
        Stage.PLAN: [writer],
        Stage.REWRITE: [writer, ("openai/writer-7b", "localhost:8001", 0.8, 0.05)],
        Stage.CRITIQUE: judges,
    }
    assert parts.config("synthesizer").judging.judges == len(judges)


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
