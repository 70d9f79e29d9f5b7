"""What evaluation holds out never occurs in training: names, orders of skills, tools."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rods_office.apps import HELD_OUT_TOOLS, TOOLS
from rods_office.config import OfficeConfig
from rods_office.entities import HELD_OUT_NAMES, SYLLABLES, TRAIN_NAMES
from rods_office.environment import OfficeEnvironment
from rods_office.grammar.kinds import SUPPLY
from rods_office.grammar.skill import Skill
from rods_office.grammar.skills import SKILLS
from rods_office.grammar.structures import held_out
from rods_office.levels import LEVELS, LevelName

from rods.types import Task, Turn

HELD_OUT, TRAIN = set(HELD_OUT_NAMES), set(TRAIN_NAMES)
LEVEL_NAMES = sorted(LEVELS)


def words(task: Task) -> set[str]:
    shown = task.model_dump(include={"turns", "initial_state"})
    return set(re.findall(r"[a-z]+", json.dumps(shown)))


def training(environment: OfficeEnvironment, practice: int = 40) -> Iterator[Task]:
    yield from environment.tasks("train")
    yield from islice(environment.practice(1), practice)


def recognised(turn: Turn) -> str:
    """The one skill whose wording and calls fit the turn."""
    tools = tuple(call.name for call in turn.reference)
    fitting = [
        skill.name
        for skill in SKILLS.values()
        if tuple(tool for tool, _ in skill.calls) == tools and _says(skill, turn.user)
    ]
    assert len(fitting) == 1, (turn, fitting)
    return fitting[0]


def _says(skill: Skill, text: str) -> bool:
    patterns = (
        re.sub(r"\\{.*?\\}", r"(\\d+|[a-z]{4}( [a-z]{4})*)", re.escape(said)) for said in skill.says
    )
    return any(re.fullmatch(pattern, text) for pattern in patterns)


def structure(task: Task) -> tuple[str, ...]:
    return tuple(map(recognised, task.turns))


def test_names_are_disjoint_and_share_every_syllable_in_every_place() -> None:
    assert not HELD_OUT & TRAIN
    for names in (HELD_OUT_NAMES, TRAIN_NAMES):
        assert {name[:2] for name in names} == {name[2:] for name in names} == set(SYLLABLES)


def test_no_word_of_a_template_or_a_tool_is_a_name() -> None:
    said = [t for s in SKILLS.values() for t in (*s.says, *s.blurred, *s.steps)]
    texts = " ".join([*said, *SUPPLY.values(), *TOOLS])
    known = set(re.findall(r"[a-z]+", re.sub(r"\{.*?\}", " ", texts)))
    assert not known & (HELD_OUT | TRAIN)


@settings(max_examples=6)
@given(st.sampled_from(LEVEL_NAMES), st.integers(0, 10**6))
def test_training_and_evaluation_share_no_name(level: LevelName, seed: int) -> None:
    environment = OfficeEnvironment(
        OfficeConfig(level=level, seed=seed, n_unseen_entities=16, n_unseen_compositions=16)
    )
    assert not any(words(task) & HELD_OUT for task in training(environment))
    assert not any(words(task) & TRAIN for task in environment.tasks("eval"))


@pytest.mark.parametrize("level", LEVEL_NAMES)
def test_training_never_plays_a_held_out_order_of_skills(level: LevelName) -> None:
    environment = OfficeEnvironment(OfficeConfig(level=level, n_train=48, kinds=("base",)))
    structures = [structure(task) for task in training(environment, 300)]
    assert any(len(found) > 1 for found in structures)
    assert not any(map(held_out, structures))


@pytest.mark.parametrize("level", LEVEL_NAMES)
def test_an_unseen_composition_is_a_held_out_order_of_the_seeds_skills(level: LevelName) -> None:
    environment = OfficeEnvironment(OfficeConfig(level=level, kinds=("base",)))
    seeds = [structure(task) for task in environment.tasks("train")]
    known = {skill for found in seeds for skill in found}
    unseen = [t for t in environment.tasks("eval") if "unseen_composition" in t.flags]
    assert len(unseen) == 96
    for task in unseen:
        assert held_out(structure(task))
        assert set(structure(task)) <= known


@pytest.mark.parametrize("level", LEVEL_NAMES)
def test_unseen_entities_have_the_structure_of_their_seed(level: LevelName) -> None:
    environment = OfficeEnvironment(OfficeConfig(level=level, kinds=("base",)))
    variants = [t for t in environment.tasks("eval") if "unseen_entities" in t.flags]
    assert len(variants) == 96
    for task in variants:
        assert structure(task) == structure(environment.sets.source(task))


def test_every_seed_has_a_structure_of_its_own() -> None:
    environment = OfficeEnvironment(OfficeConfig(n_train=64))
    assert len({structure(task) for task in environment.tasks("train")}) == 64


@pytest.mark.parametrize("level", LEVEL_NAMES)
def test_held_out_tools_are_needed_in_their_set_and_named_nowhere_else(level: LevelName) -> None:
    environment = OfficeEnvironment(OfficeConfig(level=level, n_unseen_tools=32))
    held = set(HELD_OUT_TOOLS)
    for task in (*training(environment), *environment.tasks("eval")):
        used = {call.name for turn in task.turns for call in turn.reference}
        flagged = task.flags == ("unseen_tools",)
        assert bool(used & held) == flagged
        assert bool(set(task.tools) & held) == flagged


def test_held_out_tools_are_unknown_unless_they_are_evaluated() -> None:
    assert set(OfficeEnvironment().tools()) == set(TOOLS) - set(HELD_OUT_TOOLS)
    asked = OfficeEnvironment(OfficeConfig(n_unseen_tools=1))
    assert set(asked.tools()) == set(TOOLS)


def test_suggestions_are_values_of_training_only() -> None:
    environment = OfficeEnvironment(OfficeConfig(n_unseen_tools=1))
    for name, tool in TOOLS.items():
        for parameter in tool.entities:
            values = environment.suggest(name, parameter, {})
            assert len(values) >= 8
            assert not set(map(str, values)) & HELD_OUT
    assert environment.suggest("read_file", "no_such", {}) == ()
    assert environment.suggest("no_such", "name", {}) == ()


def test_every_value_of_a_seed_is_among_the_suggestions() -> None:
    """So a resampler can rename whatever a task holds, also what only the state holds."""
    environment = OfficeEnvironment(OfficeConfig(level="hard", n_train=40))
    pools = [
        environment.suggest(name, parameter, {})
        for name, tool in TOOLS.items()
        for parameter in tool.entities
    ]
    known = {str(value) for pool in pools for value in pool}
    for task in environment.tasks("train"):
        state = json.dumps(list(_leaves(task.initial_state)))
        assert set(re.findall(r"[a-z0-9]+", state)) <= known


def _leaves(value: object) -> Iterator[object]:
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _leaves(item)
    else:
        yield value
