"""A model words, chooses and judges; at most three calls a task, and it breaks nothing."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from rods.errors import ModelOutage
from rods.interfaces import Environment
from rods.synthesis.lm.config import LmConfig
from rods.synthesis.lm.models import LanguageModels
from rods.synthesis.program import SynthesisProgram
from rods.synthesis.skill_aligned import SkillAlignedSynthesizer
from rods.types import Candidate, SynthesisOutcome

from .conftest import Model, field, verdict
from .test_new_structures import names, score


def ask(one: SkillAlignedSynthesizer, index: int = 1) -> SynthesisOutcome:
    return one.synthesize(one.environment.tasks("train")[index], n=1, rng_seed=3)


def only(outcome: SynthesisOutcome) -> Candidate:
    (candidate,) = outcome.candidates
    return candidate


def calls(candidate: Candidate) -> int:
    assert candidate.task.provenance is not None
    return candidate.task.provenance.calls


def test_a_capable_model_is_called_three_times_a_task(build: Any, office: Environment) -> None:
    model = Model()
    one = build(model)
    for index in range(3):
        candidate = only(ask(one, index))
        assert names(candidate.task) != names(office.tasks("train")[index])
        assert calls(candidate) <= 3
        assert score(office, candidate.task) == 1
    assert model.asked == ["choose", "write", "judge"] * 3
    assert all(schema is not None for schema in model.engine.schemas)


def test_placeholders_are_replaced_after_writing(build: Any) -> None:
    model = Model()
    candidate = only(ask(build(model)))
    assert "{v1}" in model.engine.requests[1]
    assert "{" not in "".join(turn.user for turn in candidate.task.turns)


def test_remarks_lead_to_a_second_try(build: Any) -> None:
    model = Model(write=[{"messages": ["hello"], "texts": []}, None])
    candidate = only(ask(build(model)))
    assert model.asked == ["choose", "write", "write", "judge"]
    assert "There must be exactly" in model.engine.requests[2]
    assert calls(candidate) == 4


def test_words_that_fail_twice_give_way_to_plain_sentences(build: Any) -> None:
    model = Model(write=["no json at all", "nor this"])
    candidate = only(ask(build(model)))
    assert model.asked == ["choose", "write", "write", "judge"]
    assert all(turn.user for turn in candidate.task.turns)


def test_a_message_that_makes_no_sense_gives_way_alone(build: Any) -> None:
    """The others stay the model's; the funnel counts it, and the model keeps its part."""
    nonsense = {"message": "The user who requested the request has requested it."}
    lone = {"coherent_rewrite": False, "writing": {"tries": 1}}
    words = LmConfig.model_validate({"rewrite": {"model": "scripted"}, "stages": ()})
    model = Model(message=[nonsense])
    model.models = LanguageModels.scripted(model.engine, words)
    outcome = ask(build(model, **lone))
    made = only(outcome).task
    assert [r.stage for r in outcome.rejections] == ["rewrite"]
    assert nonsense["message"] not in [turn.user for turn in made.turns]
    assert made.provenance is not None
    assert made.provenance.stages == {"rewrite": ("scripted",)}
    assert (made.provenance.models, made.provenance.tried) == (("scripted",), ())


def test_a_model_whose_words_are_all_replaced_has_only_been_tried(build: Any) -> None:
    words = LmConfig.model_validate({"rewrite": {"model": "scripted"}, "stages": ()})
    model = Model(message=[{"message": "I'm sorry, I can't help with that."}] * 99)
    model.models = LanguageModels.scripted(model.engine, words)
    outcome = ask(build(model, coherent_rewrite=False, writing={"tries": 1}))
    made = only(outcome).task.provenance
    assert made is not None
    assert (made.models, made.stages, made.tried) == ((), {}, ("scripted",))
    assert made.calls == len(outcome.rejections) > 0


def test_a_judge_and_a_chooser_are_named_where_they_had_a_part(build: Any) -> None:
    made = only(ask(build(Model()))).task.provenance
    assert made is not None
    assert set(made.stages) == {"plan", "rewrite", "critique"}
    assert made.models == ("scripted",)


def test_an_answer_without_a_message_is_told_apart(build: Any) -> None:
    model = Model(write=[{"messages": [], "texts": []}] * 2)
    outcome = ask(build(model, writing={"fall_back": False}, attempts=1))
    assert [r.reason for r in outcome.rejections] == ["no_prompts"]
    assert model.asked == ["choose", "write", "write"]


def test_a_fault_of_the_words_is_refined_once(build: Any) -> None:
    fault = verdict(natural=False, fault="wording", remarks="Message 1 is stiff.")
    model = Model(judge=[fault])
    only(ask(build(model)))
    assert model.asked == ["choose", "write", "judge", "write", "judge"]
    assert "Message 1 is stiff." in model.engine.requests[3]


def test_a_wrong_reference_is_dropped_and_guides_the_next_plan(build: Any) -> None:
    fault = verdict(query_matches=False, fault="ground_truth", remarks="The order is paid twice.")
    model = Model(judge=[fault])
    outcome = ask(build(model))
    assert [r.reason for r in outcome.rejections] == ["decompose_failed"]
    assert model.asked == ["choose", "write", "judge"] * 2
    assert "The order is paid twice." in model.engine.requests[3]
    only(outcome)


def test_without_feedback_the_next_plan_is_not_guided(build: Any) -> None:
    fault = verdict(query_matches=False, fault="ground_truth", remarks="The order is paid twice.")
    model = Model(judge=[fault])
    only(ask(build(model, feedback=False)))
    assert not any("The order is paid twice." in asked for asked in model.engine.requests)


def test_without_narrative_the_score_chooses(build: Any) -> None:
    model = Model()
    only(ask(build(model, narrative=False)))
    assert model.asked == ["write", "judge"]


def test_without_coherent_rewrite_each_message_is_written_by_itself(build: Any) -> None:
    model = Model()
    candidate = only(ask(build(model, coherent_rewrite=False)))
    assert model.asked == ["choose", *["message"] * len(candidate.task.turns), "judge"]


def test_the_majority_of_the_judges_decides(build: Any) -> None:
    fault = verdict(natural=False, fault="ground_truth")
    model = Model(judge=[None, fault, None])
    only(ask(build(model, judging={"judges": 3})))
    assert model.asked == ["choose", "write", "judge", "judge", "judge"]


def test_a_judge_that_cannot_be_read_lets_nothing_pass(build: Any) -> None:
    model = Model(judge=["yes"] * 9)
    outcome = ask(build(model, structures="new", attempts=2))
    assert {r.reason for r in outcome.rejections} == {"no_pattern"}
    assert outcome.candidates == ()


def test_an_outage_says_nothing_about_the_seed(build: Any) -> None:
    for question in ("choose", "write", "judge"):
        model = Model(**{question: [ModelOutage("The server is down.")]})
        with pytest.raises(ModelOutage):
            ask(build(model))


def test_a_redraw_asks_no_model(build: Any) -> None:
    model = Model()
    one = build(model)
    candidate = only(ask(one))
    asked = len(model.asked)
    redrawn = one.redraw(candidate.task, rng_seed=1)
    assert redrawn is not None
    assert redrawn.turns != candidate.task.turns
    assert len(model.asked) == asked


def test_a_stage_without_a_model_works_by_code(build: Any, office: Environment) -> None:
    model = Model()
    model.models = LanguageModels.scripted(
        model.engine, LmConfig.model_validate({"rewrite": {"model": "scripted"}, "stages": ()})
    )
    only(ask(build(model)))
    assert model.asked == ["write"]


def test_the_program_makes_the_same_tasks_and_survives_a_deep_copy(build: Any) -> None:
    model = Model()
    one = build(model)
    program = SynthesisProgram(one.workshop, model.models)
    copied = copy.deepcopy(program)
    assert copied.workshop is program.workshop
    assert copied.write is not program.write
    seed = one.environment.tasks("train")[1]
    first, second = (p(seed_id=seed.id, rng_seed=3) for p in (program, copied))
    assert first.ok
    assert first.tasks == second.tasks
    assert set(first.report) == {"plan", "execute", "rewrite", "critique", "augment"}
    names_ = {name for name, _ in program.named_predictors()}
    assert names_ == {"choose", "fill", "write", "message", "judge", "blur", "patch"}


def test_the_report_names_the_guilty_stage(build: Any) -> None:
    fault = verdict(query_matches=False, fault="ground_truth", remarks="Twice.")
    model = Model(judge=[fault] * 9)
    one = build(model, attempts=1)
    seed = one.environment.tasks("train")[1]
    result = SynthesisProgram(one.workshop, model.models)(seed_id=seed.id)
    assert not result.ok
    assert "Twice." in result.report["critique"][0]
    assert result.report["rewrite"] == []


def test_every_predictor_has_a_signature_of_its_own(build: Any) -> None:
    predictors = SynthesisProgram(build(Model()).workshop, Model().models).predictors()
    assert len({predictor.signature.instructions for predictor in predictors}) == 7
    assert len(predictors) == 7


def test_quotation_marks_around_a_whole_message_are_no_part_of_it(build: Any) -> None:
    model = Model()

    def quoted(request: str) -> dict[str, str]:
        return {"message": f' "{field(request, "request")}" '}

    model.wrong["message"] = [quoted] * 9
    made = only(ask(build(model, coherent_rewrite=False))).task
    assert made.provenance is not None
    assert "rewrite" in made.provenance.stages
    assert not any('"' in turn.user for turn in made.turns)
