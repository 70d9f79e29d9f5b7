"""A model server that dies in mid-run: training goes on, no seed is lost, none is done twice."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rods.assembly import assemble
from rods.hookspecs import hookimpl
from rods.plugin_manager import load_plugins
from rods.pool import Pool
from rods.runner import new_run
from rods.synthesis.lm.config import LmConfig
from rods.synthesis.lm.models import LanguageModels
from rods.synthesis.service import SynthesisConfig, SynthesisService
from rods.testing import FakeEnvironment, write_distribution
from rods.testing.model_server import ModelServer
from rods.types import StepReport

_PLUGIN = Path(__file__).parents[2] / "plugins" / "wording.py"


@pytest.fixture
def wording(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a plugin whose synthesizer asks a model once for every variant."""
    folder, module = tmp_path / "more", f"wording_{tmp_path.name}".replace("-", "_")
    modules = {f"{module}.py": _PLUGIN.read_text()}
    write_distribution(folder, "acme-wording", {"rods": {"wording": module}}, modules=modules)
    monkeypatch.syspath_prepend(folder)
    return "wording"


def echo(body: dict[str, Any]) -> str:
    return json.dumps({"request": body["messages"][-1]["content"][:60]})


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.02)


@pytest.fixture
def pool(tmp_path: Path) -> Iterator[Pool]:
    with Pool.open(str(tmp_path / "pool.sqlite")) as opened:
        opened.add_seeds(FakeEnvironment().tasks("train"))
        yield opened


def service(pool: Pool, server: ModelServer, plugin: str) -> SynthesisService:
    lm = LmConfig(model=("openai/tiny",), url=server.url, retries=0, outage_s=0.1)
    synthesizer = load_plugins([plugin]).choose("synthesizer", plugin)(None, FakeEnvironment())
    synthesizer.use(LanguageModels(lm))
    return SynthesisService(SynthesisConfig(workers=2), pool=pool, synthesizer=synthesizer)


def test_seeds_that_a_dead_server_deferred_are_served_when_it_is_back(
    pool: Pool, wording: str
) -> None:
    seeds = [task.id for task in FakeEnvironment().tasks("train")]
    with ModelServer(echo) as server:
        running = service(pool, server, wording)
        running.start()
        running.request(seeds[0], 1)
        until(lambda: pool.waiting() == 0)
        server.stop()
        for seed in seeds[1:]:
            running.request(seed, 2)
        time.sleep(0.5)
        assert pool.waiting() == len(seeds) - 1
        server.start()
        until(lambda: pool.waiting() == 0)
        running.close()
        assert len(server.requests) == len(seeds)  # none was answered twice
    stats = pool.stats()
    assert stats.funnel == {"admitted": {"total": len(seeds)}}
    assert sum(row.calls for row in stats.usage) == len(seeds)


def test_a_run_that_resumes_after_the_server_does_serves_them_too(pool: Pool, wording: str) -> None:
    seeds = [task.id for task in FakeEnvironment().tasks("train")]
    with ModelServer(echo) as server:
        server.stop()
        killed = service(pool, server, wording)
        killed.start()
        for seed in seeds:
            killed.request(seed, 1)
        time.sleep(0.5)
        killed.close()
        assert pool.waiting() == len(seeds)
        pool.record(1, 0, [])
        pool.rewind(1)
        server.start()
        resumed = service(pool, server, wording)
        resumed.start()
        until(lambda: pool.waiting() == 0)
        resumed.close()
    assert pool.stats().funnel["admitted"]["total"] == len(seeds)


class Saboteur:
    """Kills the server after one step and starts it again after another."""

    def __init__(self, server: ModelServer, stop: int, start: int) -> None:
        self.server, self.stop, self.start = server, stop, start
        self.steps = 0

    @hookimpl
    def rods_step_finished(self, report: StepReport) -> None:
        self.steps = report.step
        if report.step == self.stop:
            self.server.stop()
        if report.step == self.start:
            self.server.start()


@pytest.mark.slow
def test_a_whole_run_ends_well_though_its_server_dies_in_between(
    stockroom: str, wording: str
) -> None:
    with ModelServer(echo) as server:
        options = (
            "synthesizer.name=wording",
            "synthesis.mode=sync",
            "synthesis.lm.model=openai/tiny",
            f"synthesis.lm.url={server.url}",
            "synthesis.lm.retries=0",
            "synthesis.lm.outage_s=0",
        )
        run = new_run(assemble(f"{stockroom},{wording}", overrides=options), Path("run"))
        saboteur = Saboteur(server, stop=2, start=5)
        run.assembly.plugins.observe(saboteur)
        summary = run.train()
    assert summary["steps"] == saboteur.steps > 5
    assert server.requests
    assert summary["lm"]["openai/tiny"]["calls"] == len(server.requests)
    assert summary["funnel"]["admitted"]["total"] == len(server.requests)
