"""The memory suite beside upstream's own classes and answer check, run live."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from rods_bfcl.asset import Asset
from rods_bfcl.environment import BfclEnvironment
from rods_bfcl.memory.judging import is_right
from rods_bfcl.memory.tasks import with_memory
from rods_bfcl.parsing import render_call

from rods.testing.agents import play
from rods.types import AssistantMessage, JsonObject, Task, ToolCall

Ask = Callable[..., Any]


@pytest.fixture(scope="module")
def official(asset: Asset, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    """Calls a function of upstream's."""
    if not Path(asset.origin).is_file():
        pytest.skip("needs the wheel")
    script = Path(__file__).with_name("official_memory.py")
    child = subprocess.Popen(
        [sys.executable, str(script), asset.origin, str(tmp_path_factory.mktemp("snapshots"))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdin is not None
    assert child.stdout is not None
    stdin, stdout = child.stdin, child.stdout

    def ask(name: str, *arguments: Any) -> Any:
        stdin.write(json.dumps([name, arguments]) + "\n")
        stdin.flush()
        while (line := stdout.readline()).strip().startswith(("⚠", "Warning")) or not line.strip():
            assert line, "upstream ended"
        return json.loads(line)

    yield ask
    stdin.close()
    stdout.close()
    child.wait(timeout=30)


@pytest.fixture(scope="module")
def memory() -> BfclEnvironment:
    return BfclEnvironment(BfclEnvironment.Config(suite="v4-memory"))


# ------------------------------------------------------------------------------- answers
def test_answers_get_the_official_verdict(memory: BfclEnvironment, official: Ask) -> None:
    rng = random.Random(20260323)
    questions = memory.tasks("eval")[:155]
    right = 0
    said = [(task, _answer(task, rng, questions)) for task in questions for _ in range(4)]
    for task, answer in said:
        expected = bool(answer) and official("check", answer, task.initial_state["answers"])
        ours = play(memory, task, lambda _, text=answer: [AssistantMessage(content=text)])  # type: ignore[misc]
        assert ours.reward is not None
        assert ours.reward.solved == expected, (task.id, answer)
        right += expected
    assert 0.2 * len(said) < right < 0.9 * len(said)


def _answer(task: Task, rng: random.Random, others: Any) -> str:
    """An accepted answer in some words, or one that is not: cut, glued, or of another question."""
    accepted: Any = task.initial_state["answers"]
    text = rng.choice(accepted)
    foreign = rng.choice(rng.choice(others).initial_state["answers"])
    return str(
        rng.choice(
            [
                f"{{'answer': '{text}', 'context': 'you said so'}}",
                f"It is {text.upper()}, I think.",
                text.replace(" ", "-"),
                ".".join(text),
                f"{text}s and more",
                f"un{text}",
                text[:-1],
                foreign,
                "",
                "I do not know",
            ]
        )
    )


@pytest.mark.parametrize(
    ("answer", "accepted", "right"),
    [
        ("on April 1, 2024", ["april 1 2024"], True),
        ("it's", ['it"s'], True),
        ("35 years", ["35", "thirty five"], True),
        ("135 years", ["35"], False),
        ("thirty  five", ["thirty five"], False),
        ("", ["35"], False),
    ],
)
def test_marks_and_case_do_not_count_but_words_do(
    official: Ask, answer: str, accepted: list[str], right: bool
) -> None:
    assert is_right(answer, accepted) is right
    assert official("check", answer, accepted) is right


# ------------------------------------------------------------------------------- memories
@pytest.mark.parametrize("backend", ["kv", "rec_sum"])
def test_a_chain_of_conversations_gives_the_official_texts_and_memories(
    memory: BfclEnvironment, official: Ask, backend: Any
) -> None:
    rng = random.Random(7)
    suite: Any = memory._memory
    left: JsonObject | None = None
    for task in suite._conversations((backend, "notetaker")):
        now = task if left is None else with_memory(task, left)
        calls = [_random_call(task, rng) for _ in range(60)]
        told, results, left = official(
            "play", task.id, backend, "notetaker", [render_call(call) for call in calls]
        )
        session = memory.open(now)
        assert memory.instructions(now) == told
        assert [session.call(call).content for call in calls] == results
        assert session.state() == left
    assert any(left.values()) if left else False  # the chain ends with something remembered


def test_a_question_sees_the_memory_and_is_told_how_to_answer(
    memory: BfclEnvironment, official: Ask
) -> None:
    task = next(t for t in memory.tasks("eval") if t.id == "memory_kv_0-customer-0")
    calls = [ToolCall(name="core_memory_add", arguments={"key": "name", "value": "Michael"})]
    texts = [render_call(call) for call in calls]
    _, _, left = official("play", "memory_kv_prereq_0-customer-0", "kv", "customer", texts)
    told, _, _ = official("play", task.id, "kv", "customer", [])
    said = memory.instructions(with_memory(task, left))
    assert '"name": "Michael"' in said
    assert said.startswith(f"{told}\n\nFor your final answer to the user")


_KEYS = ["name", "age", "home_town", "order_number", "dog_name", "Bad Key", "_x", ""]
_TEXTS = ["Michael", "35", "a " * 90, "x" * 301, "y" * 2001, "é'\"\\", "", "Seattle, north"]


def _random_call(task: Task, rng: random.Random) -> ToolCall:
    name = rng.choice([t for t in task.tools if "clear" not in t or rng.random() < 0.05])
    if name.startswith("memory_"):
        given = {"text": rng.choice(_TEXTS), "old_text": "i", "new_text": rng.choice(_TEXTS)}
        keys = {"memory_replace": ("old_text", "new_text")}.get(name, ("text",))
        keys = () if name in ("memory_retrieve", "memory_clear") else keys
    else:
        given = {"key": rng.choice(_KEYS), "value": rng.choice(_TEXTS), "query": "Dog name number"}
        keys = ("key", "value") if name.endswith(("add", "replace")) else ("key",)
        keys = ("query",) if name.endswith("search") else keys
        keys = () if name.endswith(("all", "clear", "keys")) else keys
    return ToolCall(name=name, arguments={key: given[key] for key in keys})
