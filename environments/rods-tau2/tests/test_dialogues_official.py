"""A dialogue goes as in upstream's own orchestrator: what both sides hear, its end, its reward."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from rods_tau2.asset import Asset
from rods_tau2.domains import Domain, DomainName
from rods_tau2.environment import Tau2Environment
from rods_tau2.upstream import load_upstream
from rods_tau2.world import DRAWN

from rods.determinism import Determinism
from rods.episode import Episode
from rods.testing.model_server import ModelServer
from rods.types import AssistantMessage, Task, ToolCall

SEEDS = range(6)
LIMITS = ((200, 10), (12, 10), (200, 2))  # steps, errors
NAMES: tuple[DomainName, ...] = ("retail", "airline", "telecom")
Heard = list[tuple[str, str]]


class Conversation:
    """What both sides say and do, drawn from what upstream wants and from what it does not."""

    def __init__(self, entry: Mapping[str, Any], seed: int, tool: str) -> None:
        """``tool``: one of the agent's."""
        self._tool = tool
        rng = random.Random(f"{entry['id']}/{seed}")
        gold = entry["evaluation_criteria"].get("actions") or []
        ours = [a for a in gold if a.get("requestor") != "user"]
        theirs = [a for a in gold if a.get("requestor") == "user"]
        tell = ", ".join(entry["evaluation_criteria"].get("communicate_info") or ["Done."])
        self.agent = [AssistantMessage(content="Who are you?")]
        self.agent += [AssistantMessage(calls=(_call(a),), content="So.") for a in ours]
        self.user: list[str | ToolCall] = ["Help me.", *map(_call, theirs), "I did.", "And?"]
        if rng.random() < 0.5:
            self._spoil(rng)
        self.agent += [AssistantMessage(content=tell), AssistantMessage(content="Bye.")]
        self.user += [f"Well. {rng.choice(('###STOP###', '###TRANSFER###'))}"]

    def _spoil(self, rng: random.Random) -> None:
        wrong = ToolCall(name=self._tool, arguments={"unknown": 1})
        self.agent.insert(rng.randrange(len(self.agent)), AssistantMessage(calls=(wrong, wrong)))
        del self.agent[rng.randrange(len(self.agent))]
        del self.user[rng.randrange(1, len(self.user))]

    def said(self, spoken: int) -> str | ToolCall:
        """The user's message after so many of its own."""
        return self.user[min(spoken, len(self.user) - 1)]


def _call(action: Mapping[str, Any]) -> ToolCall:
    return ToolCall(name=action["name"], arguments=action["arguments"])


# ------------------------------------------------------------------------------- upstream
class Upstream:
    """Upstream's orchestrator with both models scripted."""

    def __init__(self, asset: Asset, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._load, self._patch = load_upstream(asset).load, monkeypatch
        simulator = self._load("tau2.user.user_simulator")
        for name in ("simulation_guidelines", "simulation_guidelines_tools"):
            (folder / name).write_text(asset.text(f"tau2/data/tau2/user_simulator/{name}.md"))
        monkeypatch.setattr(
            simulator, "GLOBAL_USER_SIM_GUIDELINES_PATH", folder / "simulation_guidelines"
        )
        monkeypatch.setattr(
            simulator,
            "GLOBAL_USER_SIM_GUIDELINES_PATH_TOOLS",
            folder / "simulation_guidelines_tools",
        )
        monkeypatch.setattr(
            self._load("tau2.orchestrator.orchestrator"), "get_cost", lambda messages: None
        )

    def play(
        self, judge: Any, conversation: Conversation, steps: int, errors: int
    ) -> tuple[Heard, Heard, str, float]:
        """What the agent and the user heard last, why it ended, and the official reward."""
        heard: dict[str, Heard] = {}
        messages = iter([*conversation.agent, *[AssistantMessage(content="Hm.")] * 300])
        self._patch.setattr(
            self._load("tau2.agent.llm_agent"),
            "generate",
            lambda model, messages, tools, **_: self._agent(heard, messages, next(script)),
        )
        script = messages
        self._patch.setattr(
            self._load("tau2.user.user_simulator"),
            "generate",
            lambda model, messages, tools, **_: self._user(heard, messages, conversation),
        )
        world = judge.construct([c for m in conversation.agent for c in m.calls])
        run = self._orchestrator(judge, world, steps, errors).run()
        reason = str(run.termination_reason.value)
        reward = judge.judged(run.messages) if reason == "user_stop" else 0.0
        return heard["agent"], heard["user"], reason, reward

    def _orchestrator(self, judge: Any, world: Any, steps: int, errors: int) -> Any:
        agent = self._load("tau2.agent.llm_agent").LLMAgent(
            tools=[], domain_policy=judge.policy, llm="agent"
        )
        has_tools = world.user_tools is not None
        user = self._load("tau2.user.user_simulator").UserSimulator(
            tools=[] if has_tools else None, instructions=str(judge.task.user_scenario), llm="user"
        )
        return self._load("tau2.orchestrator.orchestrator").Orchestrator(
            domain="any",
            agent=agent,
            user=user,
            environment=world,
            task=judge.task,
            max_steps=steps,
            max_errors=errors,
        )

    def _agent(self, heard: dict[str, Heard], messages: Sequence[Any], said: Any) -> Any:
        heard["agent"] = _texts(messages)
        return self._message(said.content, said.calls)

    def _user(self, heard: dict[str, Heard], messages: Sequence[Any], conversation: Any) -> Any:
        heard["user"] = _texts(messages)
        said = conversation.said(sum(m.role == "assistant" for m in messages))
        return self._message("", [said]) if isinstance(said, ToolCall) else self._message(said, ())

    def _message(self, content: str, calls: Sequence[ToolCall]) -> Any:
        records = self._load("tau2.data_model.message")
        made = [
            records.ToolCall(id=str(n), name=c.name, arguments=c.arguments)
            for n, c in enumerate(calls)
        ]
        return records.AssistantMessage(role="assistant", content=content, tool_calls=made or None)


def _texts(messages: Sequence[Any]) -> Heard:
    return [_heard(message.role, message.content or "") for message in messages]


def _heard(role: str, content: str) -> tuple[str, str]:
    """Lists of flights are left out: upstream's world is cut down to what the task names."""
    flights = role == "tool" and (content == "[]" or content.startswith('[{"flight_number"'))
    return (role, "flights" if flights else content)


# ------------------------------------------------------------------------------- ours
def ours(
    world: Tau2Environment, server: ModelServer, task: Task, conversation: Conversation
) -> tuple[Heard, Heard, str, bool]:
    """The same of an episode with a served user."""

    def reply(body: dict[str, Any]) -> str | dict[str, Any]:
        said = conversation.said(sum(m["role"] == "assistant" for m in body["messages"]))
        if isinstance(said, str):
            return said
        function = {"name": said.name, "arguments": json.dumps(said.arguments)}
        return {"tool_calls": [{"id": "0", "type": "function", "function": function}]}

    server.reply = reply
    server.requests.clear()
    episode = Episode(world, task)
    shown: Heard = [_heard(m.role, m.content) for m in episode.opening()]
    for message in (*conversation.agent, *[AssistantMessage(content="Hm.")] * 300):
        if episode.done:
            break
        before = list(shown)
        new = episode.advance(message)
        shown += [("assistant", message.content), *(_heard(m.role, m.content) for m in new)]
    rollout = episode.finish()
    assert rollout.reward is not None
    user = [(m["role"], m["content"]) for m in server.requests[-1]["messages"]]
    return before, user, rollout.trajectory.stop, rollout.reward.solved


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    """The user's."""
    with ModelServer(lambda body: "") as server:
        yield server


@pytest.mark.slow
@pytest.mark.parametrize(("steps", "errors"), LIMITS)
@pytest.mark.parametrize("name", NAMES)
def test_a_dialogue_goes_as_upstream_has_it(
    name: DomainName,
    steps: int,
    errors: int,
    domains: dict[DomainName, Domain],
    asset: Asset,
    official: Callable[[Domain, Any], Any],
    server: ModelServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = Tau2Environment(
        Tau2Environment.Config(
            domains=(name,),
            eval_tasks="base",
            user="openai/tiny",
            user_url=server.url,
            max_steps=steps,
            max_errors=errors,
        )
    )
    known = {task.id: task for task in world.tasks("eval")}
    upstream = Upstream(asset, tmp_path, monkeypatch)
    entries = random.Random(name).sample(domains[name].entries(), len(SEEDS))
    ends, rewards = set(), set()
    for seed, entry in zip(SEEDS, entries, strict=True):
        conversation = Conversation(entry, seed, min(world.tools()))
        judge = official(world._domain(name), entry)
        with Determinism(DRAWN):
            agent, user, reason, reward = upstream.play(judge, conversation, steps, errors)
        mine = ours(world, server, known[f"{name}/{entry['id']}"], conversation)
        assert mine == (agent, user, _stop(reason), reward == 1), entry["id"]
        ends.add(reason)
        rewards.add(reward)
    expected = {200: "too_many_errors" if errors == 2 else "user_stop", 12: "max_steps"}
    assert expected[steps] in ends
    assert 1.0 in rewards or steps == 12


def _stop(reason: str) -> str:
    return "completed" if reason == "user_stop" else "max_steps"
