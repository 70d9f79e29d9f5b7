"""What models cost an admitted task, by backbone, rejected attempts included; kept in the pool."""

from __future__ import annotations

from pathlib import Path

import pytest

from rods.pool import Pool
from rods.synthesis.lm.costs import costs
from rods.testing import FakeEnvironment
from rods.types import Candidate, ModelUsage, Provenance, Stage, SynthesisOutcome

USAGE = (
    ModelUsage(stage=Stage.PLAN, model="a", calls=2, tokens_in=30, tokens_out=10, price=0.5),
    ModelUsage(stage=Stage.REWRITE, model="a", calls=1, tokens_in=5, tokens_out=5, seconds=3.0),
    ModelUsage(stage=Stage.REWRITE, model="b", calls=3, tokens_in=50, price=1.5),
)


def test_the_parts_of_the_backbones_add_up() -> None:
    found = costs(USAGE, 2, {"a": 2, "b": 1})
    assert list(found) == ["a", "b", "all"]
    assert (found["a"].calls, found["a"].tokens_per_task, found["a"].admitted) == (3, 25.0, 2)
    assert (found["b"].price_per_task, found["b"].admitted) == (0.75, 1)
    assert (found["all"].calls, found["all"].calls_per_task) == (6, 3.0)
    assert found["all"].price_per_task == 1.0


def test_without_an_admitted_task_there_is_no_price_of_one() -> None:
    assert costs(USAGE, 0, {})["all"].price_per_task is None
    assert costs((), 5, {}) == {}


def test_the_pool_keeps_the_bill_of_requests_that_gave_nothing_and_of_steps_rewound(
    tmp_path: Path,
) -> None:
    seeds = FakeEnvironment().tasks("train")
    made = Provenance(synthesizer="x", seed=1, models=("a", "b"), calls=3)
    variant = seeds[0].model_copy(update={"id": "syn-1", "provenance": made})
    with Pool.open(str(tmp_path / "pool.sqlite")) as pool:
        pool.add_seeds(seeds)
        outcomes = [
            SynthesisOutcome(usage=USAGE),
            SynthesisOutcome(
                usage=USAGE, candidates=(Candidate(task=variant, seed_id=seeds[0].id),)
            ),
        ]
        for step, outcome in enumerate(outcomes, start=1):
            pool.stage(pool.request_synthesis(seeds[0].id, step), outcome, step=step)
        stats = pool.stats()
        assert [(row.stage, row.model, row.calls) for row in stats.usage] == [
            ("plan", "a", 4),
            ("rewrite", "a", 2),
            ("rewrite", "b", 6),
        ]
        assert stats.worded == {"a": 1, "b": 1}
        assert pool.task("syn-1").provenance == made
        pool.rewind(0)
        assert pool.stats().usage == stats.usage
        assert pool.stats().worded == {}


def test_usage_adds_up() -> None:
    assert (USAGE[0] + USAGE[1]).tokens_in == 35
    assert (USAGE[0] + USAGE[1]).price == pytest.approx(0.5)
