"""A served model plays tasks: by a scripted server, and by llama.cpp's own."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import pytest

from rods.errors import ConfigError
from rods.served import ServedConfig, ServedPolicy
from rods.synthesis.lm.weights import open_weights
from rods.testing import FakeEnvironment
from rods.testing.model_server import ModelServer
from rods.types import Rollout, Task

IDS = count()
Reply = Callable[[dict[str, Any]], str | dict[str, Any]]


def wire(name: str, arguments: Any) -> dict[str, Any]:
    """A call as servers send it."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return {
        "id": f"call-{next(IDS)}",
        "type": "function",
        "function": {"name": name, "arguments": text},
    }


def task_of(kind: str) -> Task:
    return next(task for task in FakeEnvironment().tasks("eval") if task.kind == kind)


def reference_model(task: Task) -> Reply:
    """Solves the task: the reference of the turn that the request has reached."""

    def reply(body: dict[str, Any]) -> str | dict[str, Any]:
        messages = body["messages"]
        turn = task.turns[sum(m["role"] == "user" for m in messages) - 1]
        if messages[-1]["role"] == "tool" or not turn.reference:
            return "Done."
        return {"tool_calls": [wire(call.name, call.arguments) for call in turn.reference]}

    return reply


def played(server: ModelServer, task: Task, **options: Any) -> tuple[Rollout, ServedPolicy]:
    config = ServedConfig(model="tiny", url=server.url, retries=0, **options)
    policy = ServedPolicy(config)
    (group,) = policy.evaluate([task], FakeEnvironment(), k=1, seed=0)
    return group.rollouts[0], policy


@pytest.mark.parametrize("kind", ["base", "miss_func", "miss_param", "long_context"])
def test_a_model_that_makes_the_references_calls_solves_every_kind(kind: str) -> None:
    task = task_of(kind)
    with ModelServer(reference_model(task)) as server:
        rollout, policy = played(server, task)
    assert rollout.reward is not None
    assert rollout.reward.solved
    assert policy.usage()["requests"] == len(server.requests)


def test_the_server_sees_the_tools_that_are_handed_over_and_answers_to_its_calls() -> None:
    task = task_of("miss_func")
    with ModelServer(reference_model(task)) as server:
        played(server, task)
    offered = [{t["function"]["name"] for t in body["tools"]} for body in server.requests]
    assert "cancel" not in offered[0]
    assert "cancel" in offered[-1]
    last = server.requests[-1]["messages"]
    asked = [c["id"] for m in last for c in m.get("tool_calls", ())]
    assert asked == [m["tool_call_id"] for m in last if m["role"] == "tool"]
    assert last[0]["role"] == "system"


@pytest.mark.parametrize("arguments", ["{'item': 1}", "[1]", "NaN", '{"amount": NaN}', "[" * 9999])
def test_arguments_that_are_no_json_object_are_malformed_and_leave_a_sound_history(
    arguments: str,
) -> None:
    def reply(body: dict[str, Any]) -> str | dict[str, Any]:
        if body["messages"][-1]["role"] == "tool":
            return "Sorry."
        sound = wire("count", {"item": "lamps"})
        return {"tool_calls": [sound, wire("count", arguments)]}

    with ModelServer(reply) as server:
        rollout, _ = played(server, task_of("base"))
    assert rollout.trajectory.malformed == len(task_of("base").turns)
    assert rollout.trajectory.calls == 0
    history = server.requests[1]["messages"]
    assert [json.loads(c["function"]["arguments"]) for c in history[-3]["tool_calls"]] == [
        {"item": "lamps"},
        {},
    ]
    assert [m["role"] for m in history[-2:]] == ["tool", "tool"]


def test_a_server_that_fails_leaves_rollouts_unscored_never_zero() -> None:
    with ModelServer(lambda body: "Done.") as server:
        server.fail_with = 503
        rollout, _ = played(server, task_of("base"))
    assert rollout.reward is None
    assert rollout.trajectory.stop == "error"


def test_a_server_that_went_away_leaves_rollouts_unscored() -> None:
    server = ModelServer(lambda body: "Done.")
    with server:
        pass
    rollout, _ = played(server, task_of("base"), timeout_s=2)
    assert rollout.reward is None


def test_a_request_that_the_server_refuses_ends_the_evaluation_with_its_reason() -> None:
    with ModelServer(lambda body: "Done.") as server:
        server.fail_with = 400
        with pytest.raises(ConfigError, match="scripted failure"):
            played(server, task_of("base"))


def test_groups_come_in_the_order_of_tasks_with_k_seeds_that_differ() -> None:
    tasks = FakeEnvironment().tasks("eval")[:3]
    with ModelServer(lambda body: "Done.") as server:
        policy = ServedPolicy(ServedConfig(model="tiny", url=server.url, concurrency=3))
        first = policy.evaluate(tasks, FakeEnvironment(), k=2, seed=5)
        seeds = [body["seed"] for body in server.requests]
        policy.evaluate(tasks, FakeEnvironment(), k=2, seed=5)
    assert [group.entry_id for group in first] == [task.id for task in tasks]
    assert len(set(seeds)) == 6
    assert sorted(seeds) == sorted(body["seed"] for body in server.requests[len(seeds) :])


def test_calls_written_as_text_are_counted() -> None:
    with ModelServer(lambda body: '<tool_call>{"name": "count"}</tool_call>') as server:
        _, policy = played(server, task_of("base"))
    assert policy.usage()["calls_as_text"] == policy.usage()["requests"] > 0


# ------------------------------------------------------------------------------- before it plays
def test_a_server_that_knows_the_model_is_fit() -> None:
    with ModelServer(lambda body: "") as server:
        ServedPolicy(ServedConfig(model="tiny", url=server.url)).require()


def test_a_model_that_the_server_does_not_serve_is_named_with_those_it_does() -> None:
    with ModelServer(lambda body: "", models=("big", "small")) as server:
        policy = ServedPolicy(ServedConfig(model="tiny", url=server.url))
        with pytest.raises(ConfigError, match="does not serve 'tiny', but big, small"):
            policy.require()


def test_a_key_that_is_refused_is_said_with_its_variable() -> None:
    with ModelServer(lambda body: "", key="secret") as server:
        config = ServedConfig(model="tiny", url=server.url, api_key_env="NO_SUCH_KEY")
        with pytest.raises(ConfigError, match="NO_SUCH_KEY"):
            ServedPolicy(config).require()


def test_no_server_at_all_is_one_line() -> None:
    config = ServedConfig(model="tiny", url="http://127.0.0.1:9/v1", timeout_s=2)
    with pytest.raises(ConfigError, match="No server answers"):
        ServedPolicy(config).require()


# ------------------------------------------------------------------------------- a real server
@pytest.fixture(scope="module")
def llama_cpp() -> Iterator[str]:
    """The address of llama.cpp's server with SmolLM2."""
    xllamacpp = pytest.importorskip("xllamacpp")
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(open_weights())
    parameters.hostnames, parameters.port = ["127.0.0.1"], 0
    parameters.n_ctx, parameters.n_parallel, parameters.use_jinja = 4096, 1, True
    for threads in (parameters.cpuparams, parameters.cpuparams_batch):
        threads.n_threads, threads.poll = 1, 0
    parameters.verbosity = 0
    server = xllamacpp.Server(parameters)
    yield f"{server.listening_address}/v1"
    del server


@pytest.mark.slow
def test_llama_cpps_server_plays_a_task_to_its_end(llama_cpp: str) -> None:
    policy = ServedPolicy(ServedConfig(model="any", url=llama_cpp, max_tokens=24, concurrency=1))
    (group,) = policy.evaluate([task_of("base")], FakeEnvironment(), k=1, seed=0)
    assert group.rollouts[0].reward is not None
    assert group.rollouts[0].trajectory.stop in ("completed", "max_tokens")
    assert policy.usage()["tokens_in"] > 50
