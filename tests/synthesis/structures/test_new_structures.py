"""Variants of other functions are sound, of the seed's structure, and asked for in plain words."""

from __future__ import annotations

import subprocess
import sys

import pytest

from rods.interfaces import Environment
from rods.structure.profile import profile
from rods.structure.trace import replay
from rods.synthesis.skill_aligned import SkillAlignedSynthesizer
from rods.synthesis.structures.base_form import base_form, structural_distance
from rods.types import (
    AssistantMessage,
    ComplexityProfile,
    Step,
    SynthesisOutcome,
    Task,
    Trajectory,
    Turn,
)

from .conftest import synthesizer


def profile_of(made: SkillAlignedSynthesizer, task: Task) -> ComplexityProfile:
    trace = replay(made.environment, task, states=[-1])
    return profile(task, trace, made.workshop.labeller.label(task, trace, lambda: trace.states[-1]))


def names(task: Task) -> list[str]:
    return [call.name for turn in task.turns for call in turn.reference]


def score(environment: Environment, task: Task, *, silent: bool = False) -> float:
    turns = tuple(
        (Step(message=AssistantMessage(calls=() if silent else turn.reference)),)
        for turn in task.turns
    )
    return environment.score(task, Trajectory(task_id=task.id, turns=turns)).value


def timeless(outcome: SynthesisOutcome) -> list[Task]:
    """The tasks without the seconds that they took."""
    tasks = [candidate.task for candidate in outcome.candidates]
    known = [
        task.provenance.model_copy(update={"seconds": 0.0}) for task in tasks if task.provenance
    ]
    return [t.model_copy(update={"provenance": p}) for t, p in zip(tasks, known, strict=True)]


def test_new_functions_in_the_seeds_structure(
    office: Environment, plain: SkillAlignedSynthesizer
) -> None:
    """Solved by the reference, not by silence; isomorphic but for names; never the seed's calls."""
    found = 0
    for seed in office.tasks("train")[:4]:
        for candidate in plain.synthesize(seed, n=2, rng_seed=3).candidates:
            task = candidate.task
            if names(task) == names(seed):
                continue
            found += 1
            assert candidate.distance == 0
            assert structural_distance(profile_of(plain, task), profile_of(plain, seed)) == 0
            assert score(office, task) == 1
            assert score(office, task, silent=True) < 1
            assert (task.parent_id, task.kind, task.origin) == (seed.id, "base", "synthetic")
            assert task.provenance is not None
            assert (task.provenance.calls, task.provenance.structure) == (0, "new")
            assert task.provenance.seconds > 0
    assert found >= 6


def test_equal_arguments_give_equal_variants(
    office: Environment, plain: SkillAlignedSynthesizer
) -> None:
    seed = office.tasks("train")[1]
    once, again = (timeless(plain.synthesize(seed, n=1, rng_seed=9)) for _ in range(2))
    assert once == again
    assert timeless(plain.synthesize(seed, n=1, rng_seed=10)) != once


def test_users_of_the_office_speak_its_words(
    office: Environment, plain: SkillAlignedSynthesizer
) -> None:
    """No punctuation, no word that neither the office's tasks nor the values have."""
    known = {w for t in office.tasks("train") for turn in t.turns for w in turn.user.split()}
    practice = office.practice(0)
    known |= {w for _ in range(400) for turn in next(practice).turns for w in turn.user.split()}
    for seed in office.tasks("train")[:5]:
        for candidate in plain.synthesize(seed, n=1, rng_seed=4).candidates:
            made = candidate.task.provenance
            assert made is not None
            values = {w for text in made.substitutions.values() for w in text.split()}
            words = {w for turn in candidate.task.turns for w in turn.user.split()}
            assert words - values <= known


def test_a_redraw_keeps_the_words_and_changes_the_entities(
    office: Environment, plain: SkillAlignedSynthesizer
) -> None:
    seed = office.tasks("train")[4]
    (candidate,) = plain.synthesize(seed, n=1, rng_seed=3).candidates
    redrawn = plain.redraw(candidate.task, rng_seed=1)
    assert redrawn is not None
    assert names(redrawn) == names(candidate.task)
    assert [t.user for t in redrawn.turns] != [t.user for t in candidate.task.turns]
    assert score(office, redrawn) == 1


def test_where_no_plan_is_found_the_seed_is_varied(office: Environment) -> None:
    options = {"search": {"exploration_calls": 0, "effort": 1, "min_edits": 9}}
    made = synthesizer(office, structures="new", planning=options)
    seed = office.tasks("train")[0]
    outcome = made.synthesize(seed, n=1, rng_seed=1)
    assert [r.reason for r in outcome.rejections] == ["func_sample_failed"]
    assert [names(c.task) for c in outcome.candidates] == [names(seed)]
    assert [c.task.provenance.structure for c in outcome.candidates if c.task.provenance] == [
        "seed"
    ]


def test_new_structures_or_nothing(office: Environment, plain: SkillAlignedSynthesizer) -> None:
    """Where no plan is found nothing is made; where one is, it is made as with "new"."""
    options = {"search": {"exploration_calls": 0, "effort": 1, "min_edits": 9}}
    barren = synthesizer(office, structures="new-only", planning=options)
    seed = office.tasks("train")[0]
    outcome = barren.synthesize(seed, n=1, rng_seed=1)
    assert [r.reason for r in outcome.rejections] == ["func_sample_failed"]
    assert outcome.candidates == ()
    strict = synthesizer(office, structures="new-only")
    strict.workshop.__dict__["_planner"] = plain.workshop._planner
    assert timeless(strict.synthesize(seed, n=1, rng_seed=3)) == timeless(
        plain.synthesize(seed, n=1, rng_seed=3)
    )


def test_without_a_model_the_seeds_structure_is_the_default(office: Environment) -> None:
    seed = office.tasks("train")[0]
    (candidate,) = synthesizer(office).synthesize(seed, n=1, rng_seed=1).candidates
    assert names(candidate.task) == names(seed)


@pytest.mark.slow
def test_other_kinds_are_planned_in_their_base_form() -> None:
    module = pytest.importorskip("rods_office.environment")
    config = module.OfficeEnvironment.Config(level="medium", n_train=8)
    environment = module.OfficeEnvironment(config)
    explored = {"search": {"exploration_calls": 1000}}
    made = synthesizer(environment, structures="new", planning=explored)
    kinds = set()
    for seed in environment.tasks("train"):
        if seed.kind == "base":
            continue
        for candidate in made.synthesize(seed, n=1, rng_seed=2).candidates:
            if names(candidate.task) != names(seed):
                assert candidate.task.kind == seed.kind
                kinds.add(seed.kind)
                assert score(environment, candidate.task) == 1
    assert kinds == {"miss_func", "miss_param", "long_context"}


def test_the_base_form_joins_what_was_split() -> None:
    call = Task.model_validate(
        {
            "id": "t",
            "environment": "x",
            "kind": "miss_func",
            "tools": ("a",),
            "turns": (
                Turn(user="do it"),
                {"user": "now use b", "reference": [{"name": "b"}], "reveals": ["b"]},
            ),
            "initial_state": {},
        }
    )
    base = base_form(call)
    assert (base.kind, base.tools, len(base.turns)) == ("base", ("a", "b"), 1)
    assert base.turns[0].user == "do it"
    assert base.turns[0].reveals == ()


def test_no_model_means_no_dspy() -> None:
    """The whole path without a model, in a process of its own."""
    pytest.importorskip("rods_office")
    code = (
        "import sys; from rods_office.environment import OfficeEnvironment as E;"
        "from rods.synthesis.skill_aligned import SkillAlignedSynthesizer as S;"
        "e = E(); c = S.Config(structures='new', planning={'search': {'exploration_calls': 0}});"
        "o = S(c, e).synthesize(e.tasks('train')[0], n=1, rng_seed=1);"
        "assert o.candidates; assert 'dspy' not in sys.modules, 'dspy is loaded'"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
