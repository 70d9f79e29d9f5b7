"""The memory suite as it is evaluated: the policy fills the memories, then it is asked."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from rods_bfcl.environment import BfclEnvironment
from rods_bfcl.memory.judging import is_right
from rods_bfcl.session import BfclSession

from rods.errors import DataError, WorldError
from rods.interfaces import Environment
from rods.policy_report import evaluate_policy
from rods.preparation import Preparation
from rods.served import ServedConfig, ServedPolicy
from rods.testing import check_environment
from rods.testing.agents import play
from rods.testing.model_server import ModelServer
from rods.types import AssistantMessage, Rollout, RolloutGroup, Task, ToolCall, Trajectory
from rods.unfinished import Unfinished

Told = dict[str, str]


@pytest.fixture(scope="module")
def memory() -> BfclEnvironment:
    """Questions to the one backend that fits into a line."""
    return BfclEnvironment(BfclEnvironment.Config(suite="v4-memory", memory_backends=("rec_sum",)))


class Scribe:
    """Writes down all it is told, and answers with all that it sees of its memory."""

    def __init__(self, fail_at: str = "") -> None:
        self.told: Told = {}  # task id -> the system message
        self.fail_at = fail_at

    def evaluate(
        self,
        tasks: Sequence[Task],
        environment: Environment,
        *,
        k: int,
        seed: int,
        progress: Callable[[int, int], None] | None = None,
    ) -> list[RolloutGroup]:
        return [self._group(environment, task, k) for task in tasks]

    def _group(self, environment: Environment, task: Task, k: int) -> RolloutGroup:
        self.told[task.id] = environment.instructions(task)
        if task.id == self.fail_at:
            broken = Trajectory(task_id=task.id, turns=(), stop="error", error="no answer")
            rollouts = (Rollout(trajectory=broken, reward=None),)
        else:
            rollouts = tuple(play(environment, task, self._agent) for _ in range(k))
        return RolloutGroup(entry_id=task.id, task=task, rollouts=rollouts)

    def _agent(self, task: Task) -> Iterator[AssistantMessage]:
        asked = bool(task.initial_state["answers"])
        for turn in task.turns:
            if not asked:
                call = ToolCall(name="memory_append", arguments={"text": f"{turn.user}\n"})
                yield AssistantMessage(calls=(call,))
            yield AssistantMessage(content=self.told[task.id] if asked else "Noted.")


def report_of(policy: Scribe, memory: BfclEnvironment, **more: Any) -> dict[str, Any]:
    settings: dict[str, Any] = {"split": "eval", "tasks": None, "samples": 1, "seed": 0}
    return evaluate_policy(policy, memory, **settings | more)


def test_the_suite_is_for_evaluation_alone(memory: BfclEnvironment) -> None:
    assert memory.tasks("train") == []
    assert len(memory.tasks("eval")) == 155
    assert len(memory.tools()) == 5
    assert len(BfclEnvironment(BfclEnvironment.Config(suite="v4-memory")).tasks("eval")) == 310


def test_the_suite_conforms(memory: BfclEnvironment) -> None:
    checks = check_environment(memory, limit=8, sessions=8)
    assert [check for check in checks if not check.ok] == []
    skipped = [check.name for check in checks if check.detail.startswith("skipped: no task has")]
    assert skipped == [
        "reference fits the schemas",
        "reference runs without errors",
        "refused calls change nothing",
    ]


def test_answers_come_from_what_the_policy_wrote_down(memory: BfclEnvironment) -> None:
    policy = Scribe()
    report = report_of(policy, memory)
    conversations = {i: t for i, t in policy.told.items() if "prereq" in i}
    questions = {t.id: t for t in memory.tasks("eval")}
    assert len(conversations) == 37
    assert "There is no content" in conversations["memory_rec_sum_prereq_32-notetaker-0"]
    assert "Training session" in conversations["memory_rec_sum_prereq_33-notetaker-1"]
    right = [
        is_right(policy.told[i], question.initial_state["answers"])  # type: ignore[arg-type]
        for i, question in questions.items()
    ]
    assert report["n"] == 155
    assert report["solved"] == pytest.approx(sum(right) / 155)
    assert report["sets"]["notetaker"]["solved"] > 0.6  # all that they say fits into the memory
    assert set(report["sets"]) > {"memory_rec_sum", "customer", "student"}


def test_every_question_finds_its_own_scenario_and_leaves_it_as_it_was(
    memory: BfclEnvironment,
) -> None:
    policy = Scribe()
    tasks = {t.id: t for t in memory.tasks("eval")}
    chosen = [tasks[f"memory_rec_sum_{i}"] for i in ("0-customer-0", "1-customer-1")]
    chosen.append(tasks["memory_rec_sum_130-notetaker-0"])
    after = memory.prepared(
        chosen, lambda ts: [g.rollouts[0] for g in policy.evaluate(ts, memory, k=1, seed=0)]
    )
    customer, again, notetaker = (str(task.initial_state["memory"]) for task in after)
    assert customer == again
    assert "Michael" in customer
    assert "Michael" not in notetaker
    session = memory.open(after[0])
    session.call(ToolCall(name="memory_clear"))
    assert memory.open(after[1]).state() == after[1].initial_state["memory"]


def test_an_outage_while_filling_is_no_wrong_answer(memory: BfclEnvironment) -> None:
    with pytest.raises(WorldError, match="memory_rec_sum_prereq_33-notetaker-1, which fills"):
        report_of(Scribe(fail_at="memory_rec_sum_prereq_33-notetaker-1"), memory)


def test_an_interrupted_evaluation_goes_on_with_the_memories_that_are_filled(
    memory: BfclEnvironment, tmp_path: Path
) -> None:
    out = tmp_path / "r.jsonl"
    failing = Scribe(fail_at="memory_rec_sum_prereq_34-notetaker-2")
    with pytest.raises(WorldError):
        report_of(failing, memory, out=Unfinished(out, "terms"))
    going_on, other = Scribe(), Scribe()
    report_of(going_on, memory, out=Unfinished(out, "terms"))
    report_of(other, memory, out=Unfinished(out, "other terms"))
    assert sum("prereq" in i for i in failing.told) == 15  # three rounds of five scenarios
    assert sum("prereq" in i for i in going_on.told) == 37 - 14
    assert sum("prereq" in i for i in other.told) == 37
    assert len(out.read_text().splitlines()) == 155


def test_silence_and_an_answer_before_the_last_call_earn_nothing(memory: BfclEnvironment) -> None:
    task = memory.tasks("eval")[0]
    answer = str(task.turns[0].answer)
    call = ToolCall(name="memory_retrieve")
    for said in (
        [AssistantMessage(content="")],
        [AssistantMessage(content=answer, calls=(call,)), AssistantMessage(content="Done.")],
        [AssistantMessage(content=answer, calls=(call,))] * 30,
    ):
        reward = play(memory, task, lambda _, said=said: said).reward  # type: ignore[misc]
        assert reward is not None
        assert not reward.solved


def test_a_replacement_that_grows_without_end_fails(memory: BfclEnvironment) -> None:
    session = memory.open(memory.tasks("eval")[0])
    text = {"text": "ab" * 4000}
    session.call(ToolCall(name="memory_append", arguments=text))
    grow = {"old_text": "", "new_text": "x" * 9000}
    assert session.call(ToolCall(name="memory_replace", arguments=grow)).error
    assert session.state() == {"memory": text["text"]}


def test_what_the_suite_cannot_do_is_said(memory: BfclEnvironment) -> None:
    with pytest.raises(ValidationError, match=r"memory_backends\.0"):
        BfclEnvironment.Config(suite="v4-memory", memory_backends=("vector",))
    with pytest.raises(DataError, match="cannot score recorded trajectories"):
        memory.score_recording({"task_id": "x", "trajectory": []})


def test_the_multi_turn_tasks_are_what_they_were(environment: BfclEnvironment) -> None:
    task = environment.tasks("eval")[0]
    assert isinstance(environment.open(task), BfclSession)
    assert environment.prepared([task], lambda _: pytest.fail("nothing comes before")) == [task]
    assert not any("memory" in source for source in environment.data_hashes())


def test_a_served_model_fills_its_memory_and_is_asked(memory: BfclEnvironment) -> None:
    """As ``rods eval --policy openai/NAME`` plays it, for one question."""

    def reply(body: dict[str, Any]) -> str | dict[str, Any]:
        system, *_, last = body["messages"]
        if "final answer" in system["content"]:
            return str(system["content"])
        if last["role"] != "user" or "Daycare" not in last["content"]:
            return "Noted."
        call = {"name": "memory_append", "arguments": json.dumps({"text": last["content"]})}
        return {"tool_calls": [{"id": "a", "type": "function", "function": call}]}

    question = next(t for t in memory.tasks("eval") if t.id == "memory_rec_sum_130-notetaker-0")
    with ModelServer(reply) as server:
        policy = ServedPolicy(ServedConfig(model="tiny", url=server.url))
        before = Preparation(policy, memory, seed=0)
        (ready,) = memory.prepared([question], before.play)
        (group,) = policy.evaluate([ready], memory, k=2, seed=0)
    assert "Daycare" in str(ready.initial_state["memory"])
    assert len({rollout.trajectory.turns for rollout in group.rollouts}) == 1
    asked = [body for body in server.requests if "final answer" in body["messages"][0]["content"]]
    assert [[m["role"] for m in body["messages"]] for body in asked] == [["system", "user"]] * 2
    assert "Daycare" in asked[0]["messages"][0]["content"]
