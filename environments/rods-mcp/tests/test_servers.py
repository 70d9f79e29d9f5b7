"""Servers that nobody here wrote pass the conformance kit, driven for real."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from filelock import FileLock
from rods_mcp.environment import McpEnvironment

from rods.structure.constants import constants
from rods.structure.distance import distance
from rods.structure.profile import profile
from rods.structure.sources import Labeller
from rods.structure.trace import replay
from rods.synthesis.skill_aligned import SkillAlignedSynthesizer
from rods.testing import check_environment
from rods.types import ComplexityProfile, Task
from rods.wheels import cache_folder

from .conftest import World

NPM = {
    "@modelcontextprotocol/server-memory": "2026.8.31",
    "@modelcontextprotocol/server-filesystem": "2026.8.31",
}
PYTHON = {"git": "mcp_server_git", "tau2-mock": "tau2_mock_mcp.server"}
FEW = {"n_train": 2, "n_eval": 1, "probe": True}

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]


@pytest.fixture(scope="session")
def npm() -> Path:
    """The folder of the npm servers in the cache, installed once."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        pytest.skip("node and npm are not installed, which these servers need")
    folder = cache_folder() / "mcp-servers"
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / ".lock"):
        missing = [f"{name}@{pin}" for name, pin in NPM.items() if installed(folder, name) != pin]
        if missing:
            command = ["npm", "install", "--no-audit", "--no-fund", "--prefix", str(folder)]
            subprocess.run([*command, *missing], check=True, capture_output=True, timeout=900)
    return folder


def installed(folder: Path, name: str) -> str:
    manifest = folder / "node_modules" / name / "package.json"
    return str(json.loads(manifest.read_text())["version"]) if manifest.exists() else ""


def node(folder: Path, name: str) -> str:
    return f"node {folder}/node_modules/@modelcontextprotocol/{name}/dist/index.js"


def conforms(environment: McpEnvironment) -> None:
    failed = [c for c in check_environment(environment, sessions=4) if not c.ok]
    assert not failed, failed


@pytest.mark.parametrize("name", ["server-memory", "server-filesystem"])
def test_a_node_server_conforms(name: str, npm: Path, world: World) -> None:
    conforms(world(server=node(npm, name), **FEW))


@pytest.mark.parametrize("name", sorted(PYTHON))
def test_a_python_server_conforms(name: str, world: World) -> None:
    conforms(world(server=f"{sys.executable} -m {PYTHON[name]}", profile=name, **FEW))


@pytest.mark.parametrize("reset", ["respawn", "argument"])
def test_a_server_that_outlives_its_process_is_reset_as_declared(reset: str, world: World) -> None:
    environment = world(
        server=f"{sys.executable} -m {PYTHON['tau2-mock']}",
        profile="none",
        env={"TAU2_MOCK_MCP_STATE_DIR": "{workdir}/states"},
        allow=("get_users", "create_task", "check_notifications", "dismiss_notification"),
        effects={"get_users": "read", "check_notifications": "read"},
        results="structured",
        answer="$.parsed_content",
        reset=reset,
        reset_argument="state_key",
        **FEW,
    )
    assert "state_key" not in environment.tools()["create_task"].properties
    assert len(environment.tasks("train")) == FEW["n_train"]  # the probe has reused the server


def test_variants_on_a_server_have_their_seeds_structure(npm: Path, world: World) -> None:
    environment = world(server=node(npm, "server-memory"), **FEW)
    labeller = Labeller(constants(environment.tools(), environment.tasks("train")))

    def profiled(task: Task) -> ComplexityProfile:
        trace = replay(environment, task)
        return profile(task, trace, labeller.label(task, trace))

    synthesizer = SkillAlignedSynthesizer(None, environment)
    made = 0
    for seed in environment.tasks("train"):
        for candidate in synthesizer.synthesize(seed, n=2, rng_seed=0).candidates:
            made += 1
            assert candidate.task.turns != seed.turns
            assert distance(profiled(candidate.task), profiled(seed)) == 0
    assert made >= 2
