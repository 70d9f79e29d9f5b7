"""A poor prompt is repaired by what verification says; offline, and once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import dspy
import pytest

from rods.errors import ConfigError, DataError, ModelOutage
from rods.synthesis.lm.models import LanguageModels
from rods.synthesis.tuning.journal import Journal
from rods.synthesis.tuning.trials import Example, Trials
from rods.synthesis.tuning.tuned import apply_program
from rods.synthesis.tuning.tuner import Seeds, Tuner
from rods.types import Stage

IDS = [f"seed-{number}" for number in range(40)]


def tuner(program: Any, models: LanguageModels, folder: Path, **options: Any) -> Tuner:
    return Tuner(
        program,
        models,
        models,
        Seeds.split(IDS, 10, seed=0),
        Journal(folder / "journal.jsonl"),
        **{"budget": 60, **options},
    )


def test_the_guilty_prompt_is_repaired_and_no_other(
    toy: Any, models: LanguageModels, author: Any, tmp_path: Path
) -> None:
    program, report = tuner(toy, models, tmp_path).run()
    assert (report.baseline.mean, report.tuned.mean) == (0.0, 1.0)
    assert report.changed == ("rewrite",)
    assert "say please" in program.predictors["rewrite"].instructions
    assert (report.proposals, report.refused) == (2, 1)  # the placeholder, then the repair
    assert 0 < report.baseline.high < report.tuned.low < 1
    assert report.lm["scripted"].calls > 0
    assert "say please" not in toy.rewrite.signature.instructions  # the original is untouched


def test_a_resumed_search_reflects_and_tries_nothing_again(
    toy: Any, models: LanguageModels, author: Any, tmp_path: Path
) -> None:
    first, _ = tuner(toy, models, tmp_path).run()
    reflections = author.reflections
    with models.counting() as meter:
        again, report = tuner(toy, models, tmp_path).run()
    assert (again, author.reflections, meter.calls) == (first, reflections, 0)
    assert (report.proposals, report.tuned.mean) == (0, 1.0)


class ImpatientError(Exception):
    """Stands for Ctrl-C."""


def test_a_search_that_was_stopped_ends_as_if_it_had_not_been(
    toy: Any, models: LanguageModels, author: Any, tmp_path: Path
) -> None:
    whole, _ = tuner(toy, models, tmp_path / "whole").run()
    author.proposals[:] = ["{new_instruction}", whole.predictors["rewrite"].instructions]

    def stop(done: int) -> None:
        if done == 45:
            raise ImpatientError

    with pytest.raises(ImpatientError):
        tuner(toy, models, tmp_path / "parts", progress=stop).run()
    assert tuner(toy, models, tmp_path / "parts").run()[0] == whole


def test_only_the_stage_that_is_named_may_change(
    toy: Any, models: LanguageModels, tmp_path: Path
) -> None:
    program, report = tuner(toy, models, tmp_path, stages=[Stage.PLAN]).run()
    assert (program.predictors, report.changed, report.tuned.mean) == ({}, (), 0.0)


def test_a_judge_is_never_tuned(toy: Any, models: LanguageModels, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="let everything pass"):
        tuner(toy, models, tmp_path, stages=[Stage.CRITIQUE])


def test_demonstrations_help_a_model_that_cannot_be_told(
    toy: Any, models: LanguageModels, author: Any, tmp_path: Path
) -> None:
    class Moody(type(author)):  # type: ignore[misc]
        def __call__(self, asked: str) -> str:
            lucky = "reach seed-1" in asked and "`request`" in asked
            said: str = super().__call__(asked)
            return said.replace('"reach seed-1', '"Please help: reach seed-1') if lucky else said

    author.__class__ = Moody
    program, report = tuner(toy, models, tmp_path, method="bootstrap").run()
    assert report.baseline.mean < report.tuned.mean == 1.0
    demos = program.predictors["rewrite"].demos
    assert 1 <= len(demos) <= 3
    assert all("Please help" in demo["request"] for demo in demos)


def test_the_estimate_scales_with_the_budget(
    toy: Any, models: LanguageModels, tmp_path: Path
) -> None:
    small = tuner(toy, models, tmp_path, budget=27).estimate()
    large = tuner(toy, models, tmp_path, budget=77).estimate()
    assert (small.trials, large.trials) == (50, 100)
    assert small.calls == pytest.approx(100)
    assert large.price == pytest.approx(2 * small.price) != 0


def test_seeds_are_split_once_and_never_overlap() -> None:
    seeds = Seeds.split(IDS, 10, seed=3)
    parts = [{one.seed_id for one in part} for part in (seeds.train, seeds.val, seeds.held_out)]
    assert [len(part) for part in parts] == [15, 15, 10]
    assert len(set.union(*parts)) == 40
    assert seeds == Seeds.split(IDS[::-1], 10, seed=3) != Seeds.split(IDS, 10, seed=4)
    with pytest.raises(ConfigError, match="too few to hold 38 out"):
        Seeds.split(IDS, 38, seed=0)


def test_a_journal_of_other_settings_is_refused(tmp_path: Path) -> None:
    Journal(tmp_path / "j.jsonl").begin({"seed": 1, "budget": 5})
    Journal(tmp_path / "j.jsonl").begin({"seed": 1, "budget": 5})
    with pytest.raises(DataError, match="its seed differ"):
        Journal(tmp_path / "j.jsonl").begin({"seed": 2, "budget": 5})


def test_a_line_cut_by_a_kill_is_forgotten(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    journal = Journal(path)
    journal.put("a", answer=1)
    with path.open("a") as file:
        file.write('{"key": "cut')
    again = Journal(path)
    again.put("b", answer=2)
    assert (Journal(path).get("a"), Journal(path).get("b")) == (1, 2)


def test_a_damaged_line_of_a_journal_is_named(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    Journal(path).put("a", answer=1)
    path.write_text("{\n" + path.read_text())
    with pytest.raises(DataError, match="line 1 is damaged"):
        Journal(path)


# ------------------------------------------------------------------ outages
class Failing(dspy.Module):
    """Fails in a given way some times, then succeeds."""

    def __init__(self, errors: list[Exception]) -> None:
        super().__init__()
        self.errors = errors

    def __deepcopy__(self, memo: dict[int, Any]) -> Failing:
        return self

    def forward(self, seed_id: str, rng_seed: int) -> dspy.Prediction:
        if self.errors:
            raise self.errors.pop(0)
        return dspy.Prediction(ok=True, report={})


def test_an_outage_is_waited_for_and_never_a_failed_variant(tmp_path: Path) -> None:
    example = [Example(seed_id="a", rng_seed=1)]
    program = Failing([ModelOutage("away", retry_after_s=0.01)])
    (trial,) = Trials(program, Journal(tmp_path / "j")).run({}, {}, example)
    assert trial.ok
    impatient = Trials(Failing([ModelOutage("away", 99)]), Journal(tmp_path / "k"), patience_s=1)
    with pytest.raises(ModelOutage):
        impatient.run({}, {}, example)


def test_an_answer_that_cannot_be_read_is_a_failed_variant(tmp_path: Path) -> None:
    program = Failing([ValueError("no JSON")])
    (trial,) = Trials(program, Journal(tmp_path / "j")).run(
        {}, {}, [Example(seed_id="a", rng_seed=1)]
    )
    assert (trial.ok, trial.score, trial.error) == (False, 0.0, "ValueError: no JSON")


# ------------------------------------------------------------------ the file
def test_the_file_makes_another_program_as_good(
    toy: Any, models: LanguageModels, tmp_path: Path
) -> None:
    program, _ = tuner(toy, models, tmp_path).run()
    program.write(tmp_path / "tuned.json")
    other = type(toy)(models)
    digest = apply_program(tmp_path / "tuned.json", other)
    assert digest == program.digest
    assert other(seed_id="seed-7").ok


def test_a_file_for_another_signature_or_changed_by_hand_is_refused(
    toy: Any, models: LanguageModels, tmp_path: Path
) -> None:
    path = tmp_path / "tuned.json"
    program, _ = tuner(toy, models, tmp_path).run()
    program.write(path)
    other = type(toy)(models)
    other.rewrite = dspy.Predict("goal, tone -> request")
    with pytest.raises(DataError, match="another signature of 'rewrite'"):
        apply_program(path, other)
    del other.rewrite
    with pytest.raises(DataError, match="a predictor 'rewrite' that there is not"):
        apply_program(path, other)
    path.write_text(path.read_text().replace("say please", "shout"))
    with pytest.raises(DataError, match="changed after `rods tune` wrote it"):
        apply_program(path, toy)
    with pytest.raises(DataError, match="Cannot read"):
        apply_program(tmp_path / "none.json", toy)
    path.write_text("[1]")
    with pytest.raises(DataError, match="holds no tuned prompts"):
        apply_program(path, toy)
