"""Requests become candidates beside training, and nothing of it can end a run."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rods.errors import ModelOutage, PoolError, WorldError
from rods.interfaces import Component, Environment, Synthesizer
from rods.pool import Pool, SynthesisRequest
from rods.synthesis.lm.usage import record
from rods.synthesis.reasons import Reason
from rods.synthesis.service import SynthesisConfig, SynthesisService, request_seed
from rods.synthesis.skill_aligned import SkillAlignedSynthesizer
from rods.testing import FakeEnvironment
from rods.types import Candidate, ModelUsage, PoolState, Stage, SynthesisOutcome, Task


class MemoryPool:
    """Requests and answers in lists; a lease lasts until the pool is told otherwise."""

    def __init__(self) -> None:
        self.open: list[SynthesisRequest] = []
        self.leased: list[SynthesisRequest] = []
        self.answers: list[tuple[SynthesisRequest, SynthesisOutcome, int]] = []
        self.held: list[tuple[str, float]] = []
        self.broken = 0

    def request_synthesis(self, entry_id: str, step: int) -> SynthesisRequest:
        request = SynthesisRequest(
            id=len(self.answers) + len(self.open), entry_id=entry_id, step=step
        )
        self.open.append(request)
        return request

    def lease(self, owner: str, seconds: float) -> SynthesisRequest | None:
        if self.broken:
            self.broken -= 1
            raise PoolError("the disk is full")
        free = [r for r in self.open if r not in self.leased]
        self.leased += free[:1]
        return free[0] if free else None

    def waiting(self) -> int:
        return len(self.open)

    def hold(self, request: SynthesisRequest, seconds: float) -> bool:
        self.held.append((request.entry_id, seconds))
        return request in self.open

    def stage(self, request: SynthesisRequest, outcome: SynthesisOutcome, *, step: int) -> int:
        self.open.remove(request)
        self.answers.append((request, outcome, step))
        return len(outcome.candidates)

    def task(self, entry_id: str) -> Task:
        return FakeEnvironment().tasks("train")[0].model_copy(update={"id": entry_id})


class ScriptedSynthesizer(Synthesizer):
    """Answers with the seed it was asked with; may fail, or wait for a signal."""

    name = "scripted"

    def __init__(self, environment: Environment | None = None) -> None:
        super().__init__(Component.Config(), environment or FakeEnvironment())
        self.asked: list[tuple[str, int, int]] = []
        self.failures: list[Exception] = []
        self.gate = threading.Event()
        self.gate.set()
        self.began = threading.Event()

    def synthesize(self, seed: Task, *, n: int, rng_seed: int) -> SynthesisOutcome:
        self.asked.append((seed.id, n, rng_seed))
        self.began.set()
        assert self.gate.wait(20)
        if self.failures:
            raise self.failures.pop(0)
        task = seed.model_copy(update={"id": f"syn-{rng_seed:x}"})
        return SynthesisOutcome(candidates=(Candidate(task=task, seed_id=seed.id),))


Build = Callable[..., SynthesisService]


@pytest.fixture
def build() -> Iterator[Build]:
    """Makes services and closes them."""
    made: list[SynthesisService] = []

    def service(pool: Any, synthesizer: Synthesizer, mode: str, **options: Any) -> SynthesisService:
        config = SynthesisConfig.model_validate({"mode": mode, **options})
        made.append(SynthesisService(config, pool=pool, synthesizer=synthesizer, seed=3))
        return made[-1]

    yield service
    for one in made:
        one.close()


def until(condition: Callable[[], bool]) -> None:
    """The condition holds within some seconds."""
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.005)


# ------------------------------------------------------------------ in step
def test_in_sync_mode_the_answer_is_there_when_request_returns(build: Build) -> None:
    pool, synthesizer = MemoryPool(), ScriptedSynthesizer()
    service = build(pool, synthesizer, "sync", variants_per_seed=2)
    before = set(threading.enumerate())
    service.start()
    service.request("seed-1", 4)
    ((request, outcome, step),) = pool.answers
    assert (request.entry_id, step, len(outcome.candidates)) == ("seed-1", 4, 1)
    assert synthesizer.asked == [("seed-1", 2, request_seed(3, request))]
    assert set(threading.enumerate()) <= before


def test_the_draws_follow_from_run_seed_entry_and_step_alone() -> None:
    def seed(run: int, entry: str, step: int, number: int) -> int:
        return request_seed(run, SynthesisRequest(id=number, entry_id=entry, step=step))

    assert seed(1, "a", 2, 7) == seed(1, "a", 2, 99)
    assert len({seed(r, e, s, 0) for r in (1, 2) for e in "ab" for s in (1, 2)}) == 8


def test_requests_of_a_killed_run_are_served_first(build: Build) -> None:
    pool = MemoryPool()
    pool.request_synthesis("left-over", 1)
    service = build(pool, ScriptedSynthesizer(), "sync")
    service.start()
    service.request("new", 2)
    assert [request.entry_id for request, _, _ in pool.answers] == ["left-over", "new"]


def test_an_outage_leaves_the_request_for_later(build: Build) -> None:
    pool, synthesizer = MemoryPool(), ScriptedSynthesizer()
    synthesizer.failures = [WorldError("the server is down")]
    service = build(pool, synthesizer, "sync")
    service.request("seed", 1)
    assert (len(pool.open), pool.answers) == (1, [])
    service.request("other", 2)
    assert [request.entry_id for request in pool.open] == ["seed"]
    pool.leased.clear()  # the pause is over
    service.start()
    assert (len(pool.open), len(pool.answers)) == (0, 2)


def test_a_model_that_is_away_says_how_long_its_request_waits(build: Build) -> None:
    pool, synthesizer = MemoryPool(), ScriptedSynthesizer()
    synthesizer.failures = [ModelOutage("away", retry_after_s=77.0)]
    build(pool, synthesizer, "sync").request("seed", 1)
    assert pool.held == [("seed", 77.0)]


def test_what_a_deferred_request_cost_is_billed_with_the_next_answer(build: Build) -> None:
    class Costly(ScriptedSynthesizer):
        def synthesize(self, seed: Task, *, n: int, rng_seed: int) -> SynthesisOutcome:
            record(ModelUsage(stage=Stage.REWRITE, model="m", calls=1, tokens_in=5))
            return super().synthesize(seed, n=n, rng_seed=rng_seed)

    pool, synthesizer = MemoryPool(), Costly()
    synthesizer.failures = [ModelOutage("away")]
    service = build(pool, synthesizer, "sync")
    service.request("seed", 1)
    service.request("other", 2)
    service.request("third", 3)
    assert [[row.calls for row in outcome.usage] for _, outcome, _ in pool.answers] == [[2], [1]]


def test_no_more_is_asked_for_than_the_queue_holds(
    build: Build, caplog: pytest.LogCaptureFixture
) -> None:
    pool = MemoryPool()
    service = build(pool, ScriptedSynthesizer(), "background", queue=2)
    for step in range(4):
        service.request(f"seed-{step}", step)
    assert [request.entry_id for request in pool.open] == ["seed-0", "seed-1"]
    assert "2 requests wait" in caplog.text


def test_several_workers_never_do_one_request_twice(build: Build, tmp_path: Path) -> None:
    environment = FakeEnvironment()
    seeds = environment.tasks("train")
    with Pool.open(str(tmp_path / "pool.sqlite")) as pool:
        pool.add_seeds(seeds)
        synthesizer = ScriptedSynthesizer(environment)
        services = [build(pool, synthesizer, "background", workers=2) for _ in range(2)]
        for service in services:
            service.start()
        for step in (1, 2):
            for number, seed in enumerate(seeds):
                services[number % 2].request(seed.id, step)
        until(lambda: pool.waiting() == 0)
        for service in services:
            service.close()
    asked = [(entry_id, rng_seed) for entry_id, _, rng_seed in synthesizer.asked]
    assert len(asked) == len(set(asked)) == 2 * len(seeds)


def test_a_faulty_synthesizer_is_an_answer_and_not_an_end(
    build: Build, caplog: pytest.LogCaptureFixture
) -> None:
    pool, synthesizer = MemoryPool(), ScriptedSynthesizer()
    synthesizer.failures = [ZeroDivisionError("a plugin's bug")]
    service = build(pool, synthesizer, "sync")
    service.request("seed", 1)
    service.request("seed", 2)
    (rejection,) = pool.answers[0][1].rejections
    assert rejection.reason == Reason.PIPELINE_EXCEPTION
    assert "ZeroDivisionError: a plugin's bug" in rejection.detail
    assert len(pool.answers[1][1].candidates) == 1
    assert "a plugin's bug" in caplog.text


# ------------------------------------------------------------------ beside training
def test_in_background_mode_request_returns_at_once(build: Build) -> None:
    pool, synthesizer = MemoryPool(), ScriptedSynthesizer()
    synthesizer.gate.clear()
    service = build(pool, synthesizer, "background")
    service.start()
    for step in range(3):
        service.request(f"seed-{step}", step)
    assert pool.answers == []
    synthesizer.gate.set()
    until(lambda: len(pool.answers) == 3)
    assert [step for _, _, step in pool.answers] == [0, 1, 2]


def test_drain_waits_for_the_request_in_work(build: Build) -> None:
    pool, synthesizer = MemoryPool(), ScriptedSynthesizer()
    synthesizer.gate.clear()
    service = build(pool, synthesizer, "background")
    service.start()
    service.request("seed", 1)
    assert synthesizer.began.wait(20)
    threading.Timer(0.1, synthesizer.gate.set).start()
    service.drain()
    assert len(pool.answers) == 1


def test_close_ends_the_worker_and_leaves_the_rest_in_the_pool(build: Build) -> None:
    pool, synthesizer = MemoryPool(), ScriptedSynthesizer()
    synthesizer.gate.clear()
    service = build(pool, synthesizer, "background")
    service.start()
    service.request("one", 1)
    service.request("two", 1)
    assert synthesizer.began.wait(20)
    threading.Timer(0.1, synthesizer.gate.set).start()
    service.close()
    service.close()
    assert [request.entry_id for request, _, _ in pool.answers] == ["one"]
    assert [request.entry_id for request in pool.open] == ["two"]
    assert not any(thread.name.startswith("rods-synthesis") for thread in threading.enumerate())


def test_a_closed_service_can_be_started_again(build: Build) -> None:
    pool = MemoryPool()
    service = build(pool, ScriptedSynthesizer(), "background")
    service.start()
    service.start()  # twice is once
    service.close()
    service.request("seed", 1)
    service.start()
    until(lambda: len(pool.answers) == 1)


def test_the_worker_survives_a_pool_that_fails_for_a_while(build: Build) -> None:
    pool = MemoryPool()
    pool.broken = 1
    service = build(pool, ScriptedSynthesizer(), "background")
    service.start()
    until(lambda: pool.broken == 0)
    service.request("seed", 1)
    until(lambda: len(pool.answers) == 1)


# ------------------------------------------------------------------ with the real pool
@pytest.mark.parametrize("mode", ["sync", "background"])
def test_both_modes_put_the_same_verified_tasks_into_a_pool(
    build: Build, tmp_path: Path, mode: str
) -> None:
    environment = FakeEnvironment()
    seeds = environment.tasks("train")
    with Pool.open(str(tmp_path / "pool.sqlite")) as pool:
        pool.add_seeds(seeds)
        synthesizer = SkillAlignedSynthesizer(None, environment)
        service = build(pool, synthesizer, mode, variants_per_seed=2)
        service.start()
        for seed in seeds:
            service.request(seed.id, 1)
        until(lambda: pool.stats().pending_requests == 0)
        service.close()
        entered = sorted(entry.id for entry in pool.entries(PoolState.CANDIDATE))
        assert pool.stats().funnel["admitted"]["total"] == len(entered)
        expected = [
            candidate.task.id
            for seed in seeds
            for candidate in SkillAlignedSynthesizer(None, environment)
            .synthesize(
                seed,
                n=2,
                rng_seed=request_seed(3, SynthesisRequest(id=0, entry_id=seed.id, step=1)),
            )
            .candidates
        ]
        assert entered == sorted(set(expected))
        assert pool.entry(entered[0]).generation == 1
