"""An installation without extras runs whatever needs none."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

Rods = Callable[..., subprocess.CompletedProcess[str]]
WITHOUT = """
import sys
from importlib.machinery import PathFinder

class Without(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        gone = name.partition(".")[0] in {modules}
        return None if gone else super().find_spec(name, path, target)

sys.meta_path[sys.meta_path.index(PathFinder)] = Without
"""


def needed(distribution: str, seen: set[str]) -> set[str]:
    """The distributions that pip installs with this one, without extras."""
    if distribution in seen:
        return seen
    seen.add(distribution)
    try:
        wanted = [Requirement(text) for text in requires(distribution) or ()]
    except PackageNotFoundError:  # not for this platform
        return seen
    for one in wanted:
        if one.marker is None or one.marker.evaluate({"extra": ""}):
            needed(canonicalize_name(one.name), seen)
    return seen


def surplus() -> Iterator[str]:
    """Top-level modules that are installed here and that rods alone would not bring."""
    base = {*needed("rods", set()), "acme-stockroom"}
    for module, owners in packages_distributions().items():
        if not base & {canonicalize_name(owner) for owner in owners}:
            yield module


@pytest.fixture
def bare(rods: Rods, tmp_path_factory: pytest.TempPathFactory, stockroom_path: Path) -> Rods:
    """``rods`` where nothing else is installed."""
    folder = tmp_path_factory.mktemp("bare")
    gone = {name for name in surplus() if re.fullmatch(r"\w+", name)}
    assert {"dspy", "openai", "tenacity", "torch", "mcp"} <= gone
    (folder / "sitecustomize.py").write_text(WITHOUT.format(modules=gone))

    def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        return rods(*arguments, PYTHONPATH=f"{folder}:{stockroom_path}")

    return run


@pytest.mark.slow
def test_the_loop_and_what_belongs_to_it_need_no_extra(bare: Rods) -> None:
    world = ("--plugins", "stockroom")
    commands = [
        ("run", *world, "--out", "run"),
        ("run", "--resume", "run"),
        ("eval", "--policy", "run/policy", "-k", 1),
        ("synth", *world, "-n", 2, "--out", "variants.jsonl"),
        ("tasks", *world),
        ("pool", "stats", "run"),
        ("plot", "run", "--json"),
        ("pool", "export", "run", "--out", "p.jsonl"),
        ("synth", "--from-rollouts", "run", "--seeds", "p.jsonl", "-n", 2, "--out", "v.jsonl"),
        ("plugins", "show", "stockroom"),
        ("check", "stockroom"),
        ("new", "environment", "my-world"),
    ]
    for command in commands:
        done = bare(*command)
        assert done.returncode == 0, f"{command}: {done.stderr}"


def test_what_needs_an_extra_says_which(bare: Rods) -> None:
    world = ("--plugins", "stockroom")
    for command, extra in (
        (("synth", *world, "--lm", "openai/x", "--lm-url", "http://x", "--out", "v"), "rods[lm]"),
        (("eval", *world, "--policy", "openai/x", "--lm-url", "http://x"), "rods[served]"),
        (("serve", "stockroom"), "rods[serve]"),
        (("tune", *world, "--lm", "smollm2"), "rods[lm]"),
    ):
        done = bare(*command)
        assert done.returncode == 2, command
        assert extra in done.stderr
        assert "ModuleNotFoundError" not in done.stderr
