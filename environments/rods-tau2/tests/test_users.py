"""A language model as the customer: a real server, scripted, in all three domains."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from rods_tau2.asset import Asset
from rods_tau2.environment import Tau2Environment
from rods_tau2.users import Prompts

from rods.cli import main
from rods.episode import Episode
from rods.errors import ConfigError
from rods.testing.model_server import ModelServer
from rods.types import AssistantMessage, Message, Rollout, Task, ToolCall

Reply = Callable[[dict[str, Any]], str | dict[str, Any]]
TASKS = ("retail/3", "retail/0", "airline/7", "airline/14")
STOPS = ("###STOP###", "###TRANSFER###", "###OUT-OF-SCOPE###")


@pytest.fixture(scope="module")
def customer() -> Iterator[ModelServer]:
    """The user's server; a test says what it answers."""
    with ModelServer(lambda body: "", models=("customer",)) as server:
        yield server


@pytest.fixture(scope="module")
def world(customer: ModelServer) -> Tau2Environment:
    """All tasks of upstream's base split, with that user."""
    return Tau2Environment(
        Tau2Environment.Config(
            domains=("airline", "retail", "telecom"),
            eval_tasks="base",
            user="openai/customer",
            user_url=customer.url,
            user_retries=0,
        )
    )


@pytest.fixture(scope="module")
def by_id(world: Tau2Environment) -> dict[str, Task]:
    """Task by id."""
    return {task.id: task for task in world.tasks("eval")}


@pytest.fixture(autouse=True)
def _fresh(customer: ModelServer) -> None:
    customer.requests.clear()
    customer.fail_with, customer.reply = 0, lambda body: ""


def says(*answers: str | dict[str, Any]) -> Reply:
    """The user's n-th answer in this conversation, by what the request holds of the earlier."""

    def reply(body: dict[str, Any]) -> str | dict[str, Any]:
        spoken = sum(m["role"] == "assistant" for m in body["messages"])
        return answers[min(spoken, len(answers) - 1)]

    return reply


def calls(*made: ToolCall) -> AssistantMessage:
    return AssistantMessage(calls=made)


def text(content: str) -> AssistantMessage:
    return AssistantMessage(content=content)


def faithful(task: Task) -> list[AssistantMessage]:
    """Asks, makes the gold calls, tells what has to be told."""
    done = [calls(call) for call in task.turns[0].reference]
    return [text("Who are you?"), *done, text(task.turns[0].answer or "It is done.")]


def played(
    world: Tau2Environment, task: Task, messages: Sequence[AssistantMessage]
) -> tuple[Rollout, list[Message]]:
    """The rollout, and all that the policy was shown."""
    episode = Episode(world, task)
    shown = list(episode.opening())
    for message in messages:
        if episode.done:
            break
        shown += episode.advance(message)
    episode.cut()
    return episode.finish(), shown


def solved(rollout: Rollout) -> bool:
    assert rollout.reward is not None
    return rollout.reward.solved


# ------------------------------------------------------------------------------- rewards
@pytest.mark.parametrize("task_id", TASKS)
def test_with_a_faithful_user_the_gold_actions_solve_the_task(
    task_id: str, world: Tau2Environment, customer: ModelServer, by_id: dict[str, Task]
) -> None:
    customer.reply = says("Help me, please.", "I am I.", "Thanks! ###STOP###")
    rollout, _ = played(world, by_id[task_id], faithful(by_id[task_id]))
    assert (rollout.trajectory.stop, solved(rollout)) == ("completed", True)
    said = [turn[-1].message.content for turn in rollout.trajectory.user]
    assert said == ["Help me, please.", "I am I.", "Thanks! ###STOP###"]


@pytest.mark.parametrize("task_id", TASKS)
def test_with_a_user_that_leaves_early_nothing_is_solved(
    task_id: str, world: Tau2Environment, customer: ModelServer, by_id: dict[str, Task]
) -> None:
    customer.reply = says("Help me, please.", "###OUT-OF-SCOPE###")
    rollout, _ = played(world, by_id[task_id], faithful(by_id[task_id]))
    assert (rollout.trajectory.stop, solved(rollout)) == ("completed", False)
    assert len(rollout.trajectory.turns) == 1


@pytest.mark.parametrize("task_id", ["retail/3", "airline/7"])
def test_without_an_end_by_the_user_there_is_no_reward(
    task_id: str, world: Tau2Environment, customer: ModelServer, by_id: dict[str, Task]
) -> None:
    customer.reply = says("Help me, please.", "And then?")
    rollout, _ = played(world, by_id[task_id], faithful(by_id[task_id]))
    assert (rollout.trajectory.stop, solved(rollout)) == ("max_tokens", False)


def test_the_limits_are_upstreams_not_the_episodes(
    world: Tau2Environment, customer: ModelServer, by_id: dict[str, Task]
) -> None:
    customer.reply = says("Help me, please.", "And then?")
    task = by_id["retail/3"]
    rollout, _ = played(world, task, [*faithful(task), *[text("Hm.")] * 200])
    assert (rollout.trajectory.stop, solved(rollout)) == ("max_steps", False)
    turns = [*rollout.trajectory.user, *rollout.trajectory.turns]
    assert sum(1 + bool(step.results) for turn in turns for step in turn) == 200


def test_a_task_that_silence_solves_is_solved_if_the_user_leaves_at_once(
    world: Tau2Environment, customer: ModelServer, by_id: dict[str, Task]
) -> None:
    idle = next(t for t in by_id.values() if "idle" in t.flags and t.id.startswith("airline"))
    customer.reply = says("Never mind. ###STOP###")
    rollout, shown = played(world, idle, [])
    assert (rollout.trajectory.stop, rollout.trajectory.turns) == ("completed", ())
    assert solved(rollout)
    assert [message.role for message in shown] == ["system", "assistant"]


def test_an_agent_that_says_nothing_or_errs_too_often_is_cut(
    world: Tau2Environment, customer: ModelServer, by_id: dict[str, Task]
) -> None:
    customer.reply = says("Help me, please.", "###STOP###")
    task = by_id["retail/3"]
    rollout, _ = played(world, task, [*faithful(task)[1:-1], text(" ")])
    assert (rollout.trajectory.stop, solved(rollout)) == ("max_steps", False)
    wrong = calls(ToolCall(name="get_order_details", arguments={"order_id": "none"}))
    rollout, _ = played(world, task, [wrong] * 9 + faithful(task)[1:])
    assert solved(rollout)
    customer.requests.clear()
    rollout, _ = played(world, task, [wrong] * 10 + faithful(task)[1:])
    assert (rollout.trajectory.stop, solved(rollout)) == ("max_steps", False)
    assert len(customer.requests) == 1


# ------------------------------------------------------------------------------- outages
@pytest.mark.parametrize("status", [400, 503])
@pytest.mark.parametrize("fail_at", [0, 1])
def test_a_user_that_does_not_answer_leaves_the_rollout_unscored(
    fail_at: int,
    status: int,
    world: Tau2Environment,
    customer: ModelServer,
    by_id: dict[str, Task],
) -> None:
    def reply(body: dict[str, Any]) -> str:
        customer.fail_with = status  # from the next request on
        return "Help me, please."

    customer.reply, customer.fail_with = reply, 0 if fail_at else status
    rollout, _ = played(world, by_id["retail/3"], faithful(by_id["retail/3"]))
    assert (rollout.trajectory.stop, rollout.reward) == ("error", None)
    assert "user 'openai/customer' does not answer" in str(rollout.trajectory.error)


def test_a_user_that_stays_silent_is_asked_again_and_then_an_outage(
    world: Tau2Environment, customer: ModelServer, by_id: dict[str, Task]
) -> None:
    rollout, _ = played(world, by_id["retail/3"], [])
    assert (rollout.trajectory.stop, rollout.reward) == ("error", None)
    assert len(customer.requests) == 4


# ------------------------------------------------------------------------------- what is said
@pytest.mark.parametrize("stop", STOPS)
def test_stop_words_end_the_conversation_and_never_reach_the_policy(
    stop: str, world: Tau2Environment, customer: ModelServer, by_id: dict[str, Task]
) -> None:
    customer.reply = says("Help me, please.", f"Well then. {stop} Bye.")
    rollout, shown = played(world, by_id["retail/3"], faithful(by_id["retail/3"]))
    assert rollout.trajectory.stop == "completed"
    heard = [message.content for message in shown if message.role != "system"]
    assert heard == ["Hi! How can I help you today?", "Help me, please."]


def test_the_user_hears_upstreams_words_alone(
    world: Tau2Environment,
    customer: ModelServer,
    by_id: dict[str, Task],
    asset: Asset,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    customer.reply = says("Help me, please.", "###STOP###")
    played(world, by_id["retail/3"], faithful(by_id["retail/3"]))
    first, last = customer.requests
    assert [m["role"] for m in last["messages"]] == ["system", "user", "assistant", "user"]
    assert [m["content"] for m in last["messages"][1:]] == [
        "Hi! How can I help you today?",
        "Help me, please.",
        "Who are you?",
    ]
    assert (first["model"], first["temperature"], "tools" in first) == ("customer", 0.0, False)

    simulator = Prompts(asset)._load("tau2.user.user_simulator")
    tasks = Prompts(asset)._load("tau2.data_model.tasks")
    guidelines = tmp_path / "guidelines.md"
    folder = "tau2/data/tau2/user_simulator"
    guidelines.write_text(asset.text(f"{folder}/simulation_guidelines.md"))
    monkeypatch.setattr(simulator, "GLOBAL_USER_SIM_GUIDELINES_PATH", guidelines)
    entries = json.loads(asset.text("tau2/data/tau2/domains/retail/tasks.json"))
    entry = tasks.Task.model_validate(next(e for e in entries if e["id"] == "3"))
    user = simulator.UserSimulator(tools=None, instructions=str(entry.user_scenario))
    assert last["messages"][0]["content"] == user.system_prompt


def test_the_temperature_may_be_left_to_the_server(
    world: Tau2Environment, customer: ModelServer, by_id: dict[str, Task]
) -> None:
    options = {**world.config.model_dump(), "user_temperature": "server"}
    customer.reply = says("Help me, please.")
    played(Tau2Environment(Tau2Environment.Config(**options)), by_id["retail/3"], [])
    assert "temperature" not in customer.requests[0]
    for wrong in ("hot", 3, float("nan")):
        with pytest.raises(ValidationError, match="user_temperature"):
            Tau2Environment.Config(user_temperature=wrong)


def test_the_policy_gets_upstreams_prompt_and_the_greeting(
    world: Tau2Environment, customer: ModelServer, by_id: dict[str, Task], asset: Asset
) -> None:
    customer.reply = says("Help me, please.")
    _, shown = played(world, by_id["airline/7"], [])
    assert [message.role for message in shown] == ["system", "assistant", "user"]
    agents = Prompts(asset)._load("tau2.agent.llm_agent")
    policy = asset.text("tau2/data/tau2/domains/airline/policy.md")
    assert shown[0].content == agents.LLMAgent(tools=[], domain_policy=policy).system_prompt
    assert "speaks once" not in shown[0].content


def test_the_protocol_names_the_user_and_the_hashes_its_prompts(world: Tau2Environment) -> None:
    assert "user is openai/customer (temperature 0.0), at most 200 steps" in world.protocol()
    guidelines = "tau2/data/tau2/user_simulator/simulation_guidelines.md"
    assert guidelines in world.data_hashes()
    scripted = Tau2Environment()
    assert guidelines not in scripted.data_hashes()
    assert "scripted user" in scripted.protocol()


# ------------------------------------------------------------------------------- telecom
def wire(call: ToolCall, number: int) -> dict[str, Any]:
    function = {"name": call.name, "arguments": json.dumps(call.arguments)}
    return {"tool_calls": [{"id": str(number), "type": "function", "function": function}]}


def gold_of_user(world: Tau2Environment, task: Task) -> list[ToolCall]:
    checks: Any = task.initial_state["checks"]
    made = [ToolCall(name=a["name"], arguments=a["arguments"]) for a in checks["actions"]]
    return [call for call in made if call.name not in world.tools()]


def test_in_telecom_the_user_acts_with_tools_of_its_own(
    world: Tau2Environment, customer: ModelServer, by_id: dict[str, Task]
) -> None:
    task = next(
        task
        for task in by_id.values()
        if task.id.startswith("telecom") and len(gold_of_user(world, task)) > 1 and task.turns
        if task.turns[0].reference
    )
    theirs = gold_of_user(world, task)
    acts = [wire(call, number) for number, call in enumerate(theirs)]
    customer.reply = says("My phone!", *acts, "I did all that.", "###STOP###")
    done = [calls(call) for call in task.turns[0].reference]
    rollout, shown = played(world, task, [*done, text("Now act."), text("Good.")])
    assert (rollout.trajectory.stop, solved(rollout)) == ("completed", True)
    assert [len(turn) for turn in rollout.trajectory.user] == [1, len(theirs) + 1, 1]
    assert [m.content for m in shown if m.role == "user"] == ["My phone!", "I did all that."]
    offered = {tool["function"]["name"] for tool in customer.requests[0]["tools"]}
    assert (len(offered), offered & set(task.tools)) == (30, set())
    assert len(task.tools) == 13
    customer.reply = says("My phone!", "I did all that.", "###STOP###")  # it did nothing
    rollout, _ = played(world, task, [*done, text("Now act."), text("Good.")])
    assert not solved(rollout)


def test_neither_side_has_the_others_tools(world: Tau2Environment, by_id: dict[str, Task]) -> None:
    task = next(task for task in by_id.values() if task.id.startswith("telecom"))
    session, before = world.open(task), world.open(task).state()
    ours, theirs = task.tools[0], ToolCall(name="toggle_airplane_mode")
    assert session.call(theirs).refused
    assert session.user_call(ToolCall(name=ours)).refused
    assert session.state() == before
    assert not session.user_call(theirs).error
    assert session.state() != before
    shop = world.open(by_id["retail/3"])
    assert shop.user_call(theirs).refused


def test_a_user_that_only_calls_is_cut_and_bad_calls_are_answered(
    world: Tau2Environment, customer: ModelServer, by_id: dict[str, Task]
) -> None:
    task = next(task for task in by_id.values() if task.id.startswith("telecom"))
    good = wire(ToolCall(name="check_status_bar"), 1)
    customer.reply = says("My phone!", good)
    short = Tau2Environment(world.config.model_copy(update={"max_steps": 20}))
    rollout, _ = played(short, task, [text("Look.")])
    assert (rollout.trajectory.stop, solved(rollout)) == ("max_steps", False)
    bad = wire(ToolCall(name="check_status_bar"), 1)
    bad["tool_calls"][0]["function"]["arguments"] = "{"
    customer.reply = says("My phone!", bad, "It went wrong.", "###STOP###")
    rollout, _ = played(world, task, [text("Look."), text("Bye.")])
    assert rollout.trajectory.stop == "completed"
    assert "Malformed call" in customer.requests[-1]["messages"][-3]["content"]


# ------------------------------------------------------------------------------- before it plays
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"user": "customer"}, "a user is 'scripted' or openai/NAME"),
        ({"user": "openai/"}, "a user is 'scripted' or openai/NAME"),
        ({"user_url": "http://localhost:1/v1"}, "user_url is for a user that is a model"),
    ],
)
def test_a_user_that_is_none_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Tau2Environment.Config(**options)


def test_a_user_whose_server_is_down_or_lacks_it_is_one_line(customer: ModelServer) -> None:
    def asked(**options: Any) -> None:
        Tau2Environment(Tau2Environment.Config(**options)).require_user()

    with pytest.raises(ConfigError, match=r"does not serve 'clerk', but customer; .*environment"):
        asked(user="openai/clerk", user_url=customer.url)
    with pytest.raises(ConfigError, match=r"No server answers .*environment.user_url=URL"):
        asked(user="openai/customer", user_url="http://127.0.0.1:9/v1")
    asked(user="openai/customer", user_url=customer.url)
    asked()


def test_eval_counts_the_user_and_says_who_it_was(
    customer: ModelServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    customer.reply = says("Help me, please.", "###STOP###")
    with ModelServer(lambda body: "What can I do?") as policy:
        command = ["rods", "eval", "--plugins", "tau2", "--policy", "openai/tiny", "--json"]
        where = ["--lm-url", policy.url, "-o", f"environment.user_url={customer.url}", "-k", "1"]
        who = ["-o", "environment.user=openai/customer", "-o", 'environment.domains=["mock"]']
        every = ["--split", "base"]
        prices = ["-o", "environment.user_price_in=2", "-o", "environment.user_price_out=8"]
        monkeypatch.setattr(sys, "argv", [*command, *where, *who, *every, *prices])
        with pytest.raises(SystemExit) as ended:
            main()
    assert not ended.value.code
    report = json.loads(capsys.readouterr().out)
    assert (report["n"], report["stops"]) == (9, {"completed": 9})
    assert "openai/customer" in report["protocol"]
    used = report["user"]
    # Two of the nine begin in the midst of a dialogue: there the first answer is the last.
    assert used["requests"] == len(customer.requests) == 2 * 9 - 2
    assert used["tokens_out"] == 7 * 4 + 2
    assert used["price"] == pytest.approx((2 * used["tokens_in"] + 8 * 30) / 1e6)
