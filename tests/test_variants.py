"""Offline synthesis: seeds in turn, exact repeats, no duplicates, an end."""

from __future__ import annotations

from collections import Counter
from typing import Any

from rods.synthesis.lm.config import LmConfig
from rods.synthesis.lm.costs import costs
from rods.testing import FakeEnvironment, FakeSynthesizer
from rods.types import ModelUsage, Stage
from rods.variants import PATIENCE, VariantMaker, models_note

WORLD = FakeEnvironment()
SEEDS = list(WORLD.tasks("train"))
TASKS = {task.id: task for task in SEEDS}


def maker(seed: int = 0, **options: Any) -> VariantMaker:
    synthesizer = FakeSynthesizer(FakeSynthesizer.Config(**options), WORLD)
    return VariantMaker(synthesizer, SEEDS, seed)


def test_equal_seeds_give_equal_variants_and_others_give_others() -> None:
    first, again = (list(maker(3).make(20)) for _ in range(2))
    assert first == again
    assert first != list(maker(4).make(20))


def test_exactly_as_many_are_made_as_asked_and_no_two_are_equal() -> None:
    made = list(maker().make(50))
    assert len({candidate.task.id for candidate in made}) == 50


def test_every_seed_gets_its_turn_before_any_gets_a_second() -> None:
    made = list(maker(rejected=0).make(len(SEEDS)))
    assert [candidate.seed_id for candidate in made] == list(TASKS)


def test_a_variant_equal_to_a_seed_is_a_duplicate() -> None:
    variant = next(iter(maker(rejected=0, stories=1).make(1))).task
    known = VariantMaker(
        FakeSynthesizer(FakeSynthesizer.Config(rejected=0, stories=1), WORLD), [variant]
    )
    assert list(known.make(1)) == []
    assert known.report(1).funnel["critique"] == {"duplicate": PATIENCE}


def test_seeds_that_give_nothing_are_exhausted_and_the_loop_ends() -> None:
    barren = maker(rejected=1)
    assert list(barren.make(10)) == []
    report = barren.report(10)
    assert (report.admitted, report.seeds_exhausted, report.seeds_covered) == (0, 8, 0)
    assert report.funnel == {
        "critique": {"no_source": 8 * PATIENCE},
        "admitted": {"total": 0},
    }


def test_the_report_counts_what_was_made() -> None:
    asked = maker()
    made = list(asked.make(30))
    report = asked.report(30)
    assert report.funnel["admitted"]["total"] == report.admitted == 30
    assert report.kinds == dict(Counter(candidate.task.kind for candidate in made))
    assert report.distances == {"mean": 0.0, "max": 0.0, "isomorphic": 1.0}


def test_a_model_without_a_part_in_the_tasks_is_named_with_the_reason() -> None:
    """Not configured or kept: no word. Not asked, or asked in vain: one line that says why."""
    lm = LmConfig.model_validate({"model": "smollm2"})
    asked = maker()
    list(asked.make(3))
    report = asked.report(3).model_copy(update={"structures": {"seed": 3}})
    row = ModelUsage(stage=Stage.REWRITE, model="smollm2", calls=7)
    vain = {"lm_usage": (row,), "lm": costs([row], 3, {})}
    kept = {"lm_usage": (row,), "lm": costs([row], 3, {"smollm2": 1})}
    assert models_note(LmConfig(), report) == ""
    assert "was not asked: every task has its seed's own calls" in models_note(lm, report)
    assert "none of its 7 answers was kept" in models_note(lm, report.model_copy(update=vain))
    assert models_note(lm, report.model_copy(update=kept)) == ""
