"""AgentDojo's tasks: counts, gold, idle tasks, a clock that stands, injections."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter

import pytest
from rods_agentdojo.environment import AgentDojoEnvironment

from rods.testing import check_environment
from rods.testing.agents import play, reference, script, silent
from rods.types import AssistantMessage, Task, ToolCall

IDLE = {f"banking/user_task_{number}" for number in (5, 6, 8, 9, 10)}


def test_every_user_task_of_upstream_is_there(
    environment: AgentDojoEnvironment, tasks: dict[str, Task]
) -> None:
    assert Counter(task_id.partition("/")[0] for task_id in tasks) == {
        "workspace": 40,
        "travel": 20,
        "banking": 16,
        "slack": 21,
    }
    offered = {task_id.partition("/")[0]: len(task.tools) for task_id, task in tasks.items()}
    assert sum(offered.values()) == 74


def test_every_reference_has_upstreams_utility(
    environment: AgentDojoEnvironment, tasks: dict[str, Task]
) -> None:
    failed = []
    for task in tasks.values():
        reward = play(environment, task, reference).reward
        if reward is None or not reward.solved or reward.value != 1:
            failed.append(task.id)
    assert failed == []


def test_an_idle_agent_solves_exactly_the_flagged_tasks(
    environment: AgentDojoEnvironment, tasks: dict[str, Task]
) -> None:
    says_done = script(AssistantMessage(content="Done."))
    solved = set()
    for task in tasks.values():
        for agent in (silent, says_done):
            reward = play(environment, task, agent).reward
            assert reward is not None
            if reward.solved:
                solved.add(task.id)
    assert solved == IDLE == {task.id for task in tasks.values() if task.flags}


def test_flagged_tasks_are_kept_out_of_training() -> None:
    default = AgentDojoEnvironment(AgentDojoEnvironment.Config(suites=("banking",)))
    assert not IDLE & {task.id for task in default.tasks("train")}
    assert IDLE & {task.id for task in default.tasks("eval")}


def test_the_clock_stands_still(environment: AgentDojoEnvironment, tasks: dict[str, Task]) -> None:
    session = environment.open(tasks["workspace/user_task_0"])
    call = ToolCall(name="create_file", arguments={"filename": "a.txt", "content": "b"})
    assert "2024-05-15T12:00:00" in session.call(call).content


def test_participants_stand_in_the_order_given(
    environment: AgentDojoEnvironment, tasks: dict[str, Task]
) -> None:
    names = [f"person{number}@example.com" for number in (3, 1, 2, 3)]
    arguments = {
        "title": "Talk",
        "start_time": "2024-05-20 10:00",
        "end_time": "2024-05-20 11:00",
        "participants": names,
    }
    session = environment.open(tasks["workspace/user_task_0"])
    result = session.call(ToolCall(name="create_calendar_event", arguments=arguments))
    shown = [result.content.index(name) for name in names[:3]]
    assert shown == sorted(shown)


def test_progress_counts_what_the_reference_changes(
    environment: AgentDojoEnvironment, tasks: dict[str, Task]
) -> None:
    shares = []
    for task in tasks.values():
        calls = task.turns[0].reference
        agent = script(AssistantMessage(calls=calls[:-1]), AssistantMessage(content="Done."))
        reward = play(environment, task, agent).reward
        assert reward is not None
        shares.append(reward.value)
    assert any(0 < share < 1 for share in shares)


def test_loading_imports_no_client_and_changes_no_dumper() -> None:
    program = (
        "import sys, yaml; before = dict(yaml.Dumper.yaml_representers)\n"
        "from rods_agentdojo.environment import AgentDojoEnvironment\n"
        "environment = AgentDojoEnvironment(AgentDojoEnvironment.Config(suites=('banking',)))\n"
        "environment.open(environment.tasks('eval')[0]).state()\n"
        "loaded = {name.split('.')[0] for name in sys.modules}\n"
        "assert not loaded & {'agentdojo', 'anthropic', 'cohere', 'openai', 'google'}, loaded\n"
        "assert yaml.Dumper.yaml_representers == before\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)


def test_an_injection_is_in_the_world_and_its_success_is_no_solution() -> None:
    config = AgentDojoEnvironment.Config(suites=("banking",), attack="direct")
    environment = AgentDojoEnvironment(config)
    attacked = environment.tasks("eval")
    assert all("+injection_task_" in task.id for task in attacked)
    assert not {task.id for task in attacked} & {task.id for task in environment.tasks("train")}
    task = next(t for t in attacked if t.id.startswith("banking/user_task_2+") and not t.flags)
    assert "TODO: " in str(task.initial_state["environment"])
    suite = environment._suite("banking")
    injection = suite.injection_tasks[str(task.initial_state["injection"])]
    wanted = suite.reference(injection, suite.opened(task.initial_state["environment"]))  # type: ignore[arg-type]
    good = play(environment, task, reference).reward
    taken_in = script(AssistantMessage(calls=wanted), AssistantMessage(content="Done."))
    bad = play(environment, task, taken_in).reward
    assert good is not None
    assert good.solved
    assert bad is not None
    assert (bad.solved, bad.value, bad.verdicts[0].response_ok) == (False, 0.0, False)


@pytest.mark.slow
def test_the_environment_conforms(environment: AgentDojoEnvironment) -> None:
    default = AgentDojoEnvironment()
    failed = [check for check in check_environment(default, limit=12, sessions=8) if not check.ok]
    assert failed == []
