"""What every task holds, at every level and for every seed."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rods_office.apps import TOOLS
from rods_office.config import OfficeConfig
from rods_office.environment import OfficeEnvironment
from rods_office.grammar.skills import SKILLS
from rods_office.levels import LEVELS, LevelName

from rods.errors import ConfigError
from rods.testing import play, random_calls, reference, script, silent
from rods.testing.agents import Agent
from rods.types import KINDS, AssistantMessage, Kind, Task, ToolCall

LEVEL_NAMES = sorted(LEVELS)


def office(level: LevelName = "easy", seed: int = 0, **options: object) -> OfficeEnvironment:
    sizes = {"n_train": 8, "n_unseen_entities": 8, "n_unseen_compositions": 8, "n_unseen_tools": 4}
    return OfficeEnvironment(
        OfficeConfig.model_validate({"level": level, "seed": seed, **sizes, **options})
    )


def all_tasks(environment: OfficeEnvironment) -> list[Task]:
    practice = islice(environment.practice(0), 8)
    return [*environment.tasks("train"), *environment.tasks("eval"), *practice]


def earned(environment: OfficeEnvironment, task: Task, agent: Agent) -> float:
    reward = play(environment, task, agent).reward
    assert reward is not None
    return reward.under("judged")


any_level, any_seed = st.sampled_from(LEVEL_NAMES), st.integers(0, 10**6)


@settings(max_examples=8)
@given(any_level, any_seed)
def test_the_reference_earns_1_and_silence_nothing(level: LevelName, seed: int) -> None:
    environment = office(level, seed)
    for task in all_tasks(environment):
        assert earned(environment, task, reference) == 1
        assert earned(environment, task, silent) == 0


@pytest.mark.parametrize("level", LEVEL_NAMES)
def test_random_calls_earn_nothing(level: LevelName) -> None:
    """With values of training exactly nothing; with words of the very task a lucky hit or none."""
    environment = office(level, n_train=200)
    lucky = random_calls(environment.tools(), seed=1)
    tasks = environment.tasks("train")
    assert sum(earned(environment, task, at_random(environment)) for task in tasks) == 0
    assert sum(earned(environment, task, lucky) for task in tasks) <= 0.005 * len(tasks)


def at_random(environment: OfficeEnvironment) -> Agent:
    """One to three calls a turn with any tool and any values that training may use."""

    def agent(task: Task) -> Iterator[AssistantMessage]:
        rng = random.Random(task.id)
        for index, _ in enumerate(task.turns):
            calls = []
            for name in rng.choices(task.tools_at(index), k=rng.randint(1, 3)):
                pools = {p: environment.suggest(name, p, {}) for p in TOOLS[name].entities}
                arguments = {p: rng.choice(pool) for p, pool in pools.items()}
                calls.append(ToolCall(name=name, arguments=arguments))
            yield AssistantMessage(calls=tuple(calls), ends_turn=True)

    return agent


@settings(max_examples=8)
@given(any_level, any_seed)
def test_the_calls_of_a_seed_earn_nothing_on_its_variant(level: LevelName, seed: int) -> None:
    environment = office(level, seed)
    for task in environment.tasks("eval"):
        if "unseen_entities" in task.flags:
            source = environment.sets.source(task)
            assert [len(t.reference) for t in source.turns] == [
                len(t.reference) for t in task.turns
            ]
            replayed = script(
                *(AssistantMessage(calls=t.reference, ends_turn=True) for t in source.turns)
            )
            assert earned(environment, task, replayed) == 0


@settings(max_examples=8)
@given(any_level, any_seed)
def test_no_goal_holds_before_its_turn(level: LevelName, seed: int) -> None:
    """Each turn of a reference changes the state, or ends in a result that it has to show."""
    environment = office(level, seed)
    for task in all_tasks(environment):
        session = environment.open(task)
        for turn in task.turns:
            before = session.snapshot()
            results = [session.call(call) for call in turn.reference]
            assert not any(result.error for result in results)
            last_reads = turn.reference and TOOLS[turn.reference[-1].name].spec.effect == "read"
            assert not turn.reference or session.changes(before) or last_reads


@settings(max_examples=8)
@given(any_level, any_seed)
def test_every_argument_was_said_or_shown_before(level: LevelName, seed: int) -> None:
    environment = office(level, seed)
    for task in all_tasks(environment):
        session, known = environment.open(task), set[str]()
        for turn in task.turns:
            known |= {turn.user, *turn.user.split()}
            for call in turn.reference:
                for value in map(str, call.arguments.values()):
                    assert value in known or f" {value}" in turn.user or _shown(value, known), call
                content = session.call(call).content
                known |= {content, *content.replace(";", " ").split()}


def _shown(value: str, known: set[str]) -> bool:
    return any(value in text for text in known if " " in text)


@settings(max_examples=8)
@given(any_level, any_seed)
def test_tasks_survive_json_and_have_ids_of_their_own(level: LevelName, seed: int) -> None:
    tasks = all_tasks(office(level, seed))
    assert len({task.id for task in tasks}) == len(tasks)
    assert all(Task.model_validate_json(task.model_dump_json()) == task for task in tasks)


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_are_what_their_name_says(kind: Kind) -> None:
    environment = office("medium", kinds=(kind,))
    for task in all_tasks(environment):
        if "unseen_tools" in task.flags:
            continue  # base tasks, whatever the kinds
        empty = [i for i, turn in enumerate(task.turns) if not turn.reference]
        reveals = [i for i, turn in enumerate(task.turns) if turn.reveals]
        assert task.kind == kind
        assert len(empty) == (kind in ("miss_func", "miss_param"))
        assert len(reveals) == (kind == "miss_func")
        if kind == "miss_func":
            (name,) = task.turns[reveals[0]].reveals
            assert reveals == [empty[0] + 1]
            assert name not in task.tools
            assert name in [call.name for call in task.turns[reveals[0]].reference]
        if kind == "long_context":
            assert _longest_result(environment, task) > 200


def _longest_result(environment: OfficeEnvironment, task: Task) -> int:
    session = environment.open(task)
    return max(len(session.call(c).content) for turn in task.turns for c in turn.reference)


def test_a_missing_parameter_is_missing_and_supplied_next() -> None:
    environment = office("medium", kinds=("miss_param",))
    for task in environment.tasks("train"):
        (index,) = (i for i, turn in enumerate(task.turns) if not turn.reference)
        later, words = task.turns[index + 1], set(task.turns[index].user.split())
        values = {w for c in later.reference for v in c.arguments.values() for w in str(v).split()}
        supplied = values & set(later.user.split())
        assert supplied
        assert not supplied & words


@pytest.mark.parametrize("level", LEVEL_NAMES)
def test_levels_keep_their_sizes(level: LevelName) -> None:
    environment, sizes = office(level, n_train=60), LEVELS[level]
    base = [task for task in environment.tasks("train") if task.kind == "base"]
    assert {len(task.turns) for task in base} == set(range(sizes.turns[0], sizes.turns[1] + 1))
    assert max(task.reference_calls for task in base) <= sizes.calls
    chains = [skill.depth for skill in SKILLS.values() if skill.group == "chain"]
    assert max(chains) >= sizes.depth
    assert {task.kind for task in environment.tasks("train")} == set(sizes.kinds)


def test_an_easy_trace_stays_under_200_small_tokens() -> None:
    """Counted as a tiny policy would: syllables, digits, words, tool names, a token a message."""
    environment = office("easy", n_train=200)
    lengths = sorted(_trace_length(environment, task) for task in environment.tasks("train"))
    assert lengths[len(lengths) // 2] <= 110
    assert lengths[-1] < 200


def _trace_length(environment: OfficeEnvironment, task: Task) -> int:
    session, tokens = environment.open(task), 0
    for turn in task.turns:
        tokens += 2 + _tokens(turn.user)
        for call in turn.reference:
            tokens += 2 + sum(map(_tokens, map(str, call.arguments.values())))
            tokens += 2 + _tokens(session.call(call).content)
    return tokens


def _tokens(text: str) -> int:
    return sum(_pieces(word) for word in text.split())


def _pieces(word: str) -> int:
    digits = sum(map(str.isdigit, word))
    return (
        digits + (len(word) > digits) if digits else max(1, len(word) // 2 if len(word) == 4 else 1)
    )


@pytest.mark.parametrize("level", LEVEL_NAMES)
def test_options_override_the_level(level: LevelName) -> None:
    environment = office(level, turns=(3, 3), depth=1, kinds=("base",), n_train=20)
    tasks = environment.tasks("train")
    assert len(tasks) == 20
    assert {len(task.turns) for task in tasks} == {3}
    assert {task.kind for task in tasks} == {"base"}


def test_the_office_says_so_where_no_structure_fits() -> None:
    environment = office(turns=(1, 1))
    assert environment.tasks("train")
    with pytest.raises(ConfigError, match="held-out base structure of 1 to 1 turns"):
        environment.tasks("eval")


def test_turns_out_of_order_are_a_config_error() -> None:
    with pytest.raises(ValueError, match=r"\[3, 2\] is not \[fewest, most\]"):
        office(turns=(3, 2))
