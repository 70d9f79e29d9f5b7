"""The real clone, where RODS_ACEBENCH points to it: upstream's own check on the same end states."""

from __future__ import annotations

import ast
import importlib
import json
import random
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from rods_acebench.environment import AcebenchEnvironment
from rods_acebench.judging import Goal
from rods_acebench.world import compared

from rods.testing import check_environment
from rods.testing.agents import play, reference, script
from rods.types import AssistantMessage, JsonObject, Task, ToolCall

Checker = Callable[[Any, Any], dict[str, Any]]
Solve = Callable[[AcebenchEnvironment, Task], tuple[ToolCall, ...]]


@pytest.fixture(scope="module", params=["en", "zh"])
def real(request: pytest.FixtureRequest, real_clone: Path) -> AcebenchEnvironment:
    if not (real_clone / f"data_all/data_{request.param}").is_dir():
        pytest.skip(f"this clone has no data in {request.param!r}")
    config = AcebenchEnvironment.Config(
        path=real_clone, language=request.param, class_names="literal"
    )
    return AcebenchEnvironment(config)


@pytest.fixture(scope="module")
def checker(real_clone: Path) -> Checker:
    """``agent_checker`` of the clone, without the imports of its module."""
    tree = ast.parse((real_clone / "model_eval/checker.py").read_text(encoding="utf-8"))
    found = [n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == "agent_checker"]
    names: dict[str, Any] = {}
    exec(compile(ast.Module(found, []), "checker.py", "exec"), names)
    function: Checker = names["agent_checker"]
    return function


def official(checker: Checker, task: Task, state: JsonObject) -> bool:
    """Upstream's loop over the wanted classes (``agent_eval``)."""
    wanted: Any = task.initial_state["wanted"]
    ended = [{name: attributes} for name, attributes in state.items()]
    if len(wanted) != len(ended):
        return False
    for answer in wanted:
        matched = next((one for one in ended if one.keys() == answer.keys()), None)
        if matched and not checker(matched, answer)["valid"]:
            return False
    return True


def test_the_clone_conforms(real: AcebenchEnvironment) -> None:
    assert [check for check in check_environment(real) if not check.ok] == []


def test_verdicts_are_upstreams(real: AcebenchEnvironment, checker: Checker, solve: Solve) -> None:
    rng = random.Random(1)
    tasks = list(real.tasks("eval"))
    pool = [call for task in tasks for call in solve(real, task)]
    verdicts = []
    for task in tasks:
        for _ in range(20):
            calls = _mutated([*solve(real, task)], pool, rng)
            session = real.open(task)
            for call in calls:
                session.call(call)
            expected = official(checker, task, session.state())
            said = AssistantMessage(calls=tuple(calls))
            rollout = play(real, task, script(said, AssistantMessage(content="Done.")))
            assert rollout.reward is not None
            assert rollout.reward.solved == (expected and bool(calls)), (task.id, calls)
            verdicts.append(expected)
    assert 0.1 < sum(verdicts) / len(verdicts) < 0.9


def _mutated(calls: list[ToolCall], pool: list[ToolCall], rng: random.Random) -> list[ToolCall]:
    """The solution with up to two calls more, less or repeated."""
    for _ in range(rng.randint(0, 2)):
        fault = rng.randrange(3)
        if fault == 0 and calls:
            calls.pop(rng.randrange(len(calls)))
        elif fault == 1:
            calls.insert(rng.randint(0, len(calls)), rng.choice(pool))
        elif calls:
            calls.append(rng.choice(calls))
    return calls


@pytest.fixture(params=["multi_step", "multi_turn"])
def executor(
    request: pytest.FixtureRequest, real_clone: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[ModuleType]:
    """The module of the clone that executes calls, which are texts there."""
    name = f"model_inference.{request.param}.{request.param}_utils"
    if not (real_clone / f"{name.replace('.', '/')}.py").is_file():
        pytest.skip("this clone has no executor")
    monkeypatch.syspath_prepend(str(real_clone))
    yield importlib.import_module(name)
    for known in [known for known in sys.modules if known.startswith("model_inference")]:
        del sys.modules[known]


def test_calls_do_what_they_do_upstream(
    real: AcebenchEnvironment, executor: ModuleType, solve: Solve
) -> None:
    rng = random.Random(2)
    tasks = [task for task in real.tasks("eval") if task.flags[0] in executor.__name__]
    pool = [call for task in tasks for call in solve(real, task)]
    for number, task in enumerate(tasks * 10):
        session = real.open(task)
        for call in _mutated([*solve(real, task)], pool, rng):
            ours = session.call(call).content
            theirs, instances = _executed(
                executor, task, call, f"run{number}", real.config.language
            )
            if isinstance(instances, dict):  # else the call raised; ours is an error, too
                state = {name: compared(name, one) for name, one in instances.items()}
                assert session.state() == state, (task.id, call)
                assert _told(ours) == _told(theirs[0]), (task.id, call)


def _executed(
    executor: ModuleType, task: Task, call: ToolCall, run: str, language: str
) -> tuple[Any, Any]:
    state: Any = task.initial_state
    text = f"{call.name}({', '.join(f'{k}={v!r}' for k, v in call.arguments.items())})"
    run_it: Callable[..., tuple[Any, Any]] = executor.execute_agent_func_call
    return run_it([text], state["config"], state["classes"], "policy", run, language)


def _told(text: str) -> Any:
    """A result, whether it was written as JSON or as Python shows it."""
    for read in (json.loads, ast.literal_eval):
        try:
            return read(text)
        except (ValueError, SyntaxError):
            continue
    return "error" if text.startswith(("Error", "There is no tool")) else text


def test_what_upstream_wants_is_right_and_a_changed_part_of_it_is_not(
    real: AcebenchEnvironment, checker: Checker
) -> None:
    for task in real.tasks("eval"):
        wanted: Any = task.initial_state["wanted"]
        state = {name: attributes for answer in wanted for name, attributes in answer.items()}
        assert Goal(wanted, "literal", {}).reached(state) == official(checker, task, state)
        for name, attributes in state.items():
            for attribute in attributes:
                spoilt = {**state, name: {**attributes, attribute: "spoilt"}}
                ours = Goal(wanted, "literal", {}).reached(spoilt)
                assert ours is False, (task.id, name, attribute)


def test_references_solve_their_tasks(real: AcebenchEnvironment) -> None:
    known = [task for task in real.tasks("eval") if "defect" not in task.flags]
    assert known
    for task in known:
        reward = play(real, task, reference).reward
        assert reward is not None
        assert reward.solved


@pytest.mark.parametrize("names", ["aliases", "literal"])
def test_every_task_can_be_solved(real: AcebenchEnvironment, solve: Solve, names: str) -> None:
    options = {**real.config.model_dump(), "class_names": names}
    environment = AcebenchEnvironment(AcebenchEnvironment.Config.model_validate(options))
    for task in environment.tasks("eval"):
        calls = AssistantMessage(calls=solve(environment, task))
        rollout = play(environment, task, script(calls, AssistantMessage(content="Done.")))
        assert rollout.reward is not None
        assert rollout.reward.solved, task.id
